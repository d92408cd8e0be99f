import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { mswHandlers } from "audience-sdk/mock/msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";

const mock = createMockService();
const { apiKey, appId } = mock.clientOptions;
const urls = { baseUrl: "https://api.example.com", baseUrlV2: "https://api.example.com" };
const server = setupServer(...mswHandlers(mock, urls));

beforeAll(() => server.listen({ onUnhandledRequest: "error" })); // msw 3: onUnhandledFrame
afterEach(() => mock.reset());
afterAll(() => server.close());

// Your code: here, what a sign-up form calls.
async function signUp(email: string): Promise<void> {
  const audience = new AudienceClient({ ...urls, apiKey, appId, rateLimiter: false }); // else the eleventh call waits
  await audience.v1.contactGroups.addContact("mock-list", { email, email_opt_in: "SUBSCRIBED" });
  await audience.v1.events.send({ eventName: "signed up", contact: { email } });
}

it("a sign-up creates a subscribed contact, a membership and an event", async () => {
  await signUp("ada@example.com");

  const { contacts, memberships, events } = mock.organization("mock-organization");
  expect(contacts).toMatchObject([{ email: "ada@example.com", email_opt_in: "SUBSCRIBED" }]);
  expect(memberships).toMatchObject([{ listId: "mock-list", contactId: contacts[0]?.id }]);
  expect(events).toMatchObject([{ eventName: "signed up", contactId: contacts[0]?.id }]);
});

it("an event whose response is lost is sent again, and recorded once", async () => {
  mock.addFault({ kind: "reset-after", operation: "v1.events.send", times: 1 });
  await signUp("ada@example.com");

  expect(mock.organization("mock-organization").events).toHaveLength(1);
  expect(mock.requests.filter(({ operation }) => operation === "v1.events.send")).toHaveLength(2);
});
