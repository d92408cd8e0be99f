// The service records an event once, however often it is sent.
//
// npx tsx examples/04-send-events.ts
import { AudienceClient, ServerError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";

const mock = createMockService();
await using audience = new AudienceClient(mock.clientOptions);
const timeline = () => mock.organization("mock-organization").events;

// The service records the event, but its response is lost on the way.
mock.addFault({ kind: "reset-after", operation: "v1.events.send", times: 1 });

const event = {
  eventName: "order_placed",
  uniqueIdentifier: "order-1001", // identifies the event, not the attempt: also safe over restarts
  contact: { email: "ada@example.com" }, // created if it does not exist
  eventData: { total: 42.5, items: [{ sku: "A-1", quantity: 2 }] },
};
const { data, attempts } = await audience.v1.events.send(event).withResponse();
console.log(data.uniqueIdentifier, attempts, timeline().length);
//=> order-1001 2 1

// Sent again by the program: still one event.
await audience.v1.events.send(event);
console.log(timeline().length);
//=> 1

// The client generates a missing id, which is the same in every attempt, in the result, and in the error.
mock.addFault({ kind: "500-after", operation: "v1.events.send", times: 1 });
const signedUp = { eventName: "signed_up", contact: { email: "ada@example.com" } };
try {
  await audience.v1.events.send(signedUp, { maxRetries: 0 });
} catch (error) {
  if (!(error instanceof ServerError) || error.uniqueIdentifier === undefined) throw error;
  console.log(error.status, error.outcome);
  //=> 500 unknown

  // The service may have recorded it. With its id, sending it again is safe.
  await audience.v1.events.send({ ...signedUp, uniqueIdentifier: error.uniqueIdentifier });
}
console.log(timeline().map(({ eventName }) => eventName));
//=> [ 'order_placed', 'signed_up' ]
