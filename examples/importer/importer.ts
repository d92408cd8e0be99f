import { type ClientOptions, isAudienceError } from "audience-sdk";
import { openSnapshot } from "audience-sdk/snapshot";
import { counted, inFull } from "../console/counted.ts";
import { formatDuration } from "../console/duration.ts";
import { InputError, messageInClone, type ProgramSurroundings } from "../console/program.ts";
import { say } from "../console/terminal.ts";
import { help, parseArguments, type ImporterArguments } from "./arguments.ts";
import { importAll, isLasting } from "./import-all.ts";
import { answerMaps, openFiles } from "./maps.ts";
import { planLines, stopLines, unnamedLines } from "./plan-lines.ts";
import { Questions } from "./questions.ts";
import { Report } from "./report.ts";
import { reasonIn, rowsToSend } from "./rows-to-send.ts";
import { checkList, type ImportService, openService } from "./service.ts";
import { type Survey, surveyFiles } from "./survey.ts";

/** The inputs of the importer from its process. Questions are asked if input and output are a terminal. */
export interface ImporterSurroundings
  extends Omit<ProgramSurroundings, "input">, Partial<Pick<ProgramSurroundings, "input">> {
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
  const { input, output, errors, signal, client } = surroundings;
  const failed = await Report.open(options);
  using snapshot = options.snapshot === undefined ? undefined : await openSnapshot(options.snapshot);
  const service = openService(options, client);
  await using audience = service.audience;
  const isTerminal = input?.isTTY === true && output.isTTY === true;
  using questions = isTerminal ? new Questions({ input, output, signal }) : undefined;
  say(output, `Reading ${counted(options.files.length, "file")} …`);
  const files = await answerMaps(await openFiles(options, signal), questions, surroundings);
  if (files === undefined) return 2;
  const survey = await surveyFiles(files, { signal, consent: options.consent });
  const planned = options.isDryRun ? failed : new Report(options);
  for await (const row of rowsToSend(survey, options)) {
    signal.throwIfAborted();
    row.file.check(row, survey);
    if (row.issues.length > 0) await planned.add(row, reasonIn(row));
  }
  for (const file of survey.files) say(output, ...planLines(file), "");
  planned.print(output, true);
  const stops = survey.files.flatMap((file) => stopLines(file, options));
  if (stops.length > 0) {
    say(errors, ...stops, "Nothing was sent.");
    return 2;
  }
  const unnamed = survey.files.flatMap(unnamedLines);
  say(output, ...unnamed, ...totalLines(survey, service, options.listId));
  if (options.isDryRun) await failed.end(output, { isComplete: true, people: survey.people });
  else {
    const { people, optOuts } = survey.toSend;
    const others = optOuts === 0 ? "" : `, and the opt-outs of ${counted(optOuts, "row")} held back`;
    const asks = options.isConfirmed ? undefined : questions;
    if ((await asks?.confirm(`Import ${counted(people.size, "person", "people")}${others}?`)) === false) {
      say(output, "Nothing was sent.");
      return 2;
    }
    await checkList(audience, options.listId, signal);
    await importAll(survey, options, { audience, snapshot, failed, output, signal });
  }
  if (service.state) say(output, service.state());
  return failed.count === 0 && unnamed.length === 0 ? 0 : 1;
}

function totalLines(survey: Survey, service: ImportService, listId: string | undefined): string[] {
  const { rows, unstated, optOuts } = survey.toSend;
  const { rateLimiter } = service.audience;
  const durationOf = (priority: number) =>
    rateLimiter ? ` in about ${formatDuration(rateLimiter.estimateMs(rows + optOuts, { priority }))}` : "";
  const orSooner = durationOf(0) === durationOf(9) ? "" : ` (with --reserve 0${durationOf(0)})`;
  const ofUnstated = [
    `  ${counted(unstated, "row leaves", "rows leave")} out a consent that the files do not have: a new contact becomes NON_SUBSCRIBED, and`,
    "  an existing one should keep its consent. This relies on undocumented behaviour of the service.",
  ];
  return [
    `Over all files: ${counted(survey.people.size, "person", "people")} in ${counted(survey.rows, "row")}.`,
    ...(unstated === 0 ? [] : ofUnstated),
    `${inFull(rows)} of ${counted(survey.rows, "row")} can be imported${durationOf(9)}${orSooner}.`,
    ...(optOuts === 0 ? [] : [`Of ${counted(optOuts, "row")} held back the opt-outs are sent.`]),
    `Into ${listId === undefined ? "the audience" : `the list ${listId}`}: ${service.description}.`,
  ];
}

function explain(
  error: unknown,
  options: ImporterArguments | undefined,
  { errors, output, signal }: ImporterSurroundings,
): number {
  if (signal.aborted && (error === signal.reason || isAudienceError(error))) {
    const hasSent = isAudienceError(error) && error.outcome === "unknown";
    if (hasSent) say(output, "Stopped. The requests in flight have ended.", resumeHint(options));
    else say(output, "Stopped. Nothing was sent.");
    return 130;
  }
  if (isAudienceError(error) && error.code !== "configuration") {
    say(errors, `The import was ended: ${error.message}`, ...(isLasting(error) ? [] : [resumeHint(options)]));
    return 1;
  }
  const isOfFile =
    error instanceof Error &&
    ("syscall" in error || /checkpoint|\.lock|is damaged at byte/.test(error.message));
  if (!isOfFile && !isAudienceError(error) && !(error instanceof InputError)) throw error;
  say(errors, withOwnOptions(messageInClone(error), options));
  if (options === undefined) say(errors, "npm run import -- --help shows the options.");
  if (/ needs .*\(or AUDIENCE_/.test(error.message))
    say(errors, "Set the missing variables in the environment, or try it with --mock or --dry-run.");
  return isAudienceError(error) && error.outcome === "unknown" ? 1 : 2;
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
