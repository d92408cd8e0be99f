// The package has a mock of the service for your tests: it keeps state, validates requests, and simulates faults.
//
// npx tsx examples/09-test-with-the-mock.ts
import assert from "node:assert/strict";
import { AudienceClient, isAudienceError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";

/** The code under test, which takes a client. */
async function signUp(audience: AudienceClient, email: string): Promise<"welcome" | "try again later"> {
  try {
    await audience.v1.contactGroups.addContact("mock-list", { email, email_opt_in: "SUBSCRIBED" });
    await audience.v1.events.send({
      eventName: "signed_up",
      uniqueIdentifier: `signed-up-${email}`,
      contact: { email },
    });
    return "welcome";
  } catch (error) {
    if (isAudienceError(error)) return "try again later";
    throw error;
  }
}

const mock = createMockService();
await using audience = new AudienceClient({ ...mock.clientOptions, maxRetries: 1 });
const state = () => mock.organization("mock-organization");

// The effect on the service.
assert.equal(await signUp(audience, "ada@example.com"), "welcome");
assert.deepEqual(
  mock.requests.map(({ operation, status }) => [operation, status]),
  [
    ["v1.contactGroups.addContact", 200],
    ["v1.events.send", 200],
  ],
);
assert.equal(state().contacts[0]?.email_opt_in, "SUBSCRIBED");
console.log("signs up: a contact, a membership, an event");
//=> signs up: a contact, a membership, an event

// The service fails, and then recovers.
mock.reset();
mock.addFault({ kind: "500-before", operation: "v1.events.send", times: 2 });
assert.equal(await signUp(audience, "ada@example.com"), "try again later");
assert.equal(state().events.length, 0);
assert.equal(await signUp(audience, "ada@example.com"), "welcome");
assert.equal(state().events.length, 1);
assert.equal(state().triggers.length, 1); // "subscribed to list", once per contact and list
console.log("is safe to repeat: one event, one trigger");
//=> is safe to repeat: one event, one trigger

// The same over real HTTP, for code in another process or language.
await using server = await mock.listen();
await using remote = new AudienceClient(server.clientOptions);
assert.equal(await signUp(remote, "bo@example.com"), "welcome");
assert.equal(state().contacts.length, 2);
console.log("works over HTTP:", new URL(server.url).hostname);
//=> works over HTTP: 127.0.0.1
