import { factsOf, type Facts, type Input } from "../inputs.ts";
import type { CallRecord, Log, RunRecord } from "../records.ts";
import type { World } from "../world.ts";
import { describe } from "./attempt.ts";
import { sharesName, wasRecorded, writtenBy } from "./consent.ts";

type Channel = "email" | "phone";

/**
 * A consent that was written during one night binds the rows of later nights, too: those that state another status since
 * that night or before, and those that state none and have not succeeded since.
 */
export function checkConsentOverNights({ log }: World): string[] {
  return log.calls.flatMap((call) => {
    const { run, departures, input, facts } = call;
    const sent = departures.find(({ request }) => request?.applied === true);
    if (run?.book === undefined || !sent || !input || input.kind === "event") return [];
    const nights = log.runs.filter(({ book }) => book === run.book);
    return (["email", "phone"] as const).flatMap((channel) => {
      const latest = latestBefore(log, call, channel, sent.at);
      const own = statedBy(input, facts, channel);
      if (!latest || writtenBy(latest)[channel] === own) return [];
      const during = nights.findIndex((night) => night !== run && wasRecorded(log, latest, night));
      if (during < 0 || during > nights.indexOf(run)) return [];
      const history = nights
        .slice(0, nights.indexOf(run) + 1)
        .map((night) => statementIn(log, night, call, channel));
      if (hasDecidedSince(history, during, own)) return [];
      const [row, other] = [own ?? "what the service decides", writtenBy(latest)[channel]];
      return [
        `${describe(call)} wrote ${channel} ${row}, over ${other} of ${describe(latest)} in an earlier night`,
      ];
    });
  });
}

/** The last write of the channel to the contact, by any call that is no row of this table. */
function latestBefore(log: Log, row: CallRecord, channel: Channel, before: number): CallRecord | undefined {
  if (!row.facts.contacts.some((name) => name.startsWith(`${channel}:`))) return undefined;
  let latest: { readonly call: CallRecord; readonly at: number } | undefined;
  for (const call of log.calls) {
    if (call.run?.book === row.run!.book || !sharesName(call, row) || !(channel in writtenBy(call))) continue;
    const { at } = call.departures.findLast(({ request }) => request?.applied === true) ?? {};
    if (at !== undefined && at < before && (latest?.at ?? 0) <= at) latest = { call, at };
  }
  return latest?.call;
}

/** The status that a row states for the client, which reads no body of a custom request. */
function statedBy({ kind }: Input, { consent }: Facts, channel: Channel): string | undefined {
  return kind === "custom" ? undefined : consent[channel];
}

/** What a row stated of a channel in one night. */
interface Statement {
  /** The statuses of its writes; none leaves the channel to the service. */
  readonly statuses: string;
  /** Whether the night reached the row for sure. */
  readonly isCertain: boolean;
  readonly mayHaveSucceeded: boolean;
}

function statementIn(
  { calls }: Log,
  night: RunRecord,
  { run, key }: CallRecord,
  channel: Channel,
): Statement | undefined {
  const row = night.rows.find((each) => each.key === key);
  const result = night.results.find((each) => each.key === key);
  const isCalled = calls.some((call) => call.run === night && call.key === key);
  if (!row || (!result && !isCalled)) return undefined;
  const stating = row.inputs.filter(({ kind }) => kind !== "event");
  const statuses = [...new Set(stating.map((input) => statedBy(input, factsOf(input), channel) ?? ""))];
  // Of writes that do not agree the later one may not have been reached.
  const isMixed = statuses.length > 1;
  return {
    statuses: statuses.toSorted().join(""),
    isCertain: night === run || (result !== undefined && !isMixed),
    mayHaveSucceeded: night !== run && (result === undefined || result.status === "succeeded"),
  };
}

/** Whether the row may have made its decision after that night; the last statement is that of the row that was sent. */
function hasDecidedSince(
  history: readonly (Statement | undefined)[],
  during: number,
  own: string | undefined,
): boolean {
  const { statuses } = history.at(-1)!;
  if (own === undefined) {
    const since = history.slice(during + 1);
    const wasSeen = history.slice(0, during + 1).some((each) => each?.isCertain);
    return !wasSeen || since.some((each) => each && (each.mayHaveSucceeded || each.statuses !== ""));
  }
  const last = history.findLastIndex((each) => each && each.statuses !== "" && each.statuses !== statuses);
  const first = history.findIndex(
    (each, index) => index > last && each?.isCertain && each.statuses === statuses,
  );
  return first > during;
}
