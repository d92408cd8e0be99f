import type { BulkRequest } from "audience-sdk";
import { expect, it } from "vitest";
import { createFixture, LoggedCheckpoint } from "../bulk/fixture.ts";

interface Person {
  readonly id: string;
  readonly first_name: string;
}

it("a row that reads its contact first does not forget the opt-out that another call wrote", async () => {
  const { audience: real, mock } = createFixture();
  const bodies: unknown[] = [];
  // A path that the mock does not have.
  const fetch = async (_: string, { method, body }: { method: string; body?: string }) => {
    if (method !== "GET") bodies.push(JSON.parse(body!));
    return Response.json({});
  };
  const audience = real.withOptions({ fetch });
  const path = "/api/v1/customer/123";
  const contact = { contactUUID: "123" };
  const readAndWrite = async ({ first_name }: Person, request: BulkRequest) => {
    await audience.v1.request({ method: "GET", path }, request);
    const body = { email_opt_in: "SUBSCRIBED", first_name };
    await audience.v1.request({ method: "PUT", path, body, contact }, { ...request, repeatable: true });
  };
  const night = (first_name: string) =>
    audience.bulk(
      ["a", "b"].map((id) => ({ id, first_name })),
      readAndWrite,
      { checkpoint, key: ({ id }) => id, concurrency: 1 },
    );
  const checkpoint = new LoggedCheckpoint();
  for await (const { index } of night("Ada"))
    if (index === 1)
      await audience.v1.request({ method: "PATCH", path, body: { email_opt_in: "UNSUBSCRIBED" }, contact });

  const second = await night("Ada L.");

  expect(second).toMatchObject({ superseded: 2 });
  expect(bodies.at(-1)).toEqual({ email_opt_in: "UNSUBSCRIBED" });
  expect(mock.requests).toEqual([]);
});
