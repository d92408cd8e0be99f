import { fileURLToPath } from "node:url";
import { isAudienceError } from "audience-sdk";
import { inWords } from "../console/duration.ts";
import { say, type Output } from "../console/terminal.ts";
import { CsvFileError } from "../exports/csv-file.ts";
import { help, readArguments, UsageError, type DemoArguments } from "./arguments.ts";
import { callsFor } from "./send-rows.ts";
import { openLive, openMock, type Retry } from "./service.ts";
import { agreesToLive, readAndCheck, sayRetries, send, showState, showContacts } from "./steps.ts";
import type { DemoSurroundings } from "./surroundings.ts";

const ownData = fileURLToPath(new URL("../data", import.meta.url));

/** The demo, from the command line to the exit code: 0 done, 1 not all done, 2 wrongly called, 130 stopped by Ctrl-C. */
export async function runDemo(around: DemoSurroundings): Promise<number> {
  try {
    const asked = readArguments(around.args);
    if (asked.mode === "help") {
      say(around.output, help);
      return 0;
    }
    return await tour(asked, around);
  } catch (error) {
    return explain(error, around);
  }
}

async function tour(
  asked: Exclude<DemoArguments, { mode: "help" }>,
  around: DemoSurroundings,
): Promise<number> {
  const { output, signal } = around;
  const startedMs = performance.now();
  const retries: Retry[] = [];
  const onRetry = (retry: Retry) => void retries.push(retry);
  const service = asked.mode === "live" ? openLive(asked.listId, onRetry) : await openMock(onRetry);
  try {
    if (asked.mode === "live") refuseWithoutTerminal(around);
    say(output, "", ...service.description, "");
    const checked = await readAndCheck(asked.folder ?? ownData, output);
    const calls = checked.valid.reduce((sum, row) => sum + callsFor(row), 1);
    if (asked.mode === "live" && !(await agreesToLive(service, checked, calls, around))) {
      say(output, "Nothing was sent.");
      return 0;
    }
    const isWhole = await send(service, checked, calls, around);
    sayRetries(retries, output);
    if (signal.aborted) return stopped(output);
    if (!isWhole) return 1;
    await showContacts(service, around);
    if (service.mock) await showState(service, service.mock, checked, around);
    say(output, `Done in ${inWords(performance.now() - startedMs)}.`);
    return 0;
  } finally {
    await service.close();
  }
}

function refuseWithoutTerminal({ input, output }: DemoSurroundings): void {
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

function explain(error: unknown, { errors, output, signal }: DemoSurroundings): number {
  if (error instanceof UsageError) {
    say(errors, error.message, "npm run demo -- --help shows what it can do.");
    return 2;
  }
  const isStop = signal.aborted && (error === signal.reason || isAudienceError(error));
  if (isStop) return stopped(output);
  if (!(error instanceof CsvFileError) && !isAudienceError(error)) throw error;
  say(errors, `${error.name}: ${error.message}`);
  return 1;
}
