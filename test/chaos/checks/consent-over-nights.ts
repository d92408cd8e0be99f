import { factsOf, personOf, phoneOf } from "../inputs.ts";
import type { CallRecord, Departure, Log, RunRecord } from "../records.ts";
import type { Service } from "../service.ts";
import type { World } from "../world.ts";
import { sharesName, wasRecorded, writtenBy } from "./consent.ts";
import { describe } from "./outcomes.ts";

/** A question to the service for a contact, before a row is sent. */
export interface Look {
  readonly contactId: string;
  readonly departure: Departure;
}

/** The looks of a run that were answered before one of its calls was sent. They belong to no call of ours. */
function looksBefore({ clients, departures }: Log, { client, run, departures: sent }: CallRecord): Look[] {
  const { process } = clients.get(client)!;
  const [{ at: sentAt } = { at: Infinity }] = sent;
  return departures.flatMap((departure) => {
    const { at, call, method, request, status } = departure;
    const contactId = /\/api\/v1\/customer\/([^/]+)$/.exec(request?.path ?? "")?.[1];
    const isLook = method === "GET" && !call && status === 200 && departure.process === process;
    const isOfRun = at >= run!.startedAt && at <= sentAt;
    return isLook && isOfRun && contactId !== undefined
      ? [{ contactId: decodeURIComponent(contactId), departure }]
      : [];
  });
}

type Channel = "email" | "phone";

/**
 * A consent that was written during one night binds the rows of later nights that would make it better: those that state
 * another status since that night or before, and those that state none and have not succeeded since.
 */
export function checkConsentOverNights({ log, service }: World): string[] {
  return log.calls.flatMap((call) => {
    const { run, departures, input, facts } = call;
    const sent = departures.find(({ request }) => request?.applied === true);
    if (run?.book === undefined || !sent || !input || input.kind === "event") return [];
    const nights = log.runs.filter(({ book }) => book === run.book);
    return (["email", "phone"] as const).flatMap((channel) => {
      const latest = latestBefore(log, call, channel, sent.at);
      const own = facts.consent[channel];
      if (!latest || !isBetter(own, writtenBy(latest)[channel]!)) return [];
      const during = nights.findIndex((night) => night !== run && wasRecorded(log, latest, night));
      if (during < 0 || during > nights.indexOf(run)) return [];
      const history = nights
        .slice(0, nights.indexOf(run) + 1)
        .map((night) => statementIn(log, night, call, channel));
      if (hasDecidedSince(history, during, own)) return [];
      if (own === undefined && hasSucceededSince(log, call, latest)) return [];
      // The service has shown what came of it, and of what was written since.
      if (looksBefore(log, call).some(({ contactId }) => isOf(service, contactId, call))) return [];
      const [row, other] = [own ?? "what the service decides", writtenBy(latest)[channel]];
      return [
        `${describe(call)} wrote ${channel} ${row}, over ${other} of ${describe(latest)} in an earlier night`,
      ];
    });
  });
}

const fromStrictest = ["UNSUBSCRIBED", "NON_SUBSCRIBED", "SUBSCRIBED"];

/** What the service decides may be an opt-in, and what is unknown a refusal. */
function isBetter(own = "SUBSCRIBED", other: string): boolean {
  return fromStrictest.indexOf(own) > Math.max(0, fromStrictest.indexOf(other));
}

function isOf({ mock }: Service, contactId: string, { input }: CallRecord): boolean {
  const contact = mock.organization("chaos").contacts.find(({ id }) => id === contactId);
  const person = personOf(input!);
  return (
    contact?.phone === phoneOf(person) || contact?.email?.toLowerCase().startsWith(`p${person}`) === true
  );
}

/** Whether the row has succeeded with a call that was sent after the other one. */
function hasSucceededSince({ calls }: Log, { key, run }: CallRecord, other: CallRecord): boolean {
  const since = other.departures.at(-1)!.at;
  return calls.some(({ departures, key: itsKey, run: night }) => {
    const isOfRow = itsKey === key && night?.book === run!.book && night !== run;
    const hasSucceeded = night?.results.some((each) => each.key === key && each.status === "succeeded");
    return isOfRow && hasSucceeded === true && (departures.at(-1)?.at ?? -1) > since;
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

/** Whether nothing of the row is recorded: `isCurrent` refused it before anything was applied, or its look failed. */
export function isUnrecorded(result: RunRecord["results"][number]): boolean {
  const { outcome, message = "" } = Object(result.error) as { outcome?: string; message?: string };
  if (outcome !== "not-sent" && outcome !== "not-applied") return false;
  if (result.status === "superseded") return result.reason === "not-current";
  return result.status === "failed" && message.includes("could not be looked up");
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
  const own = calls.filter((call) => call.run === night && call.key === key);
  const isCalled = own.length > 0;
  // Its function may have failed before that.
  const hasStated = own.some(({ input }) => input !== undefined && input.kind !== "event");
  if (!row || (!result && !isCalled)) return undefined;
  // What `isCurrent` refused is not recorded.
  if (result && isUnrecorded(result)) return undefined;
  const stating = row.inputs.filter(({ kind }) => kind !== "event");
  const statuses = [...new Set(stating.map((input) => factsOf(input).consent[channel] ?? ""))];
  // Of writes that do not agree the later one may not have been reached.
  const isMixed = statuses.length > 1;
  return {
    statuses: statuses.toSorted().join(""),
    isCertain: night === run || (result !== undefined && !isMixed && hasStated),
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
