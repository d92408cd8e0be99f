import { type ConsentWrite, decidedByService } from "../consent.ts";

// What a row has stated of its consent over the runs, as its record keeps it: lines of a run's number and an entry.
//
//   2 k3f:email=SUBSCRIBED   The row states it of the contact `k3f` since run 2. Its calls may state several.
//   2 k3f:phone=             It has left the channel to the service.
//   3 +                      The row last succeeded in run 3.
//   4 ?                      In run 4 not all calls were reached. A channel without a line below may be stated anew.
//   5 !                      In run 5 `isCurrent` was false, or the row may have been older than another call's consent.

/** What a row states in one run: `contact:channel=STATUS`. */
export type StatedLines = readonly string[];

/** How a run has ended for a row: whether all its calls were reached, and why not. */
export type StatedEnd = "succeeded" | "unfinished" | "not-current";

const succeeded = "+";
const unfinished = "?";
const notCurrent = "!";

/** A row whose contact changes every night must not grow its record without end. */
const maxLinesOfOthers = 16;

interface Entry {
  readonly run: number;
  readonly line: string;
}

/** Whether a status keeps messages away. Where it is unclear which of two decisions is later, a refusal may be sent. */
export function isRefusal(status: string | undefined): boolean {
  return status === "UNSUBSCRIBED" || status === "TRUE";
}

/** A line for each channel that the write states, or leaves to the service although it names the contact by it. */
export function statedLines({ consent, contacts }: ConsentWrite): string[] {
  const named = contacts.map((contact) => contact.slice(0, contact.indexOf(":")));
  const undecided = ["email", "phone"].filter((channel) => named.includes(channel));
  const contact = tagOf(contacts);
  return Object.entries({ ...Object.fromEntries(undecided.map((channel) => [channel, ""])), ...consent }).map(
    ([channel, status]) =>
      // A line break would end the line.
      `${contact}:${channel}=${status === decidedByService ? "" : status}`.replaceAll("\n", " "),
  );
}

/** Tells the contacts of one row apart. Too short to tell whose it is. */
function tagOf([key = ""]: readonly string[]): string {
  let hash = 0;
  for (const char of key) hash = (hash * 31 + char.codePointAt(0)!) % 65_521;
  return hash.toString(36);
}

/**
 * The record after a run that has stated these lines. A channel that the row no longer states keeps its earlier ones: a
 * missing consent is no new decision.
 */
export function recordStated(
  before: string,
  lines: StatedLines,
  { run, end }: { run: number; end: StatedEnd },
): string {
  const earlier = decode(before);
  const decided = lines.filter(isDecision).map(subjectOf);
  const stated = lines
    .filter((line) => isDecision(line) || !decided.includes(subjectOf(line)))
    .flatMap((line) => {
      const known = isDecision(line) ? [] : entriesAbout(earlier, line).filter(hasChannelOf(line));
      if (known.length === 0) return [{ run: statedSince(earlier, line) ?? run, line }];
      // Under its own name: what was stated of another contact stays where it is.
      return known.map((each) => ({ run: each.run, line: `${contactOf(line)}:${statementOf(each.line)}` }));
    });
  const subjects = lines.map(subjectOf);
  const others = earlier.filter((each) => !subjects.includes(subjectOf(each.line)));
  const statements = others.filter(isStatement).slice(-maxLinesOfOthers);
  if (end === "succeeded") return encode([{ run, line: succeeded }, ...statements, ...stated]);
  const isCurrent = end === "unfinished";
  const marked = [...others, { run, line: unfinished }]
    // Of two marks without a line in between the first counts.
    .filter(({ line }, index, all) => line !== unfinished || all[index - 1]?.line !== unfinished)
    .filter(({ line }) => isCurrent || line !== notCurrent);
  return encode([...(isCurrent ? [] : [{ run, line: notCurrent }]), ...marked, ...stated]);
}

/** Whether the row has a mark of `isCurrent` (`!`), and has stated nothing new since. */
export function isStillNotCurrent(record: string, lines: StatedLines): boolean {
  const entries = decode(record);
  const last = entries.find(({ line }) => line === notCurrent);
  return last !== undefined && sinceOfAll(entries, lines.filter(isDecision)) <= last.run;
}

/**
 * Whether the row's decision about a channel, by the lines that it states now, is no later than a consent that another
 * call wrote during a run. A row that leaves the channel to the service has made its last decision when it last
 * succeeded; one that does not name the channel, with its last decision about any.
 */
export function isNoLater(
  record: string,
  { channel, lines, run }: { channel: string; lines: StatedLines; run: number },
): boolean {
  const entries = decode(record);
  const isNamed = lines.some((line) => channelOf(line) === channel);
  const decisions = lines.filter((line) => isDecision(line) && (!isNamed || channelOf(line) === channel));
  if (sinceOfAll(entries, decisions) > run) return false;
  if (isNamed && decisions.length > 0) return true;
  const success = entries.find(({ line }) => line === succeeded);
  return success === undefined || success.run <= run;
}

/** The run since which the row states all the lines; infinite if one of them is new. */
function sinceOfAll(entries: readonly Entry[], lines: StatedLines): number {
  return Math.max(0, ...lines.map((line) => statedSince(entries, line) ?? Infinity));
}

/** The run in which the line was first stated, or may have been; undefined if it is new. */
function statedSince(entries: readonly Entry[], line: string): number | undefined {
  const about = entriesAbout(entries, line);
  const same = about.find((each) => statementOf(each.line) === statementOf(line));
  // For an opt-out the last statement of the channel counts, of any contact: the contact may have a new address.
  const subject = isRefusal(statusOf(line)) ? channelOf : subjectOf;
  const last = about.findLastIndex((each) => subject(each.line) === subject(line));
  const unreached = about.slice(last + 1).find((each) => each.line === unfinished);
  const runs = [same, unreached].flatMap((each) => (each ? [each.run] : []));
  return runs.length > 0 ? Math.min(...runs) : undefined;
}

/** The marks, and what was stated of the line's contact; of all contacts if it has none, as its address may be new. */
function entriesAbout(entries: readonly Entry[], line: string): readonly Entry[] {
  const own = entries.filter((each) => !isStatement(each) || contactOf(each.line) === contactOf(line));
  return own.some(isStatement) ? own : entries;
}

function isStatement({ line }: Entry): boolean {
  return line.includes("=");
}

function isDecision(line: string): boolean {
  return !line.endsWith("=");
}

function hasChannelOf(line: string): (entry: Entry) => boolean {
  return (entry) => channelOf(entry.line) === channelOf(line);
}

/** A contact's channel. */
function subjectOf(line: string): string {
  return line.slice(0, line.indexOf("="));
}

function contactOf(line: string): string {
  return line.slice(0, line.indexOf(":"));
}

function channelOf(line: string): string {
  return subjectOf(statementOf(line));
}

function statusOf(line: string): string {
  return line.slice(line.indexOf("=") + 1);
}

function statementOf(line: string): string {
  return line.slice(line.indexOf(":") + 1);
}

function decode(record: string): Entry[] {
  if (record === "") return [];
  return record.split("\n").map((text) => {
    const space = text.indexOf(" ");
    return { run: Number(text.slice(0, space)), line: text.slice(space + 1) };
  });
}

function encode(entries: readonly Entry[]): string {
  return entries.map(({ run, line }) => `${run} ${line}`).join("\n");
}
