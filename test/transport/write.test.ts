import { type } from "arktype";
import { AudienceClient, ConfigurationError, ValidationError, type Write, write } from "audience-sdk";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { failureOf, thrownBy } from "./failure.ts";
import { mockedClient } from "./fixture.ts";

const email = "ada@example.com";
const contact = { email, email_opt_in: "SUBSCRIBED" } as const;
const v2Contact = {
  firstName: "Ada",
  createdAt: new Date(0),
  listIds: [],
  identifiers: [
    {
      type: "email" as const,
      id: email,
      channels: { email: { status: "subscribed" } },
      consent: { createdAt: new Date(1_000), ip: "192.0.2.1", source: "web form" },
    },
  ],
};
const event = {
  eventName: "order_placed",
  uniqueIdentifier: "order-1",
  contact: { email },
  eventData: { at: new Date(0), none: undefined, price: { toJSON: () => "42.00" } },
};
const request = { method: "POST", path: "/api/v1/customer/create", body: contact } as const;
const v2Request = { method: "POST", path: "/v2/contacts", body: v2Contact } as const;

function service() {
  const { mock, audience } = mockedClient({ clock: () => 0 }, { maxRetries: 0 });
  const sent = () => mock.requests.map(({ method, path, body }) => ({ method, path, body }));
  return { mock, audience, sent };
}

/** What a queue gives back. */
const stored = (job: unknown): never => JSON.parse(JSON.stringify(job)) as never;

const untyped = (value: unknown): never => value as never;

async function issuesOf(job: unknown, options?: object) {
  const { audience, mock } = service();
  const error = await failureOf(audience.send(untyped(job), options));
  expect(error).toBeInstanceOf(ValidationError);
  expect({ requests: mock.requests, outcome: error.outcome }).toEqual({ requests: [], outcome: "not-sent" });
  return (error as ValidationError).issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
}

it("A write is a value: write gives plain data, its arguments as given and unchecked, and sends nothing", () => {
  expect(write.v1.customers.upsert(contact)).toStrictEqual({ operation: "v1.customers.upsert", contact });
  const options = { timeoutMs: 1 };
  const operation = "v1.contactGroups.addContact";
  const adds = write.v1.contactGroups.addContact("l", contact, options);
  expect(adds).toStrictEqual({ operation, listId: "l", contact, options });
  const sends = write.v1.events.send(untyped("wrong"));
  expect(sends).toStrictEqual({ operation: "v1.events.send", event: "wrong" });
  expect(write.v2.contacts.upsert(v2Contact).contact).toBe(v2Contact);
  expect(write.v1.request(request)).toStrictEqual({ operation: "v1.request", request });
  expect(write.v2.request(v2Request)).toStrictEqual({ operation: "v2.request", request: v2Request });
});

describe("audience.send", () => {
  const calls: [Write["operation"], Write, (audience: AudienceClient) => PromiseLike<unknown>][] = [
    [
      "v1.customers.upsert",
      write.v1.customers.upsert({ ...contact, city: undefined }),
      ({ v1 }) => v1.customers.upsert(contact),
    ],
    [
      "v1.contactGroups.addContact",
      write.v1.contactGroups.addContact("mock-list", contact),
      ({ v1 }) => v1.contactGroups.addContact("mock-list", contact),
    ],
    ["v1.events.send", write.v1.events.send(event), ({ v1 }) => v1.events.send(event)],
    ["v2.contacts.upsert", write.v2.contacts.upsert(v2Contact), ({ v2 }) => v2.contacts.upsert(v2Contact)],
    ["v1.request", write.v1.request(request), ({ v1 }) => v1.request(request)],
    ["v2.request", write.v2.request(v2Request), ({ v2 }) => v2.request(v2Request)],
  ];

  it.each(calls)("sends %s as its call does, also after a queue", async (_operation, job, call) => {
    const direct = service();
    const once = service();
    const queued = service();

    const value = await call(direct.audience);

    expect(await once.audience.send(job).withResponse()).toMatchObject({ data: value, attempts: 1 });
    expect(await queued.audience.send(stored(job))).toEqual(value);
    expect(once.sent()).toEqual(direct.sent());
    expect(queued.sent()).toEqual(direct.sent());
  });

  it.each([
    `{"operation":"v1.customers.upsert","contact":{"email":"ada@example.com","email_opt_in":"UNSUBSCRIBED"},"options":{"maxRetries":2}}`,
    `{"operation":"v1.contactGroups.addContact","listId":"mock-list","contact":{"email":"ada@example.com"},"options":{"consent":"service-decides"}}`,
    `{"operation":"v1.events.send","event":{"eventName":"a","uniqueIdentifier":"1","contact":{"email":"ada@example.com"}},"options":{"headers":{"X-Trace":"1"},"timeoutMs":1000}}`,
    `{"operation":"v2.contacts.upsert","contact":{"firstName":"Ada","listIds":[],"identifiers":[{"type":"email","id":"ada@example.com","channels":{"email":{"status":"unsubscribed"}},"consent":{"createdAt":"2026-01-01T00:00:00.000Z","ip":"192.0.2.1","source":"form"}}]}}`,
    `{"operation":"v1.request","request":{"method":"POST","path":"/api/v1/customer/create","body":{"email":"ada@example.com","email_opt_in":"SUBSCRIBED"},"contact":{"email":"ada@example.com"}},"options":{"repeatable":true}}`,
    `{"operation":"v2.request","request":{"method":"GET","path":"/v2/lists"}}`,
  ])("sends the writes that queues of an earlier release hold: %s", async (line) => {
    const { audience, mock } = service();

    await audience.send(JSON.parse(line) as Write);

    expect(mock.requests).toMatchObject([{ status: expect.toSatisfy((status) => status < 300) }]);
  });

  it("joins the write's options and the sender's, which go before", async () => {
    const { audience, mock } = service();
    mock.addFault({ kind: "500-before", times: 4 });
    const headers = { "X-One": "write", "X-Two": "write" };
    const job = write.v1.customers.upsert(contact, { maxRetries: 5, repeatable: false, headers });

    const error = await failureOf(
      audience.send(job, { maxRetries: 1, repeatable: true, headers: { "x-two": "sender" } }),
    );

    expect(error.request?.attempts).toBe(2);
    expect(mock.requests[0]?.headers).toMatchObject({ "x-one": "write", "x-two": "sender" });
    // The write alone would not be sent again.
    expect((await failureOf(audience.send(job))).request?.attempts).toBe(1);
  });

  it("rejects as the call does: all issues, with the paths of the call, and its operation", async () => {
    const wrong = { email: "nobody", firstName: "Ada", phone: null };
    const { audience } = service();
    const direct = await failureOf(audience.v1.customers.upsert(untyped(wrong)));

    const error = await failureOf(audience.send(write.v1.customers.upsert(untyped(wrong))));

    expect((error as ValidationError).issues).toEqual((direct as ValidationError).issues);
    expect((error as ValidationError).issues).toHaveLength(3);
    expect(error.request).toMatchObject({ operation: "v1.customers.upsert", attempts: 0 });
  });

  it("requires the id of an event, as a job that is tried twice would be two events", async () => {
    const { uniqueIdentifier: _, ...unnamed } = event;

    expect(await issuesOf(write.v1.events.send({ ...unnamed, eventName: "" }))).toEqual([
      "eventName: must not be empty",
      expect.stringMatching(/^uniqueIdentifier: required: .*two events/),
    ]);
  });

  it("requires the consent of addContact, unless the write leaves it to the service", async () => {
    const job = {
      operation: "v1.contactGroups.addContact",
      listId: "mock-list",
      contact: { email },
    } as const;
    const { audience } = service();

    expect(await issuesOf(job)).toEqual([expect.stringContaining("email_opt_in: required")]);
    await expect(audience.send({ ...job, options: { consent: "service-decides" } })).resolves.toMatchObject({
      contact: { action: "created" },
    });
  });

  const operation = "v1.customers.upsert";
  it.each([
    [
      "no object",
      "upsert",
      ["must be one write, as write.v1.customers.upsert\\(contact\\) gives it, not a string"],
    ],
    ["an array of writes", [write.v1.customers.upsert(contact)], ["one write, .*not an array"]],
    ["the promise of a call", Promise.resolve(), ["one write, .*not a Promise"]],
    ["no operation", { contact }, ["one write, .*not an object"]],
    ["an operation that reads", { operation: "v1.customers.get", contact }, ["operation: must be one of"]],
    ["no contact", { operation }, ["contact: required"]],
    ["no listId", { operation: "v1.contactGroups.addContact", contact }, ["listId: required"]],
    [
      "further members",
      { operation, contact, event, priority: 1 },
      ["event: unknown key: this write has operation, contact and options", "priority: unknown key"],
    ],
    [
      "an option of the sender",
      { operation, contact, options: { priority: 1 } },
      ["options.priority: is no option of a write: .*audience.send"],
    ],
    [
      "a consent where there is none to leave out",
      { operation, contact, options: { consent: "service-decides" } },
      ["options.consent: is no option of a write"],
    ],
    [
      "headers that JSON loses",
      { operation, contact, options: { headers: new Headers() } },
      ["options.headers: JSON cannot carry a Headers"],
    ],
  ])("refuses what is no write, by its member: %s", async (_what, job, issues) => {
    const found = await issuesOf(job);

    expect(found).toHaveLength(issues.length);
    for (const [at, issue] of issues.entries()) expect(found[at]).toMatch(new RegExp(issue));
  });

  it("refuses a wrong value of an option as the call does, and a family without its options", async () => {
    const { audience, mock } = service();
    const { baseUrl, apiKey, fetch } = mock.clientOptions;
    const wrong = { timeoutMs: "1" };

    for (const call of [
      audience.send(write.v1.customers.upsert(contact, untyped(wrong))),
      audience.send(write.v1.customers.upsert(contact), untyped(wrong)),
      audience.send(write.v1.customers.upsert(contact), untyped({ consent: "service-decides" })),
      audience.send(write.v1.customers.upsert(contact, { headers: { "X-API-Key": "k" } })),
      audience.send(write.v2.contacts.upsert(v2Contact, { headers: { "Service-App-Id": "a" } })),
      new AudienceClient({ baseUrl, apiKey, fetch }).send(write.v2.contacts.upsert(v2Contact)),
    ])
      expect(await failureOf(call)).toBeInstanceOf(ConfigurationError);
    expect(mock.requests).toEqual([]);
  });
});

describe("write of events.define", () => {
  const eventData = { total: "42" };

  function defined() {
    const { audience, sent } = service();
    const schema = z.object({ total: z.coerce.number<string>() });
    return { audience, sent, events: audience.v1.events.define({ order_placed: schema, signed_up: null }) };
  }

  it("gives the event with what its schema makes of eventData, and sends nothing", async () => {
    const { audience, events, sent } = defined();

    const job = events.write("order_placed", { uniqueIdentifier: "order-1", contact: { email }, eventData });

    const named = { eventName: "order_placed", uniqueIdentifier: "order-1", contact: { email } };
    expect(job).toStrictEqual({
      operation: "v1.events.send",
      event: { ...named, eventData: { total: 42 } },
    });
    expect(sent()).toEqual([]);
    await audience.send(stored(job), { priority: 9 });
    expect(sent()).toMatchObject([{ body: job.event }]);
  });

  it("keeps the write's options, and an event without data", () => {
    const { events } = defined();

    expect(events.write("signed_up", { contact: { email } }, { timeoutMs: 1 })).toEqual({
      operation: "v1.events.send",
      event: { eventName: "signed_up", contact: { email } },
      options: { timeoutMs: 1 },
    });
  });

  it("throws at once what its schema or its name refuses, as who sends it does not know the schema", () => {
    const { audience, events } = defined();
    const broken = audience.v1.events.define({ order_placed: untyped({}) });

    const wrong = { contact: {}, eventData: { total: "x" } };
    const valid = { contact: { email }, eventData } as const;
    const refused = thrownBy(() => events.write("order_placed", untyped(wrong)));
    expect(refused).toMatchObject({ issues: [{ path: ["contact"] }, { path: ["eventData", "total"] }] });
    expect(thrownBy(() => events.write(untyped("order_place"), untyped(valid)))).toBeInstanceOf(
      ValidationError,
    );
    expect(thrownBy(() => broken.write("order_placed", untyped(valid)))).toBeInstanceOf(ConfigurationError);
  });
});

/** Events by these schemas, as a caller in JavaScript sends them, and the bodies that were sent. */
function defining(schemas: object) {
  const { mock, v1 } = mockedClient();
  const events = v1.events.define(untyped(schemas));
  const send = (name: unknown, given: unknown) => events.send(untyped(name), untyped(given));
  return { send, sent: () => mock.requests.map(({ body }) => body) };
}

async function issuesOfCall(call: Promise<unknown>) {
  const error = await failureOf(call);
  expect(error).toBeInstanceOf(ValidationError);
  return (error as ValidationError).issues.map(({ path, code }) => `${path.join(".")} ${code}`);
}

/** Standard Schema without a library. */
function schemaThat(validate: (value: unknown) => unknown) {
  return { "~standard": { version: 1, vendor: "test", validate } };
}

/** Accepts numbers, and doubles them. */
const doubled = schemaThat((value) => {
  const { total } = Object(value) as { total: unknown };
  return typeof total === "number"
    ? { value: { total: total * 2 } }
    : { issues: [{ message: "must be a number", path: [{ key: "total" }] }] };
});

const librarySchemas = {
  zod: z.object({ total: z.number(), at: z.date().optional() }),
  valibot: v.object({ total: v.number(), at: v.optional(v.date()) }),
  arktype: type({ total: "number", "at?": "Date" }),
};

describe.each(Object.entries(librarySchemas))("A schema of %s", (_, schema) => {
  it("accepts eventData, which is sent as JSON", async () => {
    const { send, sent } = defining({ order: schema });

    await send("order", { contact, eventData: { total: 42, at: new Date(0) }, uniqueIdentifier: "o-1" });

    const eventData = { total: 42, at: "1970-01-01T00:00:00.000Z" };
    expect(sent()).toEqual([{ eventName: "order", contact, uniqueIdentifier: "o-1", eventData }]);
  });

  it("refuses eventData with all issues, below eventData, and nothing is sent", async () => {
    const { send, sent } = defining({ order: schema });
    const call = send("order", { eventData: { total: "42", at: "x" }, uniqueIdentifier: "o-1" });

    const paths = (await issuesOfCall(call)).map((issue) => issue.split(" ")[0]);
    expect(paths).toEqual(["contact", "eventData.total", "eventData.at"]);
    await expect(call).rejects.toMatchObject({ uniqueIdentifier: "o-1", outcome: "not-sent" });
    expect(sent()).toEqual([]);
  });
});

describe("A schema", () => {
  it.each<[string, unknown, object, object]>([
    ["decides by its output what is sent", doubled, { eventData: { total: 2 } }, { eventData: { total: 4 } }],
    ["may be null: the event is sent without eventData", null, {}, {}],
  ])("%s", async (_, schema, given, data) => {
    const { send, sent } = defining({ order: schema });

    const { uniqueIdentifier } = await send("order", { contact, ...given });

    expect(sent()).toEqual([{ eventName: "order", contact, uniqueIdentifier, ...data }]);
  });

  it("may say anything: what does not show is written out in the message of its issue", async () => {
    const { send } = defining({
      order: schemaThat(() => ({ issues: [{ message: "no\u202etotal\u200b" }] })),
    });

    const { issues } = (await failureOf(send("order", { contact, eventData: {} }))) as ValidationError;

    expect(issues.map(({ message }) => message)).toEqual(["no\\u202etotal\\u200b"]);
  });

  const total = { contact, eventData: { total: 1 } };
  const refusing = (issues: unknown) => schemaThat(() => ({ issues }));

  it.each<[string, unknown, unknown, string[]]>([
    [
      "whose output JSON cannot carry",
      doubled,
      { contact, eventData: { total: Infinity } },
      ["eventData.total custom"],
    ],
    [
      "beside problems of the event",
      doubled,
      { contact: null, eventName: "other", eventData: {}, extra: 1, uniqueIdentifier: 5 },
      [
        "contact invalid_type",
        "eventData.total custom",
        "eventName custom",
        "extra unrecognized_keys",
        "uniqueIdentifier invalid_type",
      ],
    ],
    [
      "for unknown keys, each at its path",
      z.strictObject({ total: z.number() }),
      { contact, eventData: { total: 1, a: 1, b: 2 } },
      ["eventData.a unrecognized_keys", "eventData.b unrecognized_keys"],
    ],
    ["as it is null", null, { contact, eventData: {} }, ["eventData custom"]],
    ["of an event that is an array", null, [{ contact }], [" invalid_type"]],
    ["without an issue", refusing([]), total, ["eventData custom"]],
    ["with a text", refusing("no"), total, ["eventData custom"]],
    ["with null", refusing(null), total, ["eventData custom"]],
    ["with true", refusing(true), total, ["eventData custom"]],
    ["with an issue that is none", refusing([null]), total, ["eventData custom"]],
    ["without a path", refusing([{ message: "no" }]), total, ["eventData custom"]],
    ["with a path of null", refusing([{ path: null }]), total, ["eventData custom"]],
    ["with a text as its path", refusing([{ path: "a.b" }]), total, ["eventData.a.b custom"]],
    ["with null in its path", refusing([{ path: ["a", null, 0] }]), total, ["eventData.a.null.0 custom"]],
    [
      "with numbers as code and message",
      refusing([{ message: 5, code: 5, path: [Symbol("s")] }]),
      total,
      ["eventData.Symbol(s) custom"],
    ],
  ])("that refuses %s makes a ValidationError, and nothing is sent", async (_, schema, given, issues) => {
    const { send, sent } = defining({ order: schema });

    expect((await issuesOfCall(send("order", given))).toSorted()).toEqual(issues);
    expect(sent()).toEqual([]);
  });

  const later = expect.stringContaining("if it gave a promise, await it before the call") as string;
  const ofNumbers = v.pipeAsync(
    v.number(),
    v.checkAsync(async () => true),
  );

  it.each<[string, unknown, message: string]>([
    [
      "throws",
      schemaThat(() => {
        throw new RangeError("ada@example.com");
      }),
      "The schema of order failed: RangeError",
    ],
    ["answers later, of zod", z.object({ total: z.number().refine(async () => true) }), later],
    ["answers later, of valibot", v.objectAsync({ total: ofNumbers }), later],
    ["rejects", schemaThat(() => Promise.reject(new Error("later"))), later],
    ["gives nothing", schemaThat(() => undefined), later],
    ["gives an empty object", schemaThat(() => ({})), later],
    ...[{}, 7, undefined, () => ({})].map((none): [string, unknown, string] => [
      `is none, but ${typeof none}`,
      none,
      "The schema of order must be a Standard Schema, or null",
    ]),
  ])("that %s is a ConfigurationError, and nothing is sent", async (_, schema, message) => {
    const { send, sent } = defining({ order: schema });

    const error = await failureOf(send("order", { ...total, uniqueIdentifier: "o-1" }));

    expect(error).toMatchObject({ code: "configuration", outcome: "not-sent", uniqueIdentifier: "o-1" });
    expect(error.message).toEqual(message);
    expect(sent()).toEqual([]);
  });
});

it.each([
  ["orderPlaced", 'did you mean "order_placed"?'],
  ["order_place", "the names are: order_placed, signed_up"],
  ["toString", "the names are: order_placed, signed_up"],
  [undefined, "the names are: order_placed, signed_up"],
])("A call with a name that is not defined rejects: %s", async (name, hint) => {
  const { send, sent } = defining({ order_placed: doubled, signed_up: null });

  expect(await failureOf(send(name, { contact }))).toMatchObject({
    issues: [{ path: ["eventName"], message: `is not the name of a defined event: ${hint}` }],
  });
  expect(sent()).toEqual([]);
});
