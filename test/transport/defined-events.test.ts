import { type } from "arktype";
import { AudienceClient, ConfigurationError, ValidationError, type StandardSchema } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { failureOf } from "./failure.ts";

const contact = { email: "ada@example.com" };

function service() {
  const mock = createMockService();
  const { v1, bulk } = new AudienceClient(mock.clientOptions);
  const sent = () => mock.requests.map(({ body }) => body);
  return { mock, v1, bulk, sent };
}

/** What a caller in JavaScript can pass. */
const untyped = (value: unknown): never => value as never;

async function issuesOf(call: Promise<unknown>) {
  const error = await failureOf(call);
  expect(error).toBeInstanceOf(ValidationError);
  return (error as ValidationError).issues.map(({ path, code }) => `${path.join(".")} ${code}`);
}

/** Standard Schema without a library: accepts numbers, in 0 or more turns, and doubles them. */
function doubled(turns: number): StandardSchema<{ total: number }> {
  const judge = (value: unknown) => {
    const { total } = Object(value) as { total: unknown };
    return typeof total === "number"
      ? { value: { total: total * 2 } }
      : { issues: [{ message: "must be a number", path: [{ key: "total" }] }] };
  };
  const later = async (value: unknown) => {
    for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    return judge(value);
  };
  return { "~standard": { version: 1, vendor: "test", validate: turns === 0 ? judge : later } };
}

const librarySchemas = {
  zod: z.object({ total: z.number(), at: z.date().optional() }),
  valibot: v.object({ total: v.number(), at: v.optional(v.date()) }),
  arktype: type({ total: "number", "at?": "Date" }),
  "zod, asynchronous": z.object({ total: z.number().refine(async () => true), at: z.date().optional() }),
  "valibot, asynchronous": v.objectAsync({
    total: v.pipeAsync(
      v.number(),
      v.checkAsync(async () => true),
    ),
    at: v.optional(v.date()),
  }),
};

describe.each(Object.entries(librarySchemas))("A schema of %s", (_, schema) => {
  it("accepts eventData, which is sent as JSON", async () => {
    const { v1, sent } = service();
    const events = v1.events.define({ order: untyped(schema) });
    const at = new Date(0);
    const { data } = await events
      .send("order", untyped({ contact, eventData: { total: 42, at }, uniqueIdentifier: "o-1" }))
      .withResponse();

    expect(data).toMatchObject({ uniqueIdentifier: "o-1" });
    expect(sent()).toEqual([
      {
        eventName: "order",
        contact,
        uniqueIdentifier: "o-1",
        eventData: { total: 42, at: "1970-01-01T00:00:00.000Z" },
      },
    ]);
  });

  it("refuses eventData with all issues, below eventData, and nothing is sent", async () => {
    const { v1, sent } = service();
    const events = v1.events.define({ order: untyped(schema) });
    const call = events.send(
      "order",
      untyped({ eventData: { total: "42", at: "x" }, uniqueIdentifier: "o-1" }),
    );

    const paths = (await issuesOf(call)).map((issue) => issue.split(" ")[0]);
    expect(paths).toEqual(["contact", "eventData.total", "eventData.at"]);
    await expect(call).rejects.toMatchObject({ uniqueIdentifier: "o-1", outcome: "not-sent" });
    expect(sent()).toEqual([]);
  });

  it("refuses eventData that is missing", async () => {
    const { v1 } = service();
    const events = v1.events.define({ order: untyped(schema) });

    expect((await issuesOf(events.send("order", untyped({ contact }))))[0]).toMatch(/^eventData/);
  });
});

describe.each([0, 3])("A schema that takes %d turns", (turns) => {
  it("decides what is sent by its output", async () => {
    const { v1, sent } = service();
    const events = v1.events.define({ order: doubled(turns) });
    const result = await events.send("order", { contact, eventData: { total: 2 } });

    expect(sent()).toEqual([
      { eventName: "order", contact, eventData: { total: 4 }, uniqueIdentifier: result.uniqueIdentifier },
    ]);
  });

  it("is refused for an output that JSON cannot carry", async () => {
    const { v1, sent } = service();
    const events = v1.events.define({ order: doubled(turns) });

    expect(await issuesOf(events.send("order", { contact, eventData: { total: Infinity } }))).toEqual([
      "eventData.total custom",
    ]);
    expect(sent()).toEqual([]);
  });

  it("judges a value that only its output makes JSON", async () => {
    const { v1, sent } = service();
    const text = z.object({ total: z.bigint().transform(String) });
    const schema = turns === 0 ? text : text.refine(async () => true);
    const events = v1.events.define({ order: schema });
    await events.send("order", { contact, eventData: { total: 5n } });

    expect(sent()).toMatchObject([{ eventData: { total: "5" } }]);
  });

  it("reports the problems of the event and of its data at once", async () => {
    const { v1 } = service();
    const events = v1.events.define({ order: doubled(turns) });
    const event = { contact: null, eventName: "other", eventData: {}, extra: 1, uniqueIdentifier: 5 };

    expect((await issuesOf(events.send("order", untyped(event)))).sort()).toEqual([
      "contact invalid_type",
      "eventData.total custom",
      "eventName custom",
      "extra unrecognized_keys",
      "uniqueIdentifier invalid_type",
    ]);
  });

  it("keeps the call's position in the order of writes to its contact", async () => {
    const { v1, sent } = service();
    const events = v1.events.define({ order: doubled(turns), signed_up: null });
    await Promise.all([
      events.send("order", { contact, eventData: { total: 1 } }),
      events.send("signed_up", { contact }),
    ]);

    expect(sent()).toMatchObject([{ eventName: "order" }, { eventName: "signed_up" }]);
  });

  it("is a call of its row in bulk, and a refusal makes the row invalid", async () => {
    const { v1, bulk, sent } = service();
    const events = v1.events.define({ order: doubled(turns) });
    const rows = [{ total: 1 }, { total: untyped("x") }];
    const ends: string[] = [];
    for await (const { status } of bulk(rows, (eventData, request) =>
      events.send("order", { contact, eventData }, request),
    ))
      ends.push(status);

    expect(ends.sort()).toEqual(["invalid", "succeeded"]);
    expect(sent()).toMatchObject([{ eventData: { total: 2 } }]);
  });

  it("that throws is a ConfigurationError, which does not show the message of its error", async () => {
    const { v1, sent } = service();
    const validate = () => {
      throw new RangeError("ada@example.com");
    };
    const standard = {
      version: 1,
      vendor: "test",
      validate: turns === 0 ? validate : async () => validate(),
    };
    const events = v1.events.define({ order: untyped({ "~standard": standard }) });
    const error = await failureOf(events.send("order", untyped({ contact, uniqueIdentifier: "o-1" })));

    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({
      message: "The schema of order failed: RangeError",
      outcome: "not-sent",
      uniqueIdentifier: "o-1",
    });
    expect(sent()).toEqual([]);
  });
});

describe("While an asynchronous schema is at work", () => {
  const never: StandardSchema<object> = {
    "~standard": { version: 1, vendor: "test", validate: () => new Promise(() => {}) },
  };

  it("a call, valid or not, ends at its signal, and is never sent", async () => {
    const { v1, sent } = service();
    const events = v1.events.define({ order: never });
    const { signal, abort } = aborter();
    const calls = [{ contact }, { contact: {} }].map((event) =>
      failureOf(events.send("order", untyped({ ...event, eventData: {} }), { signal })),
    );
    abort();

    expect(await Promise.all(calls)).toMatchObject([{ code: "aborted" }, { code: "aborted" }]);
    expect(sent()).toEqual([]);
  });

  it("close() ends the call", async () => {
    const { v1 } = service();
    const failure = failureOf(v1.events.define({ order: never }).send("order", { contact, eventData: {} }));
    await v1.close();

    expect(await failure).toMatchObject({ code: "closed", outcome: "not-sent" });
  });

  it("a call that was aborted before handles what the schema rejects with", async () => {
    const { v1 } = service();
    const { signal, abort } = aborter();
    const events = v1.events.define({ order: doubled(2) });
    abort();

    expect(await failureOf(events.send("order", untyped({ contact }), { signal }))).toMatchObject({
      code: "aborted",
    });
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  });
});

function aborter() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

describe("An event with null for a schema", () => {
  it("is sent without eventData", async () => {
    const { v1, sent } = service();
    await v1.events.define({ signed_up: null }).send("signed_up", { contact, uniqueIdentifier: "s-1" });

    expect(sent()).toEqual([{ eventName: "signed_up", contact, uniqueIdentifier: "s-1" }]);
  });

  it("takes no eventData", async () => {
    const { v1, sent } = service();
    const call = v1.events.define({ signed_up: null }).send("signed_up", untyped({ contact, eventData: {} }));

    expect(await issuesOf(call)).toEqual(["eventData custom"]);
    expect(sent()).toEqual([]);
  });
});

describe("A call never throws at once: it rejects", () => {
  const schemas = { order_placed: z.strictObject({ total: z.number() }), signed_up: null };

  it.each([
    ["orderPlaced", 'write "order_placed"'],
    ["toString", "the names are: order_placed, signed_up"],
    [undefined, "the names are: order_placed, signed_up"],
  ])("a name that is not defined: %s", async (name, hint) => {
    const { v1, sent } = service();
    const call = v1.events.define(schemas).send(untyped(name), untyped({ contact }));

    expect(await failureOf(call)).toMatchObject({
      issues: [{ path: ["eventName"], message: `is not the name of a defined event: ${hint}` }],
    });
    expect(sent()).toEqual([]);
  });

  it.each([[undefined], [null], ["order_placed"], [[{ contact }]]])("an event that is %j", async (event) => {
    const { v1 } = service();

    expect(await issuesOf(v1.events.define(schemas).send("signed_up", untyped(event)))).toEqual([
      " invalid_type",
    ]);
  });

  it("an event with a getter that throws", async () => {
    const { v1 } = service();
    const event = {
      get eventData() {
        throw new Error("secret");
      },
    };

    expect(await issuesOf(v1.events.define(schemas).send("signed_up", untyped(event)))).toEqual([" custom"]);
  });

  it.each([[{}], [7], [undefined], [() => ({})]])("a schema that is none: %s", async (schema) => {
    const { v1 } = service();
    const failure = failureOf(
      v1.events.define({ order: untyped(schema) }).send("order", untyped({ contact })),
    );

    expect(await failure).toMatchObject({
      code: "configuration",
      message: "The schema of order must be a Standard Schema, or null",
    });
  });

  it("no schemas at all", async () => {
    const { v1 } = service();

    const call = v1.events.define(untyped(null)).send(untyped("order"), untyped({ contact }));

    await expect(call).rejects.toThrow("eventName: is not the name of a defined event: the names are: none");
  });
});

it("an unknown key of eventData is an issue at its path", async () => {
  const { v1 } = service();
  const events = v1.events.define({ order: z.strictObject({ total: z.number() }) });
  const eventData = untyped({ total: 1, a: 1, b: 2 });

  expect(await issuesOf(events.send("order", { contact, eventData }))).toEqual([
    "eventData.a unrecognized_keys",
    "eventData.b unrecognized_keys",
  ]);
});

it("an issue without a path lies at eventData", async () => {
  const { v1 } = service();
  const schema: StandardSchema<object> = {
    "~standard": { version: 1, vendor: "test", validate: () => ({ issues: [{ message: "no" }] }) },
  };

  expect(
    await issuesOf(v1.events.define({ order: schema }).send("order", { contact, eventData: {} })),
  ).toEqual(["eventData custom"]);
});
