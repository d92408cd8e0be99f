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
export function isRepeatable({ facts, options }: CallRecord): boolean {
  return options.repeatable ?? facts.isRepeatable;
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
