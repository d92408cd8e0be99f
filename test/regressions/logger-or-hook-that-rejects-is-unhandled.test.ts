import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const unhandled: unknown[] = [];
const note = (reason: unknown) => void unhandled.push(reason);

describe("The return value of a logger or hook", () => {
  beforeEach(() => {
    unhandled.length = 0;
    process.on("unhandledRejection", note);
  });
  afterEach(() => void process.off("unhandledRejection", note));

  it("may be a promise that rejects, of this realm or another", async () => {
    const mock = createMockService();
    const rejects: () => unknown = async () => Promise.reject(new Error("disk full"));
    // A promise of another realm is no instance of this realm's Promise.
    const thenable = () => ({
      then: (_: unknown, reject: (reason: unknown) => void) => reject(new Error("gone")),
    });
    const logger = { debug: rejects, info: rejects, warn: rejects, error: rejects };
    const audience = new AudienceClient({
      ...mock.clientOptions,
      logger,
      logLevel: "debug",
      hooks: { onRequest: rejects, onResponse: thenable },
    });

    await audience.v1.customers.upsert({ email: "ada@example.com", email_opt_in: "SUBSCRIBED" });
    await new Promise((resolve) => setImmediate(resolve));

    expect(mock.requests).toHaveLength(1);
    expect(unhandled).toEqual([]);
  });
});
