// The v2 family: contacts with identifiers, a status per channel and the evidence of consent; and lists.
//
// npx tsx examples/12-v2-family.ts
import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";

const mock = createMockService();
await using audience = new AudienceClient(mock.clientOptions);

const [list] = (await audience.v2.lists.list({ page: 1, limit: 1 })).items;
console.log(list?.name, typeof list?.created_at);
//=> Newsletter number

const consent = { createdAt: new Date("2026-01-31T09:30:00Z"), ip: "192.0.2.1", source: "web form" };
const result = await audience.v2.contacts.upsert({
  firstName: "Ada",
  countryCode: "gb",
  listIds: list === undefined ? [] : [list.uuid],
  identifiers: [
    { type: "email", id: "ada@example.com", channels: { email: { status: "subscribed" } }, consent },
    { type: "phone", id: "+447700900001", channels: { phone: { status: "unsubscribed" } }, consent },
  ],
});
console.log(result);
//=> { status: true }

// Both families share the contacts; each has its own field names.
for await (const { attributes } of audience.v1.customers.list())
  console.log(attributes.first_name, attributes.email_opt_in, attributes.phone_opt_in, attributes.country);
//=> Ada SUBSCRIBED UNSUBSCRIBED GB
