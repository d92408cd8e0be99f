import { AudienceClient, DOCUMENTED_WINDOWS, RateLimiter } from "audience-sdk";

export function construct(baseUrl, isLimited) {
  if (isLimited) return new AudienceClient({ baseUrl, apiKey: "key-0123456789abcdef" });
  // Its limiter counts in all windows, and never waits.
  const windows = DOCUMENTED_WINDOWS.map(({ intervalMs }) => ({ limit: 1e9, intervalMs }));
  return new AudienceClient({
    baseUrl,
    apiKey: "key-0123456789abcdef",
    rateLimiter: new RateLimiter({ windows }),
  });
}

export async function call(client) {
  const contact = { email: "ada@example.com", first_name: "Ada", email_opt_in: "SUBSCRIBED" };
  return (await client.v1.customers.upsert(contact)).id;
}

export function read(client) {
  return client.v1.customers.list({ limit: 100 });
}
