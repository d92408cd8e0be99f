// Adds a contact to a list without changing the person's consent.
//
// npx tsx examples/03-add-to-list.ts
import { AudienceClient, NotFoundError, ValidationError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";

const bo = { email: "bo@example.com" };
const mock = createMockService({
  organizations: [
    {
      id: "shop",
      apiKeys: ["mock-key"],
      appId: "mock-app",
      lists: [{ id: "newsletter", name: "Newsletter" }],
      contacts: [{ ...bo, email_opt_in: "UNSUBSCRIBED" }],
    },
  ],
});
await using audience = new AudienceClient(mock.clientOptions);
const { contactGroups } = audience.v1;
const stateOfBo = () => mock.organization("shop").contacts[0]?.email_opt_in;

const { contact } = await contactGroups.addContact("newsletter", {
  email: "ada@example.com",
  email_opt_in: "SUBSCRIBED",
});
console.log(contact.action, contact.email);
//=> created ada@example.com

// Without `email_opt_in` the service would make an existing contact SUBSCRIBED, even one that had unsubscribed. So the
// compiler refuses it, and the call does too.
try {
  // @ts-expect-error email_opt_in is missing
  await contactGroups.addContact("newsletter", bo);
} catch (error) {
  if (!(error instanceof ValidationError)) throw error;
  console.log(error.issues[0]?.path, stateOfBo());
  //=> [ 'email_opt_in' ] UNSUBSCRIBED
}

// In the list, and still unsubscribed: membership does not decide whether the contact receives marketing e-mail.
await contactGroups.addContact("newsletter", { ...bo, email_opt_in: "UNSUBSCRIBED" });
console.log(stateOfBo(), mock.organization("shop").memberships.length);
//=> UNSUBSCRIBED 2

// The call may leave the decision to the service. This subscribes Bo again.
await contactGroups.addContact("newsletter", bo, { consent: "service-decides" });
console.log(stateOfBo());
//=> SUBSCRIBED

// A missing list. The service may still have created the contact, so the outcome is unknown.
try {
  await contactGroups.addContact("gone", { email: "cy@example.com", email_opt_in: "SUBSCRIBED" });
} catch (error) {
  if (!(error instanceof NotFoundError)) throw error;
  console.log(error.status, error.outcome);
  //=> 404 unknown
}
