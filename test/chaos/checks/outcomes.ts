import { inspect } from "node:util";
import { isAudienceError, type Outcome } from "audience-sdk";
import { factsOf, type Input } from "../inputs.ts";
import type { CallRecord, Departure } from "../records.ts";
import type { World } from "../world.ts";

/** What one attempt says of a write, by the tables of the contract ("Errors", "Retries"). */
export type Verdict = "unsent" | "refused for the rate" | "refused" | "done" | "open";

/** The verdict as the client could know it when the call ended. */
export function verdictOf(world: World, call: CallRecord, departure: Departure): Verdict {
  const { unsent, endedAt, status } = departure;
  if (unsent) return "unsent";
  if (status === undefined || endedAt === undefined) return "open";
  if (status === 429 || status === namedStatus(world)) return "refused for the rate";
  if (status >= 200 && status <= 299) {
    return call.error === undefined && departure === call.departures.at(-1) ? "done" : "open";
  }
  const mayHaveWritten = status === 404 && "listId" in (call.input ?? {});
  if (status === 408 || status >= 500 || mayHaveWritten) return "open";
  return "refused";
}

/** The status that `isRateLimited` of the clients names. */
function namedStatus({ service }: World): number | undefined {
  return service.variants.rateLimitStatus;
}

/** Whether the call may be sent again though the attempt may have been applied. */
export function isRepeatable(
  { departures, facts, input, options, run }: CallRecord,
  departure = departures.at(-1),
): boolean {
  const body = departure?.body;
  // A refusal in place of a row's word may leave nothing to the service, and ask nobody by mail.
  // Safe: the body of the same write.
  const sent =
    run && input && body !== undefined ? ({ ...input, body: JSON.parse(body) } as Input) : undefined;
  return options.repeatable ?? (sent ? factsOf(sent) : facts).isRepeatable;
}

export function describe({ tag, client, input, run, key }: CallRecord): string {
  const row = run ? `, row ${key} of ${run.book ?? "a run without checkpoint"}` : "";
  return `${tag} (${input?.kind ?? "read"}, ${client}${row})`;
}

/** Whether it keeps messages away in every channel that it names. */
export function isOptOut({ facts: { consent, contacts } }: CallRecord): boolean {
  const isRefused = (channel: string) => consent[channel] === "UNSUBSCRIBED" || consent[channel] === "TRUE";
  const named = contacts.map((name) => name.split(":", 1)[0]!).filter((name) => name !== "uuid");
  return [...named, ...Object.keys(consent)].every(isRefused);
}

/** Every call ends as the contract says, and its `outcome` is true. */
export function checkOutcomes(world: World): string[] {
  return world.log.calls.flatMap((call) =>
    [
      ...(call.settledAt === undefined ? [] : [...checkEnd(world, call), ...leftLate(call)]),
      ...(call.input ? checkAttempts(world, call) : []),
    ].map((problem) => `${describe(call)}: ${problem}`),
  );
}

function checkEnd(world: World, call: CallRecord): string[] {
  const { error, departures, attempts } = call;
  if (error === undefined) {
    // A page with the status 200 may hide that the service has refused the event.
    const isHidden = departures.some(({ request }) => request?.fault === "wrong-content-type");
    const isWritten =
      call.input === undefined || departures.some(wasApplied) || isRecordedEvent(world, call) || isHidden;
    return [
      ...(isWritten ? [] : ["resolved, but nothing of it was applied"]),
      ...(attempts === undefined || attempts === departures.length
        ? []
        : [`says ${attempts} attempts, and sent ${departures.length}`]),
    ];
  }
  if (!isAudienceError(error)) return [`rejected with ${inspect(error)}`];
  const { outcome, request } = error;
  const trace = request && world.log.traces.get(request.requestId);
  const applied = departures.filter(wasApplied).length;
  return [
    ...(request && request.attempts !== departures.length && call.input
      ? [`its error says ${request.attempts} attempts, and it sent ${departures.length}`]
      : []),
    ...(trace && trace.outcome !== outcome ? [`its error says ${outcome}, its trace ${trace.outcome}`] : []),
    ...(call.input === undefined && outcome === "unknown" ? ["a read says unknown"] : []),
    ...(applied > 0 && outcome !== "unknown" && outcome !== "applied"
      ? [`says ${outcome}, and ${applied} of its requests were applied`]
      : []),
    ...(call.input && !possibleOutcomes(world, call).includes(outcome)
      ? [`says ${outcome} (${error.code}) after ${verdicts(world, call).join(", ") || "nothing was sent"}`]
      : []),
  ];
}

/** No request leaves after its call has ended: the caller may have sent another one meanwhile. */
function leftLate({ departures, settledAt = Infinity }: CallRecord): string[] {
  return departures.some(({ at }) => at > settledAt) ? ["a request left after its call had ended"] : [];
}

function wasApplied({ request }: Departure): boolean {
  return request?.applied === true;
}

function isRecordedEvent(world: World, { departures }: CallRecord): boolean {
  const { events } = world.service.mock.organization("chaos");
  return departures.some(({ request }) => {
    const { uniqueIdentifier } = Object(request?.body) as { uniqueIdentifier?: string };
    return (
      uniqueIdentifier !== undefined && events.some((event) => event.uniqueIdentifier === uniqueIdentifier)
    );
  });
}

function verdicts(world: World, call: CallRecord): Verdict[] {
  return call.departures.map((departure) => verdictOf(world, call, departure));
}

/** `unknown` if any attempt was open, else `not-applied` if any was refused, else `not-sent`. */
function possibleOutcomes(world: World, call: CallRecord): Outcome[] {
  const all = verdicts(world, call);
  if (all.includes("open")) return ["unknown"];
  const last = call.departures.at(-1);
  const clear: Outcome = all.every((each) => each === "unsent") ? "not-sent" : "not-applied";
  // At the very end of an attempt, or while its body comes, the call may have ended for another reason.
  const wasCut = last?.endedAt !== undefined && isCut(call) && last.unsent === undefined;
  return wasCut ? [clear, "unknown"] : [clear];
}

function isCut({ error }: CallRecord): boolean {
  return isAudienceError(error) && ["aborted", "timeout", "closed"].includes(error.code);
}

/** The table "Retries": what is sent again, with the same bytes, and how often. */
function checkAttempts(world: World, call: CallRecord): string[] {
  const { departures, run } = call;
  const problems: string[] = [];
  let counted = 0;
  for (const [index, departure] of departures.entries()) {
    const next = departures[index + 1];
    if (!next) break;
    const { status, unsent, key } = departure;
    const isNewKey = status === 401 && next.key !== key;
    const verdict = verdictOf(world, call, departure);
    const isRefusal = verdict === "refused for the rate";
    if (!isNewKey && !(isRefusal && run)) counted++;
    const may =
      isNewKey ||
      isRefusal ||
      (verdict === "unsent" && unsent !== "tls") ||
      (verdict === "open" && isRepeatable(call, departure) && !isUnreadable(departure) && status !== 404);
    if (!may) problems.push(`was sent again after ${unsent ?? status ?? "a lost response"} (${verdict})`);
    // A refusal that has become known meanwhile takes the place of a row's word.
    if (next.body !== departure.body && !run) problems.push("was sent again with another body");
  }
  const most = call.options.maxRetries ?? 4;
  if (counted > most) problems.push(`was retried ${counted} times, at most ${most}`);
  return problems;
}

/** A whole 2xx that cannot be read. A body that breaks off is a lost response. */
function isUnreadable({ status, request }: Departure): boolean {
  return status !== undefined && status <= 299 && request?.fault !== "slow-body";
}
