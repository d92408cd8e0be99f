import { isAudienceError, type BulkResult } from "audience-sdk";
import type { CallRecord, Departure, Row, RunRecord } from "../records.ts";
import type { World } from "../world.ts";
import { describe, isRepeatable, verdictOf } from "./attempt.ts";
import { groupBy } from "./group-by.ts";

/** No row is lost, none is sent again once it is recorded, and each result is true. */
export function checkRows(world: World): string[] {
  const { runs, calls } = world.log;
  const callsOf = groupBy(calls, ({ run }) => run);
  const problems = runs.flatMap((run) => checkRun(run, callsOf.get(run) ?? []));
  const books = groupBy(
    runs.filter(({ book }) => book !== undefined),
    ({ book }) => book,
  );
  for (const lives of books.values()) problems.push(...checkLives(world, lives, callsOf));
  return problems;
}

function checkRun(run: RunRecord, calls: readonly CallRecord[]): string[] {
  const { results, rows, summary } = run;
  const problems: string[] = [];
  if (summary && !run.wasLeft) {
    const indices = new Set(results.map(({ index }) => index));
    if (indices.size !== rows.length) problems.push(`${rows.length} rows, results of ${indices.size}`);
    const { total, durationMs: _, ...counts } = summary;
    const tally = Object.entries(counts).every(
      ([status, count]) => results.filter((each) => each.status === status).length === count,
    );
    if (total !== results.length || !tally) problems.push("its summary does not count its results");
  }
  if (new Set(results.map(({ index }) => index)).size < results.length)
    problems.push("a row has two results");
  for (const result of results) {
    const own = calls.filter(({ key }) => key === result.key);
    if (own.length > 1) problems.push(`row ${result.key} was called ${own.length} times`);
    problems.push(...checkResult(result, own[0]).map((problem) => `row ${result.key} ${problem}`));
  }
  return problems.map((problem) => `${nameOf(run)}: ${problem}`);
}

function nameOf({ book, client, startedAt }: RunRecord): string {
  return `the run of ${client} at ${startedAt} over ${book ?? "no checkpoint"}`;
}

/** Whether the status is true of the requests of this run. */
function checkResult({ status, error }: BulkResult<Row, unknown>, call: CallRecord | undefined): string[] {
  const departures = call?.departures ?? [];
  const applied = departures.filter(({ request }) => request?.applied === true).length;
  const outcome = isAudienceError(error) ? error.outcome : undefined;
  switch (status) {
    case "succeeded":
      return call && call.error === undefined ? [] : ["succeeded without its call"];
    case "failed":
    case "invalid":
      if (outcome === "unknown") return [`is ${status}, and its outcome is unknown`];
      return applied > 0 ? [`is ${status}, and was applied`] : [];
    case "superseded":
      // An attempt before may have been applied: the error says so.
      return applied > 0 && outcome !== "unknown" ? ["is superseded, and was applied"] : [];
    case "skipped":
      return call ? ["is skipped, and was called"] : [];
    case "unknown":
      return outcome !== "unknown" ? [`is unknown, and its outcome is ${outcome}`] : [];
  }
}

/** The runs over one checkpoint, one after the other. */
function checkLives(
  world: World,
  lives: readonly RunRecord[],
  callsOf: ReadonlyMap<RunRecord | undefined, readonly CallRecord[]>,
): string[] {
  const problems: string[] = [];
  /** The row that was last reported as succeeded. */
  const recorded = new Map<string, string>();
  /** The rows in doubt: only once they have changed, a call that is repeatable now may be sent. */
  const inDoubt = new Map<string, { readonly call: CallRecord; readonly text: string }>();
  /** If the run before was killed: the calls of the rows that had no result yet. */
  let killed = new Map<string, CallRecord>();
  for (const run of lives) {
    const calls = callsOf.get(run) ?? [];
    const again: string[] = [];
    for (const row of run.rows) {
      const call = calls.find(({ key, departures }) => key === row.key && departures.length > 0);
      const result = run.results.find(({ key }) => key === row.key);
      const text = JSON.stringify(row);
      if (call && recorded.get(row.key) === text)
        problems.push(`${describe(call)} was sent after its success`);
      const doubtful = inDoubt.get(row.key);
      const hasChanged = doubtful?.text !== text;
      if (call && doubtful && !(hasChanged && isRepeatable(call)))
        problems.push(`${describe(call)} was sent again, after ${describe(doubtful.call)}`);
      if (doubtful && !hasChanged && result && result.status !== "unknown")
        problems.push(`${describe(doubtful.call)} is in doubt, and then ${result.status}`);
      if (result?.status === "succeeded" || result?.status === "superseded") inDoubt.delete(row.key);
      if (call && killed.get(row.key)?.departures.some(isApplied)) again.push(row.key);
      if (result?.status === "skipped" && recorded.get(row.key) !== text && !wasSentBefore(world, run, row))
        problems.push(`${nameOf(run)}: row ${row.key} is skipped, and was never sent so`);
      // Also a row that was superseded is another version: the one before comes back as a change.
      if (call || result?.status === "superseded") recorded.delete(row.key);
      if (result?.status === "succeeded") recorded.set(row.key, text);
      if (call && mayNotRepeat(world, call)) inDoubt.set(row.key, { call, text });
    }
    if (again.length > lives.at(lives.indexOf(run) - 1)!.concurrency)
      problems.push(`${nameOf(run)} sent ${again.length} rows again: ${again.join(", ")}`);
    const open = calls.filter(({ key }) => !run.results.some((result) => result.key === key));
    killed = new Map(run.wasKilled ? open.map((call) => [call.key!, call]) : []);
  }
  return problems;
}

function isApplied({ request }: Departure): boolean {
  return request?.applied === true;
}

/** A killed run may have recorded the success before its consumer heard of it. */
function wasSentBefore({ log }: World, run: RunRecord, row: Row): boolean {
  return log.calls.some(
    ({ run: other, key, departures, input }) =>
      other?.book === run.book &&
      other!.startedAt <= run.startedAt &&
      key === row.key &&
      JSON.stringify(input) === JSON.stringify(row.input) &&
      departures.some(({ request, status }) => request?.applied === true || (status ?? 500) <= 299),
  );
}

/** Whether a row that must not be repeated was applied, or may have been, without a recorded success. */
function mayNotRepeat(world: World, call: CallRecord): boolean {
  if (isRepeatable(call)) return false;
  if (call.settledAt !== undefined) return isAudienceError(call.error) && call.error.outcome === "unknown";
  // Killed: what was applied counts, as its end was not recorded.
  const { run, key } = call;
  const wasReported = run!.results.some((result) => result.key === key);
  return (
    !wasReported && call.departures.some((one) => isApplied(one) && verdictOf(world, call, one) === "open")
  );
}
