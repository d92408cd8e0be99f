import { AudienceClient, RateLimiter } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";

it("A retry that gets no permit has the failure before it as its cause", async () => {
  const mock = createMockService({ faults: [{ kind: "500-after" }] });
  const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 60_000 }], maxWaitMs: 0 });
  const audience = new AudienceClient({ ...mock.clientOptions, rateLimiter });

  const error = await failureOf(
    audience.v1.customers.upsert({ email: "ada@example.com", email_opt_in: "SUBSCRIBED" }),
  );

  expect(error).toMatchObject({
    code: "rate_limit_wait",
    outcome: "unknown",
    request: { attempts: 1 },
    cause: { code: "server", status: 500 },
  });
});
