import { AudienceClient, RateLimiter } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { describe, expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";

const event = {
  eventName: "order placed",
  uniqueIdentifier: "order-1",
  contact: { email: "ada@example.com" },
};

describe("close() in the same turn as a call", () => {
  it("lets a call that does not wait be sent and end", async () => {
    const mock = createMockService();
    const audience = new AudienceClient({ ...mock.clientOptions, rateLimiter: new RateLimiter() });

    const sent = audience.v1.events.send(event);
    await audience.close();

    expect(await sent).toMatchObject({ uniqueIdentifier: "order-1" });
    expect(mock.organization("mock-organization").events).toHaveLength(1);
  });

  it("rejects a call that waits for a permit", async () => {
    const mock = createMockService();
    const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 60_000 }] });
    const audience = new AudienceClient({ ...mock.clientOptions, rateLimiter });
    await audience.v1.customers.list();

    const failure = failureOf(audience.v1.events.send(event));
    await audience.close();

    expect(await failure).toMatchObject({ code: "closed", outcome: "not-sent" });
    expect(mock.organization("mock-organization").events).toEqual([]);
  });
});
