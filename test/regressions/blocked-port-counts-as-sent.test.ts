import { AudienceClient } from "audience-sdk";
import { expect, it } from "vitest";
import { offline } from "../fuzz/offline-client.ts";
import { failureOf } from "../transport/failure.ts";

it("A write to a port that fetch blocks was not sent, and its cause names the port", async () => {
  const { v1 } = new AudienceClient({
    ...offline,
    // Port 6000 is reserved for X11: the real fetch refuses it, and connects to nothing.
    baseUrl: "http://127.0.0.1:6000",
    fetch: undefined,
    maxRetries: 0,
  });

  const failure = await failureOf(v1.customers.upsert({ email: "ada@example.com" }));

  expect(failure).toMatchObject({
    code: "connection",
    outcome: "not-sent",
    message: "No connection to http://127.0.0.1:6000 could be made; this attempt sent nothing.",
    cause: { message: expect.stringContaining("bad port") as string },
    request: { attempts: 1 },
  });
});
