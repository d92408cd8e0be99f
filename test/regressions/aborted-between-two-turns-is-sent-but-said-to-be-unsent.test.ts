import { AudienceClient, isAudienceError } from "audience-sdk";
import { createMockService, type MockService } from "audience-sdk/mock";
import { expect, it } from "vitest";

const contact = { email: "ada@example.com", email_opt_in: "SUBSCRIBED" } as const;
/** More turns of the event loop than a whole call takes in process. */
const mostTurns = 1_000;

const keys = {
  "a key": ({ clientOptions }: MockService) => clientOptions.apiKey,
  "a key function":
    ({ clientOptions }: MockService) =>
    () =>
      Promise.resolve(clientOptions.apiKey),
};

it.each(Object.entries(keys))(
  "with %s, a write that is aborted at any turn of the event loop was sent if and only if its outcome says so",
  async (_key, apiKey) => {
    const outcomes = new Set<string>();
    for (let turn = 0; turn < mostTurns && !outcomes.has("applied"); turn++) {
      const mock = createMockService();
      const controller = new AbortController();
      const audience = new AudienceClient({ ...mock.clientOptions, apiKey: apiKey(mock) });
      const call = audience.v1.customers.upsert(contact, { signal: controller.signal }).then(
        () => "applied",
        (error: unknown) => (isAudienceError(error) ? error.outcome : error),
      );
      for (let passed = 0; passed < turn; passed++) await Promise.resolve();
      controller.abort();

      const outcome = String(await call);

      outcomes.add(outcome);
      const { contacts } = mock.organization("mock-organization");
      if (outcome === "not-sent") expect(mock.requests, `turn ${turn}`).toEqual([]);
      if (outcome === "applied") expect(contacts, `turn ${turn}`).toHaveLength(1);
    }
    expect(outcomes).toEqual(new Set(["not-sent", "unknown", "applied"]));
  },
);

it.each([
  ["once its response has been read", (abort: () => void) => abort()],
  ["a turn after that", (abort: () => void) => queueMicrotask(abort)],
])("a write that is aborted %s resolves, because it is done", async (_when, soon) => {
  const mock = createMockService();
  const controller = new AbortController();
  const audience = new AudienceClient({
    ...mock.clientOptions,
    hooks: { onResponse: () => soon(() => controller.abort()) },
  });

  const profile = await audience.v1.customers.upsert(contact, { signal: controller.signal });

  expect(profile.attributes.email).toBe(contact.email);
  expect(mock.organization("mock-organization").contacts).toHaveLength(1);
});
