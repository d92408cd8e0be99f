/** Accepted inputs, of which a graft replaces one path. */
const consent = { createdAt: "2026-01-31T09:30:00Z", ip: "192.0.2.1", source: "form" };

export const validV1Contact = {
  email: "ada@example.com",
  phone: "+15550100",
  email_opt_in: "SUBSCRIBED",
  phone_opt_in: "NON_SUBSCRIBED",
  dob: "1990-01-31",
  double_opt_in: true,
  custom_properties: { plan: "gold", seats: 5 },
};

export const validEvent = {
  eventName: "order placed",
  uniqueIdentifier: "order-1",
  contact: { email: "ada@example.com", tags: [1] },
  eventData: { lines: [{ sku: "a", count: 1 }] },
};

export const validIdentifier = {
  type: "email",
  id: "ada@example.com",
  channels: { email: { status: "subscribed" } },
  consent,
};

export const validV2Contact = {
  firstName: "Ada",
  createdAt: "2026-01-31",
  listIds: ["list-1"],
  identifiers: [validIdentifier],
  extra: { tags: ["a"] },
};

export const validQuery = { page: 1, limit: 10 };

export const validCallOptions = {
  signal: new AbortController().signal,
  timeoutMs: 1_000,
  deadlineMs: 2_000,
  maxRetries: 0,
  maxWaitMs: 0,
  priority: 5,
  headers: { "x-request": "1" },
  repeatable: true,
};
