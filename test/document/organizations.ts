import type { MockOrganizationSeed } from "audience-sdk/mock";

/** The organization of the client's keys. */
export const acme: MockOrganizationSeed = {
  id: "acme",
  apiKeys: ["acme-mock-key", "acme-mock-key-two"],
  apiKeysV2: ["acme-mock-key-v2"],
  appId: "acme-mock-app",
  lists: [
    { id: "news", name: "Newsletter", description: "Weekly", created_at: 1_700_000_000 },
    { id: "offers", name: "Offers", created_at: 1_700_000_001 },
    { id: "engaged", name: "Engaged", type: "SEGMENT", created_at: 1_700_000_002 },
  ],
  contacts: [
    {
      id: "ada",
      email: "ada@example.com",
      phone: "+390111111",
      first_name: "Ada",
      email_opt_in: "UNSUBSCRIBED",
    },
    { id: "grace", email: "grace@example.com", email_opt_in: "SUBSCRIBED", lists: ["news"] },
  ],
  automations: [
    { name: "Thanks", on: { event: "order placed" } },
    { name: "Hello", on: { listId: "news" } },
  ],
  welcomeFlow: true,
};

/** Another organization of the same service, without lists, contacts or a welcome email flow. */
export const globex: MockOrganizationSeed = {
  id: "globex",
  apiKeys: ["globex-mock-key"],
  appId: "globex-mock-app",
};
