import {
  AudienceClient,
  RateLimiter,
  V1Client,
  V2Client,
  type ClientOptions,
  type Profile,
  type V1Contact,
  type V2Contact,
  type V2Identifier,
} from "audience-sdk";
import { LIMITS, v1ContactFieldsSchema, v1ContactSchema } from "audience-sdk/schemas";
import * as z from "zod";

// A service of the user's that makes each of the nine calls.

const options: ClientOptions = {
  apiKey: async () => "key",
  baseUrl: new URL("https://api.example.com"),
  timeoutMs: 10_000,
  maxRetries: 2,
  rateLimiter: new RateLimiter({ maxWaitMs: 60_000, maxQueued: 1_000 }),
  isRateLimited: ({ status, headers }) => status === 403 && headers.has("retry-after"),
  logger: console,
  logLevel: "warn",
  hooks: { onRetry: ({ operation, attempt, error }) => console.log(operation, attempt, error?.code) },
};

const signUp = v1ContactFieldsSchema.pick({ email: true }).extend({ terms: z.literal(true) });

export async function register(audience: AudienceClient, form: unknown): Promise<string> {
  const { email, terms } = signUp.parse(form);
  const contact: V1Contact = { ...(email !== undefined && { email }), email_opt_in: "SUBSCRIBED" };
  const { data, response, attempts, queuedMs } = await audience.v1.customers
    .upsert(
      { ...contact, email: email ?? "", custom_properties: { terms, source: "form" } },
      { deadlineMs: 5_000 },
    )
    .withResponse();
  return [data.id, response.status, attempts, queuedMs, LIMITS.first_name.maxLength].join();
}

export async function join(audience: AudienceClient, id: string): Promise<string> {
  const profile: Profile = await audience.v1.customers.get(id, { signal: AbortSignal.timeout(1_000) });
  const { email, email_opt_in: consent } = profile.attributes;
  if (typeof email !== "string" || consent !== "SUBSCRIBED") return profile.type;
  const { contact } = await audience.v1.contactGroups.addContact("l-1", { email, email_opt_in: consent });
  await audience.v1.contactGroups.addContact("l-2", { email }, { consent: "service-decides", priority: 1 });
  return contact.contactUUID + contact.action;
}

export async function track(audience: AudienceClient, email: string): Promise<string> {
  const { events } = audience.v1;
  await events.send({ eventName: "signed_up", contact: { email } });
  const shop = events.define({ order_placed: z.object({ total: z.number() }), visited: null });
  await shop.send("visited", { contact: { email } });
  const { uniqueIdentifier } = await shop.send("order_placed", {
    contact: { email },
    eventData: { total: 42 },
  });
  return uniqueIdentifier;
}

export async function upsertV2(audience: AudienceClient): Promise<void> {
  const consent = { createdAt: new Date(), ip: "192.0.2.1", source: "form" };
  const channels = { email: { status: "subscribed" } };
  const identifiers: V2Identifier[] = [{ type: "email", id: "ada@example.com", consent, channels }];
  const contact: V2Contact = { identifiers, listIds: [], firstName: "Ada" };
  await audience.v2.contacts.upsert(contact);
}

export async function readAll(audience: AudienceClient): Promise<number> {
  const { customers, contactGroups } = audience.v1;
  let read = 0;
  for await (const { id, attributes } of customers.list({ limit: 50 }, { readAhead: 2 })) {
    read += id === attributes.external_id ? 1 : 0;
  }
  for await (const { items, totalItems = 0, hasNextPage } of contactGroups.list({ type: "LIST" }).pages()) {
    read += hasNextPage ? items.length : totalItems;
  }
  const page = await audience.v2.lists.list({ page: 1 });
  const next = await page.nextPage();
  const lists = await audience.v2.lists.list().toArray({ max: 500 });
  return read + page.items.length + (next?.items.length ?? 0) + lists.length;
}

export async function main(): Promise<void> {
  await using audience = new AudienceClient(options);
  const once = audience.withOptions({ maxRetries: 0 });
  const body: unknown = await once.v1.request({ method: "GET", path: "/api/v1/new", query: { limit: 1 } });
  await register(once, v1ContactSchema.safeParse(body).data);
  const { used, limit } = audience.rateLimiter?.usage().windows[0] ?? { used: 0, limit: 0 };
  if (used === limit) await audience.close({ drain: true, timeoutMs: 5_000 });
  console.log(new V1Client(options), new V2Client({ ...options, appId: "app" }));
}
