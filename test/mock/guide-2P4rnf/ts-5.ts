import { strict as assert } from "node:assert";
import { AudienceClient, isAudienceError } from "audience-sdk";
import { everyFault, FaultFound } from "audience-sdk/mock";

const orders = ["order-1", "order-2"];
const eventOf = (order: string) => ({
  eventName: "paid",
  contact: { email: "ada@example.com" },
  uniqueIdentifier: order,
});

// Your code: a job that sends orders, and keeps those that failed for the next night.
async function nightly(audience: AudienceClient, due: string[]): Promise<string[]> {
  const failed: string[] = [];
  for (const order of due) {
    try {
      await audience.v1.events.send(eventOf(order));
    } catch (error) {
      if (!isAudienceError(error)) throw error;
      failed.push(order);
    }
  }
  return failed;
}

const survived = await everyFault(async (mock) => {
  const audience = new AudienceClient(mock.clientOptions);
  const failed = await nightly(audience, orders);
  await nightly(audience, failed);
  assert.equal(mock.organization("mock-organization").events.length, orders.length); // all of them, none twice
});
console.log(survived);
//=> { requests: 2, runs: 33 }

// Without its id, an event that was sent a second time stands there twice.
const send = async (audience: AudienceClient) => {
  const { uniqueIdentifier, ...withoutId } = eventOf("order-1");
  await audience.v1.events.send(withoutId);
};
const found = await everyFault(async (mock) => {
  const audience = new AudienceClient(mock.clientOptions);
  await send(audience).catch(() => send(audience));
  assert.equal(mock.organization("mock-organization").events.length, 1);
}).catch((error: unknown) => error);
if (found instanceof FaultFound) console.log(found.kind, found.request.number, found.request.route);
//=> huge-body 1 POST /api/v1/events
