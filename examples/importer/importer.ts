import { type ClientOptions, isAudienceError } from "audience-sdk";
import { openSnapshot, type Snapshot } from "audience-sdk/snapshot";
import { counted, inFull } from "../console/counted.ts";
import { formatDuration } from "../console/duration.ts";
import { type Input, say, type Output } from "../console/terminal.ts";
import { ColumnMapError } from "../exports/column-map.ts";
import { CsvFileError } from "../exports/csv-file.ts";
import { help, parseArguments, UsageError, type ImporterArguments } from "./arguments.ts";
import { type Check, checkAll, doubtfulOf, stopsOf } from "./check-all.ts";
import { FailedRows } from "./failed-rows.ts";
import { importAll } from "./import-all.ts";
import { answerMaps, type MappedFile, openFiles } from "./maps.ts";
import { planLines, unnamedLines } from "./plan-lines.ts";
import { NoAnswerError, Questions } from "./questions.ts";
import { Report } from "./report.ts";
import { type ImportService, openService } from "./service.ts";
import { type Survey, surveyFiles } from "./survey.ts";
import { checkList, NoSuchListError, targetName } from "./target.ts";

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
  /** Default: the environment. */
  readonly client?: ClientOptions;
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
  const { input, output, signal, client } = surroundings;
  const { reportFolder } = options;
  const failed = new FailedRows(
    reportFolder === undefined ? undefined : await Report.open(reportFolder, options),
  );
  const snapshot = options.snapshot === undefined ? undefined : await openSnapshot(options.snapshot);
  const service = openService(options, client);
  const isTerminal = input?.isTTY === true && output.isTTY === true;
  const questions = isTerminal ? new Questions({ input, output, signal }) : undefined;
  try {
    say(output, `Reading ${counted(options.files.length, "file")} …`);
    const files = await answerMaps(await openFiles(options, signal), questions, surroundings);
    if (files === undefined) return 2;
    return await importFiles(files, { options, surroundings, failed, service, snapshot, questions });
  } finally {
    snapshot?.close();
    questions?.close();
    await service.close();
  }
}

interface Running {
  readonly options: ImporterArguments;
  readonly surroundings: ImporterSurroundings;
  readonly failed: FailedRows;
  readonly service: ImportService;
  readonly snapshot: Snapshot | undefined;
  readonly questions: Questions | undefined;
}

async function importFiles(files: readonly MappedFile[], running: Running): Promise<number> {
  const { options, surroundings, failed, service, snapshot } = running;
  const { output, errors, signal } = surroundings;
  const survey = await surveyFiles(files, { signal, consent: options.consent });
  const planned = options.isDryRun ? failed : new FailedRows();
  const check = await checkAll(survey, options, { failed: planned, signal });
  for (const file of survey.files) say(output, ...planLines(file), "");
  const stops = stopsOf(survey, options);
  if (stops.length > 0) {
    say(errors, ...stops, "Nothing was sent.");
    return 2;
  }
  planned.print(output, true);
  const unnamed = survey.files.flatMap(unnamedLines);
  say(output, ...unnamed, ...totalLines(survey, check, running));
  if (options.isDryRun) await failed.end(output, { isComplete: true, people: survey.people });
  else {
    if (!(await isAnsweredFor(survey, check, running))) return 2;
    await checkList(service.audience, options.listId, signal);
    await importAll(survey, options, { audience: service.audience, snapshot, failed, output, signal });
  }
  if (service.state) say(output, service.state());
  return failed.count === 0 && unnamed.length === 0 ? 0 : 1;
}

function totalLines({ people, rows }: Survey, { valid, unstated }: Check, running: Running): string[] {
  const { audience, description } = running.service;
  const estimateMs = audience.rateLimiter?.estimateMs(valid, { priority: 9 }) ?? 0;
  const duration = estimateMs < 1_000 ? "less than a second" : `about ${formatDuration(estimateMs)}`;
  return [
    `Over all files: ${counted(people.size, "person", "people")} in ${counted(rows, "row")}.`,
    ...(unstated === 0
      ? []
      : [
          `  ${counted(unstated, "row leaves", "rows leave")} out a consent that the files do not have: a new contact becomes NON_SUBSCRIBED, and`,
          "  an existing one should keep its consent. This relies on undocumented behaviour of the service.",
        ]),
    `${inFull(valid)} of ${counted(rows, "row")} can be imported in ${duration}.`,
    `Into ${targetName(running.options.listId)}: ${description}.`,
  ];
}

/** Whether somebody wants the import, and those subscribed whom no word makes SUBSCRIBED. */
async function isAnsweredFor(
  survey: Survey,
  check: Check,
  { options, questions, surroundings }: Running,
): Promise<boolean> {
  const { people, needsAnswer } = doubtfulOf(survey);
  const isTold = (options.subscribes ?? 0) >= people;
  if (questions === undefined) {
    if (isTold || !needsAnswer) return true;
    say(
      surroundings.errors,
      `${counted(people, "person", "people")} would become SUBSCRIBED by no word of the map, although a column may say something of a consent, as the plan`,
      `tells. Give its words a meaning in the map ("none", if they say nothing of it), or say --subscribes ${people}. Nothing was sent.`,
    );
    return false;
  }
  const isDoubtful = people > 0 && !isTold;
  const doubtful = isDoubtful
    ? `, of whom ${inFull(people)} become SUBSCRIBED by no word of the map, or in spite of a column taken for data`
    : "";
  const isWanted =
    (options.isConfirmed && !isDoubtful) ||
    (await questions.confirm(`Import ${counted(check.valid, "person", "people")}${doubtful}?`));
  if (!isWanted) say(surroundings.output, "Nothing was sent.");
  return isWanted;
}

function explain(
  error: unknown,
  options: ImporterArguments | undefined,
  { errors, output, signal }: ImporterSurroundings,
): number {
  if (signal.aborted && (error === signal.reason || isAudienceError(error))) {
    const hasSent = isAudienceError(error) && error.outcome === "unknown";
    say(output, hasSent ? "Stopped. The requests in flight have ended." : "Stopped. Nothing was sent.");
    if (hasSent) say(output, resumeHint(options));
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
    say(errors, `The import was ended: ${error.message}`, ...(isLasting ? [] : [resumeHint(options)]));
    return 1;
  }
  const isOfFile =
    error instanceof Error &&
    ("syscall" in error || /checkpoint|\.lock|is damaged at byte/.test(error.message));
  const known = [NoAnswerError, ColumnMapError, CsvFileError, NoSuchListError];
  if (!isOfFile && !known.some((kind) => error instanceof kind)) throw error;
  say(errors, error instanceof Error ? error.message : String(error));
  return 2;
}

/** A message of the client that names the options of the importer, and none that it does not have. */
function withOwnOptions(message: string, options: ImporterArguments | undefined): string {
  return message
    .replace(", or set allowInsecureHttp", "")
    .replace(/^The checkpoint (?=belongs|was)/, `The checkpoint ${options?.checkpoint} `)
    .replace("`organization`", "--organization NAME")
    .replace("give this run a checkpoint of its own", "name another file with --resume");
}

function resumeHint(options: ImporterArguments | undefined): string {
  return options?.checkpoint === undefined
    ? "Run it again: it safely starts from the beginning. With --resume FILE it would continue from here."
    : `Run the same command again: it continues from ${options.checkpoint}.`;
}
