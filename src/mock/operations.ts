export const OPERATIONS = [
  "v1.customers.upsert",
  "v1.customers.get",
  "v1.customers.list",
  "v1.contactGroups.list",
  "v1.contactGroups.get",
  "v1.contactGroups.addContact",
  "v1.events.send",
  "v2.contacts.upsert",
  "v2.lists.list",
] as const;

/** The names of the nine endpoints, the same as the client's calls. */
export type MockOperation = (typeof OPERATIONS)[number];
