import * as entry from "audience-sdk/schemas";
import { describe, it } from "vitest";
import * as z from "zod";
import { rightEvent, rightIdentifier, rightQuery, rightV1Contact, rightV2Contact } from "./right.ts";
import { tryDoor } from "./trial.ts";

/** Of each kind of input one that is accepted. */
const right = [
  rightV1Contact,
  rightEvent,
  rightV2Contact,
  rightIdentifier,
  rightQuery,
  { data: { id: "contact-1", attributes: { email: "ada@example.com" } }, links: { self: "x" } },
  { message: "m", contact: { email: "ada@example.com", contactUUID: "contact-1", action: "created" } },
  { success: true, data: { lists: [{ uuid: "list-1", name: "n" }], current_page: 1, total_pages: 1 } },
];

/** Made for what JSON gives: what they keep unseen need not be JSON. */
const ofAnswers = ["v1ProfileSchema", "v1AddContactResultSchema", "v2ListPageSchema"];

const schemas = Object.entries<unknown>(entry).flatMap(([name, value]): [string, z.ZodType][] =>
  value instanceof z.ZodType ? [[name, value]] : [],
);

describe("Whatever is given to a schema, its safeParse gives a result", () => {
  it.each(schemas)("%s", async (name, schema) => {
    const act = (value: unknown) => {
      const { success, data } = schema.safeParse(value);
      // What is judged right can be sent.
      if (success && !ofAnswers.includes(name)) JSON.stringify(data);
    };
    await tryDoor({ act, right: [right] }, 100);
  });
});

it("Whatever is given to flattenProperties, it gives flat properties or an error of ours", async () => {
  const act = (value: unknown, options: unknown) =>
    // As a caller without types may.
    entry.flattenProperties(value as object, options as entry.FlattenOptions);
  await tryDoor({ act, takes: 2, right: [right, [{ separator: "." }]] }, 200);
});
