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

/** Standard Schema without a library. */
function schemaThat(validate: (value: unknown) => unknown): StandardSchema<{ total: number }> {
  return { "~standard": { version: 1, vendor: "test", validate: untyped(validate) } };
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

describe("A schema", () => {
  it("decides what is sent by its output", async () => {
    const { v1, sent } = service();
    const events = v1.events.define({ order: doubled });
    const result = await events.send("order", { contact, eventData: { total: 2 } });

    expect(sent()).toEqual([
      { eventName: "order", contact, eventData: { total: 4 }, uniqueIdentifier: result.uniqueIdentifier },
    ]);
  });

  it("is refused for an output that JSON cannot carry", async () => {
    const { v1, sent } = service();
    const events = v1.events.define({ order: doubled });

    expect(await issuesOf(events.send("order", { contact, eventData: { total: Infinity } }))).toEqual([
      "eventData.total custom",
    ]);
    expect(sent()).toEqual([]);
  });

  it("judges a value that only its output makes JSON", async () => {
    const { v1, sent } = service();
    const events = v1.events.define({ order: z.object({ total: z.bigint().transform(String) }) });
    await events.send("order", { contact, eventData: { total: 5n } });

    expect(sent()).toMatchObject([{ eventData: { total: "5" } }]);
  });

  it("reports the problems of the event and of its data at once", async () => {
    const { v1 } = service();
    const events = v1.events.define({ order: doubled });
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
    const events = v1.events.define({ order: doubled, signed_up: null });
    await Promise.all([
      events.send("order", { contact, eventData: { total: 1 } }),
      events.send("signed_up", { contact }),
    ]);

    expect(sent()).toMatchObject([{ eventName: "order" }, { eventName: "signed_up" }]);
  });

  it("is a write of its row in bulk, and a refusal makes the row invalid", async () => {
    const { v1, bulk, sent } = service();
    const events = v1.events.define({ order: doubled });
    const rows = [{ total: 1 }, { total: untyped("x") }];
    const ends: string[] = [];
    for await (const { status } of bulk(rows, (eventData) => events.write("order", { contact, eventData })))
      ends.push(status);

    expect(ends.sort()).toEqual(["invalid", "succeeded"]);
    expect(sent()).toMatchObject([{ eventData: { total: 2 } }]);
  });

  it("that throws is a ConfigurationError, which does not show the message of its error", async () => {
    const { v1, sent } = service();
    const schema = schemaThat(() => {
      throw new RangeError("ada@example.com");
    });
    const events = v1.events.define({ order: schema });
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

describe("A schema that refuses", () => {
  const unusual: (readonly [string, unknown, string[]])[] = [
    ["without an issue", [], ["eventData custom"]],
    ["with a text", "no", ["eventData custom"]],
    ["with null", null, ["eventData custom"]],
    ["with true", true, ["eventData custom"]],
    ["with an issue that is none", [null], ["eventData custom"]],
    ["without a path", [{ message: "no" }], ["eventData custom"]],
    ["with a path of null", [{ message: "no", path: null }], ["eventData custom"]],
    ["with a text as its path", [{ message: "no", path: "a.b" }], ["eventData.a.b custom"]],
    ["with null in its path", [{ message: "no", path: ["a", null, 0] }], ["eventData.a.null.0 custom"]],
    [
      "with numbers as code and message",
      [{ message: 5, code: 5, path: [Symbol("s")] }],
      ["eventData.Symbol(s) custom"],
    ],
  ];
  it.each(unusual)("%s makes a ValidationError, and nothing is sent", async (_, issues, expected) => {
    const { v1, sent } = service();
    const events = v1.events.define({ order: schemaThat(() => ({ issues })) });

    expect(await issuesOf(events.send("order", { contact, eventData: { total: 1 } }))).toEqual(expected);
    expect(sent()).toEqual([]);
  });
});

describe("A schema that answers later, or with no result, is a ConfigurationError, and nothing is sent", () => {
  it.each([
    ["zod", z.object({ total: z.number().refine(async () => true) })],
    [
      "valibot",
      v.objectAsync({
        total: v.pipeAsync(
          v.number(),
          v.checkAsync(async () => true),
        ),
      }),
    ],
    ["a rejection", schemaThat(() => Promise.reject(new Error("later")))],
    ["nothing", schemaThat(() => undefined)],
    ["an empty object", schemaThat(() => ({}))],
  ])("%s", async (_, schema) => {
    const { v1, sent } = service();
    const events = v1.events.define({ order: untyped(schema) });
    const error = await failureOf(events.send("order", untyped({ contact, eventData: { total: 1 } })));

    expect(error).toMatchObject({ code: "configuration", outcome: "not-sent" });
    expect(error.message).toContain("if it gave a promise, await it before the call");
    expect(sent()).toEqual([]);
  });
});

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
