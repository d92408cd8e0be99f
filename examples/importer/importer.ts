import { isAudienceError } from "audience-sdk";
import { say, type Output } from "../console/terminal.ts";
import { CsvFileError } from "../exports/read-csv.ts";
import { help, readArguments, UsageError, type ImporterArguments } from "./arguments.ts";
import { dryRun, importAll, readAndCheck } from "./steps.ts";
import { openLive, openMock, openNothing, type ImportService } from "./service.ts";
import { NoSuchListError, targetOf } from "./target.ts";

/** What the importer gets from the process that it runs in. An abort of the signal is a Ctrl-C. */
export interface ImporterSurroundings {
  readonly args: readonly string[];
  readonly output: Output;
  readonly errors: Output;
  readonly signal: AbortSignal;
}

/** The importer, from the command line to the exit code. */
export async function runImporter(around: ImporterSurroundings): Promise<number> {
  let asked: ImporterArguments | "help" | undefined;
  try {
    asked = readArguments(around.args);
    if (asked !== "help") return await carryOut(asked, around);
    say(around.output, help);
    return 0;
  } catch (error) {
    return explain(error, asked === "help" ? undefined : asked, around);
  }
}

async function carryOut(asked: ImporterArguments, around: ImporterSurroundings): Promise<number> {
  const target = targetOf(asked);
  const service = await open(asked);
  try {
    const checked = await readAndCheck(asked.files, target, around.output);
    say(around.output, `Into ${target.name}: ${service.description}.`);
    if (asked.isDryRun) return await dryRun(checked, service, asked, around);
    await target.checkList(service.audience, around.signal);
    const code = await importAll(checked, { service, target, asked, around });
    if (service.books) say(around.output, service.books());
    return code;
  } finally {
    await service.close();
  }
}

async function open(asked: ImporterArguments): Promise<ImportService> {
  if (asked.isDryRun) return openNothing();
  return asked.isMock ? await openMock(asked.listId) : openLive(asked);
}

function explain(
  error: unknown,
  asked: ImporterArguments | undefined,
  { errors, output, signal }: ImporterSurroundings,
): number {
  if (signal.aborted && (error === signal.reason || isAudienceError(error))) return stopped(asked, output);
  if (error instanceof UsageError) {
    say(errors, error.message, "npx tsx examples/importer/main.ts --help shows what it can do.");
    return 2;
  }
  if (isAudienceError(error) && error.code === "configuration") {
    say(
      errors,
      error.message,
      "Set what is missing in the environment, or try it out with --mock or --dry-run.",
    );
    return 2;
  }
  if (isAudienceError(error)) {
    say(errors, `The import was ended: ${error.message}`, ...resumeHint(asked));
    return 1;
  }
  if (error instanceof CsvFileError || error instanceof NoSuchListError || isCheckpointError(error)) {
    say(errors, error.message);
    return 2;
  }
  throw error;
}

function stopped(asked: ImporterArguments | undefined, output: Output): number {
  say(output, "Stopped. What was under way has ended.", ...resumeHint(asked));
  return 130;
}

function resumeHint(asked: ImporterArguments | undefined): string[] {
  if (asked?.checkpoint !== undefined)
    return [`Run the same command again: it goes on from ${asked.checkpoint}.`];
  return [
    "Run it again and it begins anew, which is safe; with --resume CHECKPOINT it would have gone on from here.",
  ];
}

// A checkpoint's errors are plain ones, and say what to do.
function isCheckpointError(error: unknown): error is Error {
  return error instanceof Error && /checkpoint|\.lock-|is damaged at byte/.test(error.message);
}
