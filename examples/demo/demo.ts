import { fileURLToPath } from "node:url";
import { isAudienceError } from "audience-sdk";
import { formatDuration } from "../console/duration.ts";
import { InputError, messageInClone, type ProgramSurroundings, UsageError } from "../console/program.ts";
import { say, styled, type Output } from "../console/terminal.ts";
import { help, parseArguments, type DemoArguments } from "./arguments.ts";
import { callsFor } from "./send-rows.ts";
import { openLive, openMock, type Retry } from "./service.ts";
import { agreesToLive, readAndCheck, printRetries, send, showState, showContacts } from "./steps.ts";

const ownData = fileURLToPath(new URL("../data", import.meta.url));

/** Runs the demo and returns the exit code: 0 done, 1 not all done, 2 invalid command line, 130 stopped by Ctrl-C. */
export async function runDemo(surroundings: ProgramSurroundings): Promise<number> {
  try {
    const options = parseArguments(surroundings.args);
    if (options.mode === "help") {
      say(surroundings.output, help);
      return 0;
    }
    return await tour(options, surroundings);
  } catch (error) {
    return explain(error, surroundings);
  }
}

async function tour(
  options: Exclude<DemoArguments, { mode: "help" }>,
  surroundings: ProgramSurroundings,
): Promise<number> {
  const { output, signal } = surroundings;
  const startedMs = performance.now();
  const retries: Retry[] = [];
  const onRetry = (retry: Retry) => void retries.push(retry);
  const service = options.mode === "live" ? openLive(options.listId, onRetry) : await openMock(onRetry);
  try {
    if (options.mode === "live") refuseWithoutTerminal(surroundings);
    say(output, "", ...service.description, "");
    const checked = await readAndCheck(options.folder ?? ownData, surroundings);
    const calls = checked.valid.reduce((sum, row) => sum + callsFor(row), 1);
    if (options.mode === "live" && !(await agreesToLive(service, checked, calls, surroundings))) {
      say(output, "Nothing was sent.");
      return 0;
    }
    const isWhole = await send(service, checked, calls, surroundings);
    printRetries(retries, output);
    if (signal.aborted) return stopped(output);
    if (!isWhole) return 1;
    await showContacts(service, surroundings);
    if (service.mock) await showState(service, service.mock, checked, surroundings);
    if (signal.aborted) return stopped(output);
    say(output, styled(output, "green", `Done in ${formatDuration(performance.now() - startedMs)}.`));
    return 0;
  } finally {
    await service.close();
  }
}

function refuseWithoutTerminal({ input, output }: ProgramSurroundings): void {
  if (input.isTTY && output.isTTY) return;
  throw new UsageError(
    "--live asks before it sends anything, and there is no terminal to ask on: nothing was sent.",
  );
}

function stopped(output: Output): number {
  say(
    output,
    "Stopped. Running it again is safe: contacts are upserted, and an event that is recorded is not recorded twice.",
  );
  return 130;
}

function explain(error: unknown, { errors, output, signal }: ProgramSurroundings): number {
  if (error instanceof UsageError) {
    say(errors, error.message, "npm run demo -- --help shows what it can do.");
    return 2;
  }
  const isStop = signal.aborted && (error === signal.reason || isAudienceError(error));
  if (isStop) return stopped(output);
  if (!(error instanceof InputError) && !isAudienceError(error)) throw error;
  say(errors, `${error.name}: ${messageInClone(error)}`);
  return 1;
}
