import { isAudienceError, type RateLimiter } from "audience-sdk";
import { openSnapshot, type Snapshot } from "audience-sdk/snapshot";
import { counted } from "../console/counted.ts";
import { type Input, say, type Output } from "../console/terminal.ts";
import { ColumnMapError } from "../exports/column-map.ts";
import { CsvFileError } from "../exports/csv-file.ts";
import { help, parseArguments, UsageError, type ImporterArguments } from "./arguments.ts";
import { answerMaps } from "./ask-maps.ts";
import { checkAll } from "./check-all.ts";
import { FailedRows } from "./failed-rows.ts";
import { findBlockers } from "./find-blockers.ts";
import { importAll } from "./import-all.ts";
import { type MappedFile, openFiles } from "./maps.ts";
import { planLines, unnamedLines } from "./plan-lines.ts";
import { NoAnswerError, Questions } from "./questions.ts";
import { ReadingLine } from "./reading-line.ts";
import { openLive, openMock, openNothing, type ImportService } from "./service.ts";
import { surveyFiles } from "./survey.ts";
import { NoSuchListError, type Target, targetOf } from "./target.ts";
import { Summary } from "./write-summary.ts";

/** The inputs of the importer from its process. Ctrl-C or SIGTERM aborts the signal. */
export interface ImporterSurroundings {
  readonly args: readonly string[];
  /** Questions are asked if it and the output are a terminal. */
  readonly input?: Input;
  readonly output: Output;
  readonly errors: Output;
  readonly signal: AbortSignal;
  /** Default: that of the process. */
  readonly env?: NodeJS.ProcessEnv;
  /** Default: the one limiter of the process, at the documented limits. */
  readonly rateLimiter?: RateLimiter;
}

/** Runs the importer and returns the exit code. */
export async function runImporter(surroundings: ImporterSurroundings): Promise<number> {
  let options: ImporterArguments | "help" | undefined;
  try {
    options = parseArguments(surroundings.args, surroundings.env ?? process.env);
    if (options !== "help") return await runImport(options, surroundings);
    say(surroundings.output, help);
    return 0;
  } catch (error) {
    return explain(error, options === "help" ? undefined : options, surroundings);
  }
}

async function runImport(options: ImporterArguments, surroundings: ImporterSurroundings): Promise<number> {
  const { input, output, signal } = surroundings;
  const target = targetOf(options);
  const failed = await FailedRows.open(options);
  const snapshot = options.snapshot === undefined ? undefined : await openSnapshot(options.snapshot);
  const service = await open(options, surroundings);
  const isTerminal = input?.isTTY === true && output.isTTY === true;
  const questions = isTerminal ? new Questions({ input, output, signal }) : undefined;
  const line = new ReadingLine(output);
  try {
    line.begin("Looking at the columns");
    const files = await answerMaps(await openFiles(options, signal), questions, surroundings);
    line.end();
    if (files === undefined) return 2;
    return await importFiles(files, {
      options,
      surroundings,
      target,
      failed,
      service,
      snapshot,
      questions,
      line,
    });
  } finally {
    snapshot?.close();
    questions?.close();
    line.end();
    await service.close();
  }
}

interface Running {
  readonly options: ImporterArguments;
  readonly surroundings: ImporterSurroundings;
  readonly target: Target;
  readonly failed: FailedRows;
  readonly service: ImportService;
  readonly snapshot: Snapshot | undefined;
  readonly questions: Questions | undefined;
  readonly line: ReadingLine;
}

async function importFiles(
  files: readonly MappedFile[],
  { options, surroundings, target, failed, service, snapshot, questions, line }: Running,
): Promise<number> {
  const { output, errors, signal } = surroundings;
  const survey = await surveyFiles(files, { line, signal, consent: options.consent });
  for (const file of survey.files) say(output, ...planLines(file, options), "");
  const blocked = findBlockers(survey, options);
  if (blocked.length > 0) {
    say(errors, ...blocked, "Nothing was sent.");
    return 2;
  }
  const { audience } = service;
  const ofCheck = options.isDryRun ? failed : undefined;
  const valid = await checkAll(survey, {
    target,
    options,
    audience,
    snapshot,
    failed: ofCheck,
    line,
    output,
    signal,
  });
  say(output, `Into ${target.name}: ${service.description}.`);
  const summary = new Summary();
  if (options.isDryRun) await failed.print(output, { isComplete: true, people: survey.people });
  else {
    const isAsked = questions !== undefined && !options.isConfirmed;
    if (isAsked && !(await questions.confirm(`Import ${counted(valid, "person", "people")}?`))) {
      say(output, "Nothing was sent.");
      return 2;
    }
    await target.checkList(audience, signal);
    await importAll(survey, { service, target, options, snapshot, failed, summary, output, signal });
  }
  for (const file of survey.files) say(output, ...unnamedLines(file));
  if (options.summary !== undefined)
    await summary.write(options.summary, { survey, target: target.name, failed });
  if (service.state) say(output, service.state());
  return failed.count === 0 ? 0 : 1;
}

async function open(
  options: ImporterArguments,
  { rateLimiter }: ImporterSurroundings,
): Promise<ImportService> {
  if (options.isDryRun) return openNothing();
  return options.isMock ? await openMock(options.listId) : openLive(options, rateLimiter);
}

function explain(
  error: unknown,
  options: ImporterArguments | undefined,
  { errors, output, signal }: ImporterSurroundings,
): number {
  if (signal.aborted && (error === signal.reason || isAudienceError(error))) {
    const hasSent = isAudienceError(error) && error.outcome === "unknown";
    say(output, hasSent ? "Stopped. The requests in flight have ended." : "Stopped. Nothing was sent.");
    if (hasSent) say(output, ...resumeHint(options));
    return 130;
  }
  if (error instanceof UsageError) {
    say(errors, error.message, "npm run import -- --help shows the options.");
    return 2;
  }
  if (isAudienceError(error) && error.code === "configuration") {
    say(errors, withOwnOptions(error.message, options));
    if (/ needs .*\(or AUDIENCE_/.test(error.message))
      say(errors, "Set the missing variables in the environment, or try it with --mock or --dry-run.");
    return error.outcome === "unknown" ? 1 : 2;
  }
  if (isAudienceError(error)) {
    // A wrong key or list stays wrong.
    const isLasting = ["authentication", "permission", "not_found"].includes(error.code);
    say(errors, `The import was ended: ${error.message}`, ...(isLasting ? [] : resumeHint(options)));
    return 1;
  }
  if (
    error instanceof NoAnswerError ||
    error instanceof ColumnMapError ||
    error instanceof CsvFileError ||
    error instanceof NoSuchListError ||
    isOfFile(error)
  ) {
    say(errors, error.message);
    return 2;
  }
  throw error;
}

/** A message of the client that names the options of the importer, and none that it does not have. */
function withOwnOptions(message: string, options: ImporterArguments | undefined): string {
  return message
    .replace(", or set allowInsecureHttp", "")
    .replace(/^The checkpoint (?=belongs|was)/, `The checkpoint ${options?.checkpoint} `)
    .replace("`organization`", "--organization NAME")
    .replace("give this run a checkpoint of its own", "name another file with --resume");
}

function resumeHint(options: ImporterArguments | undefined): string[] {
  if (options?.checkpoint !== undefined)
    return [`Run the same command again: it continues from ${options.checkpoint}.`];
  return [
    "Run it again: it safely starts from the beginning. With --resume FILE it would continue from here.",
  ];
}

// Errors of a checkpoint or of the file system are plain errors that name the file.
function isOfFile(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return "syscall" in error || /checkpoint|\.lock|is damaged at byte/.test(error.message);
}
