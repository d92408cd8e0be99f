import type { BulkRequest, V2Contact } from "audience-sdk";
import { expect, it } from "vitest";
import { collectRun, createFixture } from "../bulk/fixture.ts";

const consent = { createdAt: "2026-01-31T09:30:00Z", ip: "192.0.2.1", source: "form" };

function contact(email: string, phone: string, status: string): V2Contact {
  const identifier = (type: "email" | "phone", id: string) =>
    ({ type, id, channels: { [type]: { status } }, consent }) as const;
  return {
    firstName: "Ada",
    listIds: [],
    identifiers: [identifier("email", email), identifier("phone", phone)],
  };
}

it.each(["", " ", "n/a", "+"])(
  "A write with the phone %j supersedes no row of another person",
  async (phone) => {
    const { audience, mock } = createFixture();
    let isFirst = true;
    const send = async (row: V2Contact, request: BulkRequest) => {
      // What a row's function starts before its first `await` belongs to the row.
      await Promise.resolve();
      if (isFirst) await audience.v2.contacts.upsert(contact("stranger@example.com", phone, "subscribed"));
      isFirst = false;
      return await audience.v2.contacts.upsert(row, request);
    };
    const rows = ["ada", "bob", "cy"].map((name) => contact(`${name}@example.com`, phone, "unsubscribed"));

    const { results } = await collectRun(audience.bulk(rows, send, { concurrency: 1 }));

    expect(results.map(({ status }) => status)).toEqual(["succeeded", "succeeded", "succeeded"]);
    expect(mock.requests).toHaveLength(4);
  },
);
