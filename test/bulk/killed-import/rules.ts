import { expect } from "vitest";
import type { KilledImport } from "./killed-import.ts";

/** The rules for every import that was killed and then completed. */
export function expectNothingLostOrDoubled(
  { mock, rows, lives, summary }: KilledImport,
  concurrency: number,
): void {
  const { contacts, events } = mock.organization("mock-organization");
  const kinds = new Map(rows.map(({ id, kind }) => [id, kind]));
  const sends = countOf(lives.flatMap(({ sent }) => sent));

  const sentAgainThoughRecorded = lives.flatMap(({ sent, recordedBefore }) =>
    sent.filter((id) => recordedBefore.has(id)),
  );
  expect(sentAgainThoughRecorded).toEqual([]);

  const unrepeatableSentTwice = [...sends].filter(
    ([id, times]) => kinds.get(id) === "double opt-in" && times > 1,
  );
  expect(unrepeatableSentTwice).toEqual([]);

  for (const [index, { sent }] of lives.entries()) {
    const later = new Set(lives.slice(index + 1).flatMap((life) => life.sent));
    expect(sent.filter((id) => later.has(id)).length).toBeLessThanOrEqual(concurrency);
  }

  const stored = new Set(contacts.map(({ email }) => email?.replace("@example.com", "")));
  const lostRows = rows.filter(({ id }) => !stored.has(id) && !summary.ids.includes(id));
  expect(lostRows).toEqual([]);
  expect(summary.ids.every((id) => kinds.get(id) === "double opt-in")).toBe(true);
  expect(summary.ids.length).toBeLessThanOrEqual((lives.length - 1) * concurrency);

  // An event that is sent twice is recorded once, because it has the same id both times.
  expect(events).toHaveLength(rows.filter(({ kind }) => kind === "event").length);
  expect(summary).toMatchObject({ total: rows.length, failed: 0 });
}

function countOf(ids: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}
