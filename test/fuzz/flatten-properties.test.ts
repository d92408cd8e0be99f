import { flattenProperties, type FlattenOptions } from "audience-sdk/schemas";
import { it } from "vitest";
import { tryEntryPoint } from "./try-entry-point.ts";
import { validEvent, validIdentifier, validQuery, validV1Contact, validV2Contact } from "./valid-inputs.ts";

/** Of each kind of input one that is accepted. */
const right = [validV1Contact, validEvent, validV2Contact, validIdentifier, validQuery];

it("Whatever is given to flattenProperties, it gives flat properties or an error of ours", async () => {
  const act = (value: unknown, options: unknown) =>
    // As a caller without types may.
    flattenProperties(value as object, options as FlattenOptions);
  await tryEntryPoint({ act, argumentCount: 2, valid: [right, [{ separator: "." }]] }, 200);
});
