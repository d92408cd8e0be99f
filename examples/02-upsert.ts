// Creates a contact, or updates the contact with the same e-mail or phone. Field names are the service's own.
//
// npx tsx examples/02-upsert.ts
import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";

// The embedded mock stands in for the service. `new AudienceClient()` reads AUDIENCE_BASE_URL, AUDIENCE_API_KEY, …
const mock = createMockService();
await using audience = new AudienceClient(mock.clientOptions);

const ada = await audience.v1.customers.upsert({
  email: "ada@example.com",
  email_opt_in: "SUBSCRIBED",
  first_name: "Ada",
  dob: "1815-12-10", // a day is a string: a `Date` has a time zone
  custom_properties: { plan: "pro", seats: 3 }, // stored as strings
});
console.log(ada.type, ada.attributes.email, ada.attributes.email_opt_in);
//=> profile ada@example.com SUBSCRIBED

// The same address is the same contact. Only the fields that are sent change.
const again = await audience.v1.customers.upsert({
  email: "ada@example.com",
  email_opt_in: "SUBSCRIBED",
  city: "London",
});
console.log(again.id === ada.id);
//=> true

const profile = await audience.v1.customers.get(ada.id);
console.log(profile.attributes.first_name, profile.attributes.city);
//=> Ada London

// The status of the response, the number of attempts, and the wait for the rate limit.
const { data, response, attempts, queuedMs } = await audience.v1.customers.get(ada.id).withResponse();
console.log(data.id === ada.id, response.status, attempts, Math.round(queuedMs));
//=> true 200 1 0
