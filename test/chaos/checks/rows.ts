import { type BulkResult, isAudienceError } from "audience-sdk";
import { factsOf } from "../inputs.ts";
import { type CallRecord, type Departure, groupBy, type Row, type RunRecord } from "../records.ts";
import type { World } from "../world.ts";
import { describe, isOptOut, isRepeatable, verdictOf } from "./outcomes.ts";

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
    const { total, kept, durationMs: _, ...counts } = summary;
    const tally = Object.entries(counts).every(
      ([status, count]) => results.filter((each) => each.status === status).length === count,
    );
    const isKept = results.filter((each) => each.kept !== undefined).length === kept;
    if (total !== results.length || !tally || !isKept)
      problems.push("its summary does not count its results");
  }
  if (new Set(results.map(({ index }) => index)).size < results.length)
    problems.push("a row has two results");
  for (const result of results) {
    const made = calls.filter(({ departures, key }) => key === result.key && departures.length > 0);
    if (made.length > result.item.inputs.length)
      problems.push(`row ${result.key} made ${made.length} calls of ${result.item.inputs.length}`);
    problems.push(...checkResult(result, made).map((problem) => `row ${result.key} ${problem}`));
  }
  return problems.map((problem) => `${nameOf(run)}: ${problem}`);
}

function nameOf({ book, client, startedAt }: RunRecord): string {
  return `the run of ${client} at ${startedAt} over ${book ?? "no checkpoint"}`;
}

/** Whether the status is true of the requests of this run. The last call is the one that failed, if any has. */
function checkResult(
  { status, error, item }: BulkResult<Row, unknown>,
  calls: readonly CallRecord[],
): string[] {
  // A write of which nothing was sent has failed after the one that was.
  const isUnsent = isAudienceError(error) && error.request?.attempts === 0;
  const applied = isUnsent ? 0 : (calls.at(-1)?.departures ?? []).filter(isApplied).length;
  const outcome = isAudienceError(error) ? error.outcome : undefined;
  switch (status) {
    case "succeeded":
      return calls.length === item.inputs.length && calls.every((call) => call.error === undefined)
        ? []
        : ["succeeded without its calls"];
    case "failed":
    case "invalid":
      if (outcome === "unknown") return [`is ${status}, and its outcome is unknown`];
      // The row was stopped after a write of it: its error says so.
      return applied > 0 && outcome !== "applied" ? [`is ${status}, and was applied`] : [];
    case "superseded":
      // An attempt before may have been applied: the error says so.
      return applied > 0 && outcome !== "unknown" && outcome !== "applied"
        ? ["is superseded, and was applied"]
        : [];
    case "skipped":
      return calls.length > 0 ? ["is skipped, and was called"] : [];
    case "unknown": {
      // A call of the row was carried out, and another, whose outcome is known, was not.
      const isHalf = calls.some((call) => call.error === undefined && !isRepeatable(call));
      return outcome === "unknown" || isHalf ? [] : [`is unknown, and its outcome is ${outcome}`];
    }
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
  /** If the run before was killed: the rows that were applied, and had no result yet. */
  let killed = new Set<string>();
  for (const run of lives) {
    const calls = callsOf.get(run) ?? [];
    const again: string[] = [];
    for (const row of run.rows) {
      const sent = calls.filter(({ key, departures }) => key === row.key && departures.length > 0);
      const result = run.results.find(({ key }) => key === row.key);
      const text = JSON.stringify(row);
      // A row that says nothing but refusals is always sent.
      const before = inDoubt.get(row.key);
      const doubtful = saysOnlyRefusals(row) ? undefined : before;
      const hasChanged = doubtful?.text !== text;
      for (const call of sent) {
        if (recorded.get(row.key) === text) problems.push(`${describe(call)} was sent after its success`);
        if (doubtful && !(hasChanged && (isRepeatable(call) || isOptOut(call))))
          problems.push(`${describe(call)} was sent again, after ${describe(doubtful.call)}`);
      }
      if (doubtful && !hasChanged && result && result.status !== "unknown")
        problems.push(`${describe(doubtful.call)} is in doubt, and then ${result.status}`);
      if (result?.status === "succeeded") inDoubt.delete(row.key);
      if (sent.length > 0 && killed.has(row.key)) again.push(row.key);
      if (result?.status === "skipped" && recorded.get(row.key) !== text && !wasSentBefore(world, run, row))
        problems.push(`${nameOf(run)}: row ${row.key} is skipped, and was never sent so`);
      if (sent.length > 0) recorded.delete(row.key);
      if (result?.status === "succeeded") recorded.set(row.key, text);
      const left = sent.find((call) => mayNotRepeat(world, call));
      if (left) inDoubt.set(row.key, { call: left, text });
      // Another version is recorded now: its repeatable calls may be sent again.
      else if (hasChanged && sent.length > 0 && before && result?.status !== "succeeded")
        inDoubt.set(row.key, { call: before.call, text: "" });
    }
    if (again.length > lives.at(lives.indexOf(run) - 1)!.concurrency)
      problems.push(`${nameOf(run)} sent ${again.length} rows again: ${again.join(", ")}`);
    const open = calls.filter(({ key }) => !run.results.some((result) => result.key === key));
    const applied = open.filter(({ departures }) => departures.some(isApplied));
    killed = new Set(run.wasKilled ? applied.map(({ key }) => key!) : []);
  }
  return problems;
}

function saysOnlyRefusals({ inputs }: Row): boolean {
  const said = inputs.flatMap((input) => {
    const { consent, leavesEmailToService } = factsOf(input);
    return [...Object.values(consent), ...(leavesEmailToService ? ["decided"] : [])];
  });
  return said.length > 0 && said.every((word) => word === "UNSUBSCRIBED" || word === "TRUE");
}

function isApplied({ request }: Departure): boolean {
  return request?.applied === true;
}

/** A killed run may have recorded the success before its consumer heard of it. */
function wasSentBefore({ log }: World, run: RunRecord, row: Row): boolean {
  const calls = log.calls.filter(
    ({ run: other, key }) => key === row.key && other?.book === run.book && other!.startedAt <= run.startedAt,
  );
  return row.inputs.every((input) =>
    calls.some(
      (call) =>
        JSON.stringify(call.input) === JSON.stringify(input) &&
        call.departures.some((each) => isApplied(each) || (each.status ?? 500) <= 299),
    ),
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
