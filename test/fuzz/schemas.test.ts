import * as entry from "audience-sdk/schemas";
import { describe, it } from "vitest";
import * as z from "zod";
import { rightEvent, rightIdentifier, rightQuery, rightV1Contact, rightV2Contact } from "./right.ts";
import { tryDoor } from "./trial.ts";

/** Of each kind of input one that is accepted. */
const right = [rightV1Contact, rightEvent, rightV2Contact, rightIdentifier, rightQuery];

/** Made for what JSON.parse gives, which has no getters and no traps: what the service answers is tried elsewhere. */
const ofAnswers = ["v1ProfileSchema", "v1AddContactResultSchema", "v2ListPageSchema"];

const schemas = Object.entries<unknown>(entry).flatMap(([name, value]): [string, z.ZodType][] =>
  value instanceof z.ZodType && !ofAnswers.includes(name) ? [[name, value]] : [],
);

describe("Whatever is given to a schema, its safeParse gives a result", () => {
  it.each(schemas)("%s", async (_, schema) => {
    const act = (value: unknown) => {
      const { success, data } = schema.safeParse(value);
      // What is judged right can be sent.
      if (success) JSON.stringify(data);
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
