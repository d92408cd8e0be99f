import { AudienceClient } from "audience-sdk";
import { createMockService, everyFault, FaultFound, type MockService } from "audience-sdk/mock";

// A user's tests against the mock.

const mock: MockService = createMockService({
  organizations: [
    {
      id: "acme",
      apiKeys: ["mock-key"],
      appId: "app",
      lists: [{ id: "l-1", name: "News", type: "LIST" }],
      contacts: [{ email: "ada@example.com", email_opt_in: "SUBSCRIBED", lists: ["l-1"] }],
      automations: [{ name: "welcome", on: { listId: "l-1" }, webhook: { url: "http://127.0.0.1:3000" } }],
    },
  ],
  rateLimits: { windows: [{ limit: 10, intervalMs: 1_000 }], algorithm: "sliding", retryAfter: "seconds" },
  latencyMs: [5, 50],
  seed: 1,
});

export async function test(): Promise<string[]> {
  const audience = new AudienceClient(mock.clientOptions);
  mock.addFault({ kind: "reset-after", operation: "v1.customers.upsert", times: 1 });
  await audience.v1.customers.upsert({ email: "ada@example.com", first_name: "Ada" });
  mock.unsubscribe("ada@example.com", { channel: "email" });
  await mock.settled();
  const { contacts, memberships, consentHistory } = mock.organization("acme");
  const seen = mock.requests.map(({ operation, status, applied }) => `${operation} ${status} ${applied}`);
  return [...seen, contacts[0]?.email ?? "", String(memberships.length), consentHistory[0]?.channel ?? ""];
}

export async function survives(): Promise<number> {
  try {
    const { runs } = await everyFault(
      async (service) => {
        await new AudienceClient(service.clientOptions).v1.customers.list();
      },
      { kinds: ["429", "reset-before"] },
    );
    return runs;
  } catch (error) {
    if (error instanceof FaultFound) throw error.cause;
    throw error;
  }
}

export async function serve(): Promise<string> {
  const { url, clientOptions, close } = await mock.listen({ port: 0 });
  await new AudienceClient({ ...clientOptions, maxRetries: 0 }).v2.lists.list();
  await close();
  mock.reset();
  return url;
}
