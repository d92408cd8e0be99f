import type { Outcome } from "audience-sdk";
import type { MockService } from "audience-sdk/mock";
import { expect } from "vitest";

/** One write, named by an id that stands in its e-mail address and nowhere else, and what its end said. */
export interface CallRecord {
  /** `once`: one that must not leave twice. */
  readonly kind: "contact" | "once" | "member" | "event";
  readonly id: string;
  outcome: Outcome;
}

/** What the service has of each id. */
export interface FoundState {
  readonly contacts: ReadonlyMap<string, number>;
  readonly members: ReadonlyMap<string, number>;
  readonly events: ReadonlyMap<string, number>;
  /** How many requests with the id were carried out, by the mock's log. */
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
 * Row by row: what says that it was applied is in the books once, what says that it was not is not there, and what does
 * not know is there at most once. Gives how many of these were carried out, and how many not.
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
      wrong.push(`${kind} ${id}: ${outcome}, ${times} in the books, ${requests} carried out`);
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
