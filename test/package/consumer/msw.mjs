// node msw.mjs [import or require]: a user's test of code that builds its own client, behind msw.
import { createRequire } from "node:module";

const load = process.argv[2] === "require" ? createRequire(import.meta.url) : (name) => import(name);
const { AudienceClient } = await load("audience-sdk");
const { createMockService } = await load("audience-sdk/mock");
const { mswHandlers } = await load("audience-sdk/mock/msw");
const { setupServer } = await load("msw/node");

const mock = createMockService();
const urls = { baseUrl: "https://api.example.com", baseUrlV2: "https://v2.example.com" };
const server = setupServer(...mswHandlers(mock, urls));
server.listen();
const { apiKey, appId } = mock.clientOptions;
const audience = new AudienceClient({ ...urls, apiKey, appId, rateLimiter: false, maxRetries: 0 });

const { id } = await audience.v1.customers.upsert({ email: "ada@example.com", email_opt_in: "SUBSCRIBED" });
const { attributes } = await audience.v1.customers.get(id);
const { items } = await audience.v2.lists.list();
mock.addFault({ kind: "reset-after", times: 1 });
const { outcome } = await audience.v1.customers.upsert({ email: "bo@example.com" }).catch((error) => error);
server.close();
const { contacts } = mock.organization("mock-organization");
console.log(
  JSON.stringify({ email: attributes.email, lists: items.length, outcome, contacts: contacts.length }),
);
