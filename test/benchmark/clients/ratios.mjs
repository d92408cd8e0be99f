// One process, in which fetch, ky and our client take turns with the same requests: `node ratios.mjs SERVICE KY`, with what
// `service.mjs` has printed and where ky's module is. Prints as JSON the CPU of each, in milliseconds a request.
import { AudienceClient } from "audience-sdk";
import { construct as constructOurs } from "./audience-sdk.mjs";

const rounds = 15;
const requests = 150;
const { urls } = JSON.parse(process.argv[2]);
const { default: ky } = await import(process.argv[3]);

const key = "key-0123456789abcdef";
const contact = { email: "ada@example.com", first_name: "Ada", email_opt_in: "SUBSCRIBED" };
const kyClient = ky.create({ prefix: urls.prompt, headers: { "x-api-key": key } });
const withLimiter = constructOurs(urls.prompt, false);
const withoutLimiter = new AudienceClient({ baseUrl: urls.prompt, apiKey: key, rateLimiter: false });

const ours = (client) => ({
  get: async () => await client.v1.customers.get("one"),
  upsert: async () => await client.v1.customers.upsert(contact),
});
const clients = {
  fetch: {
    get: () => fetched("/api/v1/customer/one"),
    upsert: () => fetched("/api/v1/customer/create", { method: "POST", body: JSON.stringify(contact) }),
  },
  ky: {
    get: async () => await kyClient.get("api/v1/customer/one").json(),
    upsert: async () => await kyClient.post("api/v1/customer/create", { json: contact }).json(),
  },
  withoutLimiter: ours(withoutLimiter),
  withLimiter: ours(withLimiter),
};

async function fetched(path, init) {
  const headers = { "x-api-key": key, "content-type": "application/json" };
  return await (await fetch(urls.prompt + path, { ...init, headers })).json();
}

const costs = [];
for (let round = -3; round < rounds; round += 1) {
  const cost = {};
  for (const operation of ["get", "upsert"]) {
    cost[operation] = {};
    for (const [name, client] of Object.entries(clients)) {
      const before = process.cpuUsage();
      for (let count = 0; count < requests; count += 1) await client[operation]();
      const { user, system } = process.cpuUsage(before);
      cost[operation][name] = (user + system) / 1_000 / requests;
    }
  }
  // The first rounds warm the compiler up.
  if (round >= 0) costs.push(cost);
}
console.log(JSON.stringify(costs));
