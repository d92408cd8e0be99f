import * as entry from "audience-sdk/schemas";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { verdict } from "../schemas/judge.ts";

const schemas = Object.entries<unknown>(entry).flatMap(([name, value]): [string, z.ZodObject][] =>
  value instanceof z.ZodObject ? [[name, value]] : [],
);

/** An object whose field throws as often as this says, and is a text from then on. */
function throwing(field: string, times: number, rest: object = {}): object {
  let left = times;
  return Object.defineProperty({ ...rest }, field, {
    enumerable: true,
    get: () => {
      if (left-- > 0) throw new Error("hands off");
      return "x";
    },
  });
}

describe.each(schemas)("%s finds an issue, and the client the same,", (_, schema) => {
  const fields = Object.keys(schema.shape);

  it.each(fields)("where %s cannot be read once", (field) => {
    // The schema and the client read a value each.
    expect(schema.safeParse(throwing(field, 1)).success).toBe(false);
  });

  it.each(fields)("where %s can never be read", (field) => {
    expect(verdict(schema, throwing(field, Infinity))).toContain(`${field} custom`);
  });
});

it("An answer inside whose data a field cannot be read once is refused too", () => {
  const { success } = entry.v1ProfileSchema.safeParse({ data: throwing("id", 1) });
  expect(success).toBe(false);
});

it("What throws a second time while it is looked for who threw is an issue", () => {
  expect(entry.v1ContactSchema.safeParse(throwing("email", 1, { phone: "+15550100" })).success).toBe(false);
  let reads = 0;
  const everySecond = {
    get email() {
      if (reads++ % 2 === 0) throw new Error("hands off");
      return "ada@example.com";
    },
  };
  expect(entry.v1ContactSchema.safeParse(everySecond).success).toBe(false);
});

describe("A check that the user added throws what is theirs", () => {
  const theirs = entry.v1ContactSchema.refine(() => {
    throw new RangeError("of the user");
  });

  it.each([
    ["on a contact", { email: "ada@example.com" }],
    [
      "on an instance with getters",
      new (class {
        get email() {
          return "ada@example.com";
        }
      })(),
    ],
  ])("%s", (_, contact) => {
    expect(() => theirs.safeParse(contact)).toThrow("of the user");
  });

  it("on what is no object, where it asks to be heard whatever came", () => {
    const always = entry.v1ContactSchema.superRefine(
      () => {
        throw new RangeError("of the user");
      },
      { when: () => true },
    );
    expect(() => always.safeParse("ada")).toThrow("of the user");
  });
});
