import { AudienceClient, RateLimiter, type AudienceError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { describe, expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";

describe("A deadline that passes while the event loop is busy", () => {
  it("before the call asks for a permit is a TimeoutError, and no ConfigurationError", async () => {
    const mock = createMockService();
    const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 60_000 }] });
    const audience = new AudienceClient({ ...mock.clientOptions, rateLimiter });
    const contact = { email: "ada@example.com", email_opt_in: "SUBSCRIBED" } as const;
    const first = audience.v1.customers.upsert(contact);
    // The second write waits for the first one to the same contact; the deadline's timer cannot run before it asks for its permit.
    const second = audience.v1.customers.upsert(contact, { deadlineMs: 5 });
    const failure: Promise<AudienceError> = failureOf(second);
    const busyUntil = performance.now() + 30;
    while (performance.now() < busyUntil);

    await first;
    const { code, outcome } = await failure;

    expect(["rate_limit_wait", "timeout"]).toContain(code);
    expect(outcome).toBe("not-sent");
    expect(mock.requests).toHaveLength(1);
  });
});
