import { strict as assert } from "node:assert";
import { createMockService } from "audience-sdk/mock";

const mock = createMockService({
  organizations: [
    {
      id: "acme",
      apiKeys: ["acme-key"],
      apiKeysV2: ["acme-key-v2"], // default: the same as apiKeys
      appId: "acme-app",
      lists: [
        { id: "news", name: "Newsletter" },
        { id: "engaged", name: "Engaged", type: "SEGMENT" },
      ],
      contacts: [{ id: "ada", email: "ada@example.com", email_opt_in: "UNSUBSCRIBED", lists: ["news"] }],
      automations: [
        { name: "Thanks", on: { event: "order placed" } },
        { name: "Hello", on: { listId: "news" } },
      ],
      welcomeFlow: true,
    },
  ],
  seed: 7, // of ids, latencies and probabilities: the same seed gives the same run
});
assert.equal(mock.organization("acme-key").contacts[0]?.id, "ada");
