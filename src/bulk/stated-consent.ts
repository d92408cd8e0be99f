import { decidedByService, type Consent } from "../transport/consent.ts";

// What a row has stated of its consent, as its record keeps it: lines of a run's number and a mark.
//
//   2 email=SUBSCRIBED   The status that the row states since run 2. A row of several calls may have several.
//   3 +                  The row last succeeded in run 3.
//   4 ?                  From run 4 on not all calls of the row were reached. The lines below were stated since.

/** What a row has stated in a run: `channel=STATUS`, one a line. */
export type StatedLines = readonly string[];

const succeeded = "+";
const unfinished = "?";

interface Entry {
  readonly run: number;
  readonly mark: string;
}

/** A line for each decision. A status that is left to the service is none. */
export function statedLines(consent: Consent): string[] {
  return Object.entries(consent)
    .filter(([, status]) => status !== decidedByService)
    .map(([channel, status]) => `${channel}=${status}`);
}

/**
 * The record after a run that has stated these lines. A channel that the row no longer states keeps its earlier ones: a
 * missing consent is no new decision.
 */
export function recordStated(
  before: string,
  lines: StatedLines,
  { run, end }: { run: number; end: "succeeded" | "superseded" | "unfinished" },
): string {
  const earlier = decode(before);
  const channels = lines.map(channelOf);
  const kept = earlier.filter(({ mark }) => !channels.includes(channelOf(mark)));
  const stated = lines.map((mark) => ({ run: statedSince(earlier, mark) ?? run, mark }));
  if (end === "succeeded") return encode([{ run, mark: succeeded }, ...kept.filter(isStatement), ...stated]);
  const isMarked = end === "superseded" || earlier.some(({ mark }) => mark === unfinished);
  return encode([...kept, ...(isMarked ? [] : [{ run, mark: unfinished }]), ...stated]);
}

/** Whether the row had already stated all these lines. */
export function hasStated(record: string, lines: StatedLines): boolean {
  const marks = decode(record).map(({ mark }) => mark);
  return lines.every((line) => marks.includes(line));
}

/**
 * Whether the row's decision about a channel, by the lines that it states now, is no later than a consent that another
 * call wrote during a run. A row that states none has made its last decision when it last succeeded.
 */
export function isNoLater(
  record: string,
  { channel, lines, run }: { channel: string; lines: StatedLines; run: number },
): boolean {
  const entries = decode(record);
  const ofChannel = lines.filter((line) => channelOf(line) === channel);
  const since =
    ofChannel.length === 0
      ? [entries.find(({ mark }) => mark === succeeded)?.run ?? 0]
      : ofChannel.map((line) => statedSince(entries, line) ?? Infinity);
  return Math.max(...since) <= run;
}

/** The run in which the line was first stated, or may have been; undefined if it is new. */
function statedSince(entries: readonly Entry[], line: string): number | undefined {
  const known = entries.find(({ mark }) => mark === line);
  if (known) return known.run;
  const first = entries.findIndex(({ mark }) => mark === unfinished);
  const isChannelKnown = entries.slice(first + 1).some(({ mark }) => channelOf(mark) === channelOf(line));
  return isChannelKnown ? undefined : entries[first]?.run;
}

function isStatement({ mark }: Entry): boolean {
  return mark.includes("=");
}

function channelOf(line: string): string {
  return line.slice(0, line.indexOf("="));
}

function decode(record: string): Entry[] {
  if (record === "") return [];
  return record.split("\n").map((line) => {
    const space = line.indexOf(" ");
    return { run: Number(line.slice(0, space)), mark: line.slice(space + 1) };
  });
}

function encode(entries: readonly Entry[]): string {
  return entries.map(({ run, mark }) => `${run} ${mark}`).join("\n");
}
