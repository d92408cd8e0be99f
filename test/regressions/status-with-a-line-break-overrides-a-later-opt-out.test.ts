import type { BulkRequest, V2Contact } from "audience-sdk";
import { expect, it } from "vitest";
import { createFixture, LoggedCheckpoint } from "../bulk/fixture.ts";

// A cell of a file may end in a line break. It separated the lines of the record, so the status counted as new each night.
it("A v2 status with a line break is no newer on the next night", async () => {
  const { audience, mock } = createFixture();
  const checkpoint = new LoggedCheckpoint();
  const upsert = (status: string, firstName: string, request?: BulkRequest) => {
    const consent = { createdAt: "2026-01-01T00:00:00Z", ip: "192.0.2.1", source: "import" };
    const channels = { email: { status } };
    const identifiers = [{ type: "email" as const, id: "ada@example.com", channels, consent }];
    return audience.v2.contacts.upsert({ firstName, listIds: [], identifiers }, request);
  };
  const send = (night: number, request: BulkRequest) => upsert("subscribed\n", `Ada ${night}`, request);
  const ends: string[] = [];
  for (const night of [1, 2]) {
    for await (const { status } of audience.bulk([night], send, { key: () => "ada", checkpoint })) {
      ends.push(status);
      if (night === 1) await upsert("unsubscribed", "Ada");
    }
  }

  expect(ends).toEqual(["succeeded", "superseded"]);
  expect(mock.requests.map(({ body }) => (body as V2Contact).firstName)).toEqual(["Ada 1", "Ada"]);
});
