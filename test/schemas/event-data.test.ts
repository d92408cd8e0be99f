import { runInNewContext } from "node:vm";
import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { v1EventSchema } from "audience-sdk/schemas";
import { describe, expect, it } from "vitest";
import { messageAt, verdict } from "./issues.ts";

const contact = { email: "ada@example.com" };
const order = { eventName: "order placed", contact };

const withData = (eventData: unknown) => ({ ...order, eventData });

const mock = createMockService();
const { v1 } = new AudienceClient(mock.clientOptions);

/** The event data that arrives. */
async function arriving(eventData: Record<string, unknown>): Promise<unknown> {
  await v1.events.send({ ...order, eventData });
  return (mock.requests.at(-1)!.body as { eventData: unknown }).eventData;
}

describe("eventData of a custom event is free JSON", () => {
  it("an object of any depth is sent unchanged", async () => {
    const data = {
      total: 12.5,
      items: [{ sku: "a", n: 1 }, ["x", [true, ""]]],
      empty: {},
      none: [],
      "": "x",
    };
    expect(v1EventSchema.parse(withData(data)).eventData).toEqual(data);
    expect(await verdict(v1EventSchema, withData({}))).toEqual([]);
  });

  it("undefined omits a key, and is refused as an item of an array", async () => {
    expect(await arriving({ a: undefined, b: 1 })).toEqual({ b: 1 });
    expect(await verdict(v1EventSchema, withData({ a: [1, undefined] }))).toEqual(["eventData.a.1 custom"]);
  });

  class Order {
    id = 5;
    get total() {
      return 1;
    }
  }
  class Tagged {
    id = 5;
    get [Symbol.toStringTag]() {
      return "Order";
    }
  }
  class Secretive {
    #id = 5;
    get id() {
      return this.#id;
    }
  }
  it.each([
    ["null", null],
    ["NaN", NaN],
    ["Infinity", -Infinity],
    ["a BigInt", 5n],
    ["a function", () => 1],
    ["a symbol", Symbol("s")],
    ["a Map", new Map([["a", 1]])],
    ["a Set", new Set([1])],
    ["a RegExp", /x/],
    ["an Error", new Error("x")],
    ["a typed array", new Uint8Array([1])],
    ["an ArrayBuffer", new ArrayBuffer(1)],
    ["a Promise", Promise.resolve(1)],
    ["an invalid Date", new Date(NaN)],
    ["a boxed string", Object("x")],
    ["an instance without public fields", new Secretive()],
    ["a value whose toJSON returns null", { toJSON: () => null }],
    ["a value whose toJSON returns undefined", { toJSON: () => undefined }],
    ["a value whose toJSON returns a Map", { toJSON: () => new Map([["a", 1]]) }],
    [
      "a value whose toJSON throws",
      {
        toJSON: () => {
          throw new Error("no");
        },
      },
    ],
  ])("%s is refused at its path", async (_, value) => {
    const [first, ...more] = await verdict(v1EventSchema, withData({ a: { b: [value] } }));
    expect(first).toBe("eventData.a.b.0 custom");
    expect(more).toEqual([]);
  });

  it("a value with toJSON counts as the result of toJSON, and an instance as its public properties", async () => {
    const data = {
      at: new Date(0),
      url: new URL("https://example.com/"),
      order: new Order(),
      tagged: new Tagged(),
      own: { toJSON: () => [1] },
      named: { toJSON: (key: string) => key },
      [Symbol("hidden")]: 1,
    };
    expect(await arriving(data)).toEqual({
      at: "1970-01-01T00:00:00.000Z",
      url: "https://example.com/",
      order: { id: 5 },
      tagged: { id: 5 },
      own: [1],
      named: "named",
    });
  });

  it.each([
    ["a string", "x"],
    ["an array", [1]],
  ])("an object whose toJSON returns %s is refused", async (given, rendered) => {
    const data = { toJSON: () => rendered };
    expect(await messageAt(v1EventSchema, withData(data), "eventData")).toBe(
      `must be an object, not ${given}`,
    );
  });

  it("a plain object of another realm is accepted", async () => {
    const data = runInNewContext("({ total: 12.5, none: {} })") as Record<string, unknown>;
    expect(await arriving(data)).toEqual({ total: 12.5, none: {} });
  });

  it("at most a hundred issues are reported", async () => {
    const data = Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`key ${at}`, null]));
    expect(await verdict(v1EventSchema, withData(data))).toHaveLength(100);
  });

  it("the body is the data at the time of the call", async () => {
    const data = { items: [1] };
    const arrived = arriving(data);
    data.items.push(2);
    expect(await arrived).toEqual({ items: [1] });
  });

  it("one object at two paths is no cycle; an object in itself is a cycle", async () => {
    const address = { city: "Berlin" };
    expect(await verdict(v1EventSchema, withData({ from: address, to: address }))).toEqual([]);
    const cycle: Record<string, unknown> = { name: "x" };
    cycle["self"] = cycle;
    expect(await verdict(v1EventSchema, withData(cycle))).toEqual(["eventData.self custom"]);
  });
});
