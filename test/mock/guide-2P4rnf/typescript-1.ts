import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { mswHandlers } from "audience-sdk/mock/msw";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, beforeAll, expect, it } from "vitest";

const url = "http://localhost:3000/hooks";
const mock = createMockService({
  organizations: [
    {
      id: "acme",
      apiKeys: ["acme-key"],
      appId: "acme-app",
      lists: [{ id: "news", name: "Newsletter" }],
      automations: [{ name: "Hello", on: { listId: "news" }, webhook: { url } }],
    },
  ],
  variants: { webhookAttempts: 2 },
});

const received: unknown[] = [];
const receiver = http.post(url, async ({ request }) => {
  received.push(await request.json());
  return received.length === 1 ? new HttpResponse(null, { status: 503 }) : HttpResponse.json({ ok: true });
});
const server = setupServer(...mswHandlers(mock), receiver);

beforeAll(() => server.listen({ onUnhandledRequest: "error" })); // msw 3: onUnhandledFrame
afterAll(() => server.close());

it("an endpoint that fails is called again with the same payload", async () => {
  const { apiKey, appId, baseUrl, baseUrlV2 } = mock.clientOptions;
  const audience = new AudienceClient({ apiKey, appId, baseUrl, baseUrlV2, rateLimiter: false });

  await audience.v1.contactGroups.addContact("news", {
    email: "ada@example.com",
    email_opt_in: "SUBSCRIBED",
  });
  await mock.settled();

  expect(received).toMatchObject([
    { automation: "Hello", on: { listId: "news" }, contact: { email: "ada@example.com" } },
    { automation: "Hello", on: { listId: "news" }, contact: { email: "ada@example.com" } },
  ]);
  expect(mock.organization("acme").webhookCalls.map(({ status }) => status)).toEqual([503, 200]);
});
