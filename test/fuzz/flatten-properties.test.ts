import { flattenProperties, type FlattenOptions } from "audience-sdk/schemas";
import { it } from "vitest";
import { tryEntryPoint } from "./try-entry-point.ts";
import { validEvent, validIdentifier, validQuery, validV1Contact, validV2Contact } from "./valid-inputs.ts";

/** One accepted input of each kind. */
const valid = [validV1Contact, validEvent, validV2Contact, validIdentifier, validQuery];

it("For any arguments, flattenProperties returns flat properties or throws an SDK error", async () => {
  const act = (value: unknown, options: unknown) =>
    // A caller in JavaScript can pass this.
    flattenProperties(value as object, options as FlattenOptions);
  await tryEntryPoint({ act, argumentCount: 2, valid: [valid, [{ separator: "." }]] }, 200);
});
