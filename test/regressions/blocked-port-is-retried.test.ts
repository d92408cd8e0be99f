import { AudienceClient } from "audience-sdk";
import { expect, it } from "vitest";
import { offline } from "../fuzz/offline-client.ts";
import { failureOf } from "../transport/failure.ts";

it("A port that fetch blocks is a ConfigurationError that names the cause, without retries", async () => {
  const { v1 } = new AudienceClient({
    ...offline,
    // Port 6000 is reserved for X11: the real fetch refuses it, and connects to nothing.
    baseUrl: "http://127.0.0.1:6000",
    fetch: undefined,
    maxRetries: 4,
  });

  const failure = await failureOf(v1.customers.upsert({ email: "ada@example.com" }));

  expect(failure).toMatchObject({
    code: "configuration",
    outcome: "not-sent",
    message:
      "No connection to http://127.0.0.1:6000 could be made (bad port): fetch blocks this port, as another protocol uses it.",
    request: { attempts: 1 },
  });
});
