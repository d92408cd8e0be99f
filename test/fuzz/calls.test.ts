import { AudienceClient, isAudienceError, V1Client, V2Client, type Paginator } from "audience-sdk";
import { v1EventFieldsSchema } from "audience-sdk/schemas";
import { describe, expect, it } from "vitest";
import { offline } from "../transport/fixture.ts";
import { tryEntryPoint } from "./try-entry-point.ts";
import { validCallOptions, validEvent, validQuery, validV1Contact, validV2Contact } from "./valid-inputs.ts";

const { v1, v2 } = new AudienceClient(offline);
const ids = [["contact-1"], [validCallOptions]];

/** A method without types, as JavaScript calls it. */
function untyped<Result>(method: (...values: never[]) => Result, holder: object) {
  return (...values: unknown[]): Result => Reflect.apply(method, holder, values) as Result;
}

function sendAnOrder(schemas: unknown): Promise<unknown> {
  const events: { send(name: string, event: object): Promise<unknown> } = defineEvents(schemas);
  return events.send("order", { contact, uniqueIdentifier: "order-1" });
}

async function readAll(list: Paginator<unknown>): Promise<void> {
  await list.toArray();
  for await (const page of list.pages()) expect(page.items.length).toBeLessThan(2);
}

const upsertV1 = untyped(v1.customers.upsert, v1.customers);
const getCustomer = untyped(v1.customers.get, v1.customers);
const listCustomers = untyped(v1.customers.list, v1.customers);
const listGroups = untyped(v1.contactGroups.list, v1.contactGroups);
const getGroup = untyped(v1.contactGroups.get, v1.contactGroups);
const addContact = untyped(v1.contactGroups.addContact, v1.contactGroups);
const sendEvent = untyped(v1.events.send, v1.events);
const defineEvents = untyped(v1.events.define, v1.events);
const defined = v1.events.define({ order: v1EventFieldsSchema.shape.eventData.unwrap(), signed_up: null });
const sendDefined = untyped(defined.send, defined);
const upsertV2 = untyped(v2.contacts.upsert, v2.contacts);
const listLists = untyped(v2.lists.list, v2.lists);
const requestV1 = untyped(v1.request, v1);
const requestV2 = untyped(v2.request, v2);
const contact = { email: "ada@example.com", phone: "+1 555 0100", contactUUID: "c-1" };
const validRequest = {
  method: "POST",
  path: "/api/v1/new",
  query: { page: 1 },
  body: validV1Contact,
  contact,
};

describe("For any arguments, a call returns its value or rejects with an SDK error", () => {
  it.each([
    ["v1.customers.upsert", upsertV1, [[validV1Contact], [validCallOptions]]],
    ["v1.customers.get", getCustomer, ids],
    [
      "v1.customers.list",
      (...all: unknown[]) => readAll(listCustomers(...all)),
      [[validQuery], [validCallOptions]],
    ],
    [
      "v1.contactGroups.list",
      (...all: unknown[]) => readAll(listGroups(...all)),
      [[validQuery], [validCallOptions]],
    ],
    ["v1.contactGroups.get", getGroup, ids],
    ["v1.contactGroups.addContact", addContact, [["list-1"], [validV1Contact], [validCallOptions]]],
    ["v1.events.send", sendEvent, [[validEvent], [validCallOptions]]],
    ["the send of v1.events.define", sendDefined, [["order", "signed_up"], [validEvent], [validCallOptions]]],
    ["v1.events.define", (schemas: unknown) => sendAnOrder(schemas), [[{ order: null }]]],
    ["v2.contacts.upsert", upsertV2, [[validV2Contact], [validCallOptions]]],
    ["v2.lists.list", (...all: unknown[]) => readAll(listLists(...all)), [[validQuery], [validCallOptions]]],
    ["v1.request", requestV1, [[validRequest], [validCallOptions]]],
    ["v2.request", requestV2, [[{ ...validRequest, path: "/v2/new" }], [validCallOptions]]],
  ])("%s", async (_, act, valid) => {
    await tryEntryPoint({ act, valid, argumentCount: valid.length }, 60);
  });

  it("with valid input and any options", async () => {
    await tryEntryPoint(
      { act: (options) => sendEvent(validEvent, options), valid: [[validCallOptions]] },
      100,
    );
    await tryEntryPoint(
      { act: (options) => readAll(listLists(validQuery, options)), valid: [[validCallOptions]] },
      250,
    );
  });
});

it.each([AudienceClient, V1Client, V2Client])(
  "For any options, close of %o resolves or rejects with an SDK error",
  async (Client) => {
    const act = (options: unknown) => new Client(offline).close(options as { drain?: boolean });
    await tryEntryPoint({ act, valid: [[{ drain: true, timeoutMs: 5 }]] }, 60);
  },
);

it("For any arguments, toArray returns items or rejects with an SDK error", async () => {
  const list = v1.customers.list();
  const act = (options: unknown) => list.toArray(options as { max?: number });
  await tryEntryPoint({ act, valid: [[{ max: 1 }]] }, 60);
});

it("Any arguments of then, catch and finally of a list leave the list unchanged", async () => {
  const list = v1.customers.list();
  const act = async (first: unknown, second: unknown) => {
    const ends = [
      list.then(first as () => void, second as () => void),
      list.catch(first as () => void),
      list.finally(second as () => void),
    ];
    // An error that the caller's callback throws is passed on.
    for (const { status } of await Promise.allSettled(ends)) expect(status).toBeTypeOf("string");
    expect((await list).items).toHaveLength(1);
  };
  await tryEntryPoint({ act, argumentCount: 2 }, 60);
});

it("Any arguments of withResponse(), then and catch leave a call unchanged", async () => {
  const act = (first: unknown, second: unknown) => {
    const call = v1.customers.get("contact-1");
    return call.then(first as () => void, second as () => void).catch((error: unknown) => {
      // An error that the caller's callback throws is passed on.
      if (isAudienceError(error)) throw error;
    });
  };
  await tryEntryPoint({ act, argumentCount: 2 }, 60);
});

it("isAudienceError returns a boolean for any value", async () => {
  const act = (value: unknown) => {
    expect(isAudienceError(value)).toBeTypeOf("boolean");
  };
  await tryEntryPoint({ act }, 200);
});
