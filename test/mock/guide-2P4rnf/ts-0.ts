import { strict as assert } from "node:assert";
import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";

const mock = createMockService();
const audience = new AudienceClient(mock.clientOptions);

await audience.v1.contactGroups.addContact("mock-list", {
  email: "ada@example.com",
  email_opt_in: "SUBSCRIBED",
});

const { contacts, memberships, triggers } = mock.organization("mock-organization");
assert.equal(contacts[0]?.email_opt_in, "SUBSCRIBED");
assert.deepEqual([memberships.length, triggers.length], [1, 1]);
assert.equal(mock.requests[0]?.operation, "v1.contactGroups.addContact");
