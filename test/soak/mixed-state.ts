import type { Outcome } from "audience-sdk";
import type { MockService } from "audience-sdk/mock";
import { expect } from "vitest";

/** One write, identified by a unique id in its e-mail address, and its reported outcome. */
export interface CallRecord {
  /** `once`: a write that must not be sent twice. */
  readonly kind: "contact" | "once" | "member" | "event";
  readonly id: string;
  outcome: Outcome;
}

/** The state of the service for each id. */
export interface FoundState {
  readonly contacts: ReadonlyMap<string, number>;
  readonly members: ReadonlyMap<string, number>;
  readonly events: ReadonlyMap<string, number>;
  /** The number of applied requests with the id, from the mock's log. */
  readonly applied: ReadonlyMap<string, number>;
}

export function stateOf(mock: MockService, organization: string, listId: string): FoundState {
  const { contacts, memberships, events } = mock.organization(organization);
  const names = new Map(contacts.map(({ id, email }) => [id, nameOf(email)]));
  const joined = memberships.filter((each) => each.listId === listId);
  const carriedOut = mock.requests.filter(({ method, applied }) => method === "POST" && applied);
  return {
    contacts: countOf(contacts.map(({ email }) => nameOf(email))),
    members: countOf(joined.map(({ contactId }) => names.get(contactId))),
    events: countOf(events.map(({ uniqueIdentifier }) => uniqueIdentifier)),
    applied: countOf(
      carriedOut.map(({ body }) => /"((?:call|bulk)-[\d-]+)@/.exec(JSON.stringify(body))?.[1]),
    ),
  };
}

/**
 * For each write: an applied one is in the state once, one that was not applied is not there, and one of unknown
 * outcome is there at most once. Returns how many of the latter were applied, and how many were not.
 */
export function expectStateToAgree(
  records: readonly CallRecord[],
  found: FoundState,
): { applied: number; notApplied: number } {
  const unknown = { applied: 0, notApplied: 0 };
  const wrong: string[] = [];
  for (const { kind, id, outcome } of records) {
    const state = kind === "event" ? found.events : kind === "member" ? found.members : found.contacts;
    const times = state.get(id) ?? 0;
    const requests = found.applied.get(id) ?? 0;
    const isValid =
      outcome === "applied"
        ? times === 1
        : outcome === "unknown"
          ? times <= 1
          : times === 0 && requests === 0;
    if (!isValid || (kind === "once" && requests > 1))
      wrong.push(`${kind} ${id}: ${outcome}, ${times} in the state, ${requests} applied`);
    if (outcome === "unknown") unknown[times === 0 ? "notApplied" : "applied"]++;
  }
  expect(wrong).toEqual([]);
  const known = new Set(records.map(({ id }) => id));
  const strangers = [...found.applied.keys()].filter((id) => !known.has(id));
  expect(strangers).toEqual([]);
  return unknown;
}

function nameOf(email: string | undefined): string | undefined {
  return email?.replace("@example.com", "");
}

function countOf(names: readonly (string | undefined)[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
