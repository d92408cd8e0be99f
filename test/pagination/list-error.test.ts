import { inspect } from "node:util";
import { AudienceClient, isAudienceError } from "audience-sdk";
import { expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";

const apiKey = "sk_live_9981773aaBBccDD";

const families = [
  ["v1", { data: [{ id: "1" }], links: { next: `/api/v1/customer?api_key=${apiKey}` } }],
  ["v2", { success: true, data: { lists: [{ uuid: "1" }], total_items: 900, debug: apiKey } }],
] as const;

it.each(families)(
  "the error of a %s list whose pages repeat holds its call, and no key",
  async (family, page) => {
    const failed: string[] = [];
    const audience = new AudienceClient({
      baseUrl: "https://api.example.com",
      baseUrlV2: "https://api.example.com",
      apiKey,
      appId: "a",
      rateLimiter: false,
      fetch: async () => Response.json({ ...page, padding: "x".repeat(100_000) }, { status: 203 }),
      hooks: { onResponse: ({ error }) => void (error && failed.push(error.code)) },
    });
    const list = family === "v1" ? audience.v1.customers.list() : audience.v2.lists.list();

    const error = await failureOf(list.toArray());

    expect(error).toMatchObject({
      code: "unexpected_response",
      outcome: "not-applied",
      status: 203,
      request: { operation: family === "v1" ? "v1.customers.list" : "v2.lists.list", attempts: 1 },
    });
    expect(isAudienceError(error) && "body" in error && String(error.body).length).toBeLessThanOrEqual(
      64 * 1024,
    );
    expect(`${JSON.stringify(error)}${inspect(error, { depth: Infinity })}`).not.toContain(
      apiKey.slice(0, 8),
    );
    expect(failed).toEqual(["unexpected_response"]);
  },
);
