import { AudienceClient, RateLimiter, type ClientOptions } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { flattenProperties } from "audience-sdk/schemas";
import { describe, expect, it } from "vitest";

// A caller in JavaScript can pass any of these; each was treated as empty options.
const kinds: readonly (readonly [kind: string, given: object, wayOut: string])[] = [
  ["a Promise", Promise.resolve({ maxRetries: 0 }), ": await it"],
  ["an AbortSignal", AbortSignal.abort(), ": write { signal }"],
  ["a Map", new Map([["maxRetries", 0]]), ""],
  ["a Set", new Set(["maxRetries"]), ""],
  ["a Date", new Date(0), ""],
  ["a URLSearchParams", new URLSearchParams("page=2"), ""],
];

class Hidden {
  get maxRetries() {
    return 0;
  }
}

const contact = { email: "ada@example.com", email_opt_in: "SUBSCRIBED" } as const;
const row = Promise.resolve;

const entryPoints: readonly (readonly [place: string, (client: AudienceClient, given: object) => unknown])[] =
  [
    ["The client's options", (_, given) => new AudienceClient(given)],
    ["The options of withOptions", (client, given) => client.withOptions(given)],
    ["The call's options", (client, given) => client.v1.customers.upsert(contact, given)],
    ["The call's options", (client, given) => client.v1.customers.list({}, given)],
    ["The options of toArray", (client, given) => client.v1.customers.list().toArray(given)],
    ["The options of bulk", (client, given) => client.bulk([contact], row, given)],
    ["The options of RateLimiter", (_, given) => new RateLimiter(given)],
    ["rateLimiter", (_, given) => new AudienceClient({ rateLimiter: given as ClientOptions["rateLimiter"] })],
    ["The options of flattenProperties", (_, given) => flattenProperties({ a: 1 }, given)],
  ];

const opened = () => {
  const mock = createMockService();
  return { mock, client: new AudienceClient(mock.clientOptions) };
};

describe.each([...kinds, ["an instance of a class without properties", new Hidden(), ""] as const])(
  "%s",
  (kind, given, wayOut) => {
    it.each(entryPoints)("is refused as %s, and nothing is sent", async (place, hand) => {
      const { mock, client } = opened();
      const handed = async () => hand(client, given);
      await expect(handed()).rejects.toMatchObject({
        code: "configuration",
        message: `${place} must be a plain object, not ${kind}${wayOut}.`,
      });
      expect(mock.requests).toEqual([]);
    });
  },
);

it.each(kinds)("%s is refused as a list's query, and nothing is sent", async (kind, given, wayOut) => {
  const { mock, client } = opened();
  const { v1, v2 } = client;
  // A query has no key for a signal.
  const remedy = kind === "an AbortSignal" ? "" : wayOut;
  const message =
    kind === "a Date" ? "must be an object, not a string" : `JSON cannot carry ${kind}${remedy}`;
  const issues = [{ path: [], message }];
  for (const list of [v1.customers.list(given), v1.contactGroups.list(given), v2.lists.list(given)])
    await expect(list.toArray()).rejects.toMatchObject({ code: "validation", issues });
  expect(mock.requests).toEqual([]);
});

it.each(kinds.filter(([, given]) => !(Symbol.iterator in given)))(
  "%s is refused as headers",
  (kind, given, wayOut) => {
    expect(() => new AudienceClient({ headers: given as Headers })).toThrow(
      `headers must be a plain object, not ${kind}${wayOut}.`,
    );
  },
);

it.each([
  ["a FormData", new FormData()],
  ["a URLSearchParams", new URLSearchParams("email=ada@example.com")],
])("a contact that is %s is refused with one issue", async (kind, given) => {
  const { mock, client } = opened();
  const issues = [{ path: [], message: `JSON cannot carry ${kind}` }];
  await expect(client.v1.customers.upsert(given as object as typeof contact)).rejects.toMatchObject({
    issues,
  });
  expect(mock.requests).toEqual([]);
});

it("an instance with public fields is accepted as options", async () => {
  class Retries {
    maxRetries = 0;
  }
  const { mock, client } = opened();
  await client.v1.customers.upsert(contact, new Retries());
  expect(mock.requests).toHaveLength(1);
});
