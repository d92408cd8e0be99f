// The client finds invalid input before it sends anything: all problems at once, each with its path. The schemas alone
// validate forms and files; every call validates its input itself.
//
// npx tsx examples/01-validate.ts
import { AudienceClient, ValidationError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { flattenProperties, v1ContactSchema } from "audience-sdk/schemas";

const contact = {
  email: "ada@example.com",
  firstName: "Ada",
  phone: "555",
  custom_properties: { plan: { name: "pro", seats: 3 } },
};

// A plain zod schema (also a Standard Schema), with zod's messages: it sends nothing and throws nothing.
const result = v1ContactSchema.safeParse(contact);
for (const { path, message } of result.error?.issues ?? []) console.log(`${path.join(".")}: ${message}`);
//=> phone: Too small: expected string to have >=7 characters
//=> custom_properties.plan: must be flat, not an object, which the service would store as unusable text: use flattenProperties
//=> : "firstName": unknown key, which the service refuses: keys of your own go under custom_properties, options of the call into its last argument; a contact is sent alone, not wrapped

// A call reports more: one problem for each unknown key, with a suggestion. It costs no request.
const mock = createMockService();
await using audience = new AudienceClient(mock.clientOptions);
try {
  // @ts-expect-error the compiler also finds some of the problems
  await audience.v1.customers.upsert(contact);
} catch (error) {
  if (!(error instanceof ValidationError)) throw error;
  for (const { path, message } of error.issues) console.log(`${path.join(".")}: ${message}`);
  //=> phone: must have at least 7 characters, has 3
  //=> custom_properties.plan: must be flat, not an object, which the service would store as unusable text: use flattenProperties
  //=> firstName: unknown key: write "first_name"
  console.log(error.outcome, mock.requests.length);
  //=> not-sent 0
}

// Flattens nested values: the service stores no others.
const custom_properties = flattenProperties(contact.custom_properties);
console.log(custom_properties);
//=> { plan_name: 'pro', plan_seats: 3 }

const { email } = contact;
await audience.v1.customers.upsert({
  email,
  email_opt_in: "SUBSCRIBED",
  first_name: "Ada",
  custom_properties,
});
