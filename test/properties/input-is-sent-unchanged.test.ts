import { AudienceClient, ValidationError } from "audience-sdk";
import { v1ContactSchema, v1EventSchema, v1ListContactSchema, v2ContactSchema } from "audience-sdk/schemas";
import fc from "fast-check";
import { expect, it } from "vitest";
import { offline, offlineFetch } from "../transport/fixture.ts";
import { anyPayload, type Payload } from "./payloads/payload.ts";
import { runs, timesOf } from "./runs.ts";

const count = timesOf(2_000);
const sent: unknown[] = [];
const { v1, v2 } = new AudienceClient({
  ...offline,
  fetch: (url, init) => {
    sent.push(init.body);
    return offlineFetch(url, init);
  },
});

const writes = {
  "v1.customers.upsert": { schema: v1ContactSchema, call: (body: never) => v1.customers.upsert(body) },
  "v1.contactGroups.addContact": {
    schema: v1ListContactSchema,
    call: (body: never) => v1.contactGroups.addContact("list-1", body, { consent: "service-decides" }),
  },
  "v1.events.send": { schema: v1EventSchema, call: (body: never) => v1.events.send(body) },
  "v2.contacts.upsert": { schema: v2ContactSchema, call: (body: never) => v2.contacts.upsert(body) },
};

const tally = { sent: 0, refused: 0 };

async function check({ write, body }: Payload): Promise<void> {
  const { schema, call } = writes[write];
  sent.length = 0;
  try {
    await call(body as never);
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    expect(sent).toEqual([]);
    tally.refused++;
    return;
  }
  expect(schema.safeParse(body).success).toBe(true);
  const given = JSON.stringify(body);
  const [whole] = sent;
  // An event without an id gets one, after its own fields.
  const isGiven =
    whole === given || (write === "v1.events.send" && String(whole).startsWith(given.slice(0, -1)));
  if (!isGiven) throw new Error(`${write} sends ${String(whole)}`);
  tally.sent++;
}

it("the exported schema accepts each input that the client accepts, and the body is JSON.stringify of the input", async () => {
  await fc.assert(fc.asyncProperty(anyPayload, check), runs(count));

  expect(tally.sent).toBeGreaterThan(count / 12);
  expect(tally.refused).toBeGreaterThan(count / 12);
});
