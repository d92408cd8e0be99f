import * as z from "zod";

import { wrongType } from "./explain.ts";
import { readJson } from "./read-json.ts";
import { shownAs } from "./json-schema.ts";

/** Any value that JSON can carry, but `null`; `undefined` is a field left out. The value that comes out is a copy. */
export function jsonValue(): z.ZodUnknown {
  return z.unknown().check((payload) => {
    if (payload.value !== undefined) payload.value = readJson(payload.value, report(payload));
  });
}

type FreeObject = z.ZodType<Record<string, unknown>, Record<string, unknown>>;

/** An object of free keys with values that JSON can carry ("Custom event": `eventData`). The value that comes out is a copy. */
export function jsonObject(): FreeObject {
  const schema = z.unknown().check((payload) => {
    const { value } = payload;
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      const message = wrongType("an object", value);
      payload.issues.push({ code: "invalid_type", expected: "object", input: value, message });
      return;
    }
    const issuesBefore = payload.issues.length;
    const copy = readJson(value, report(payload));
    payload.value = copy;
    if (payload.issues.length > issuesBefore) return;
    if (typeof copy !== "object" || Array.isArray(copy)) {
      const message = "must be an object; its toJSON gives something else";
      payload.issues.push({ code: "invalid_type", expected: "object", input: value, message });
    }
  });
  // True: the check refuses anything but an object.
  return shownAs(schema, { type: "object", additionalProperties: {} }) as unknown as FreeObject;
}

function report(payload: z.core.ParsePayload) {
  return (path: (string | number)[], message: string) => {
    payload.issues.push({ code: "custom", input: undefined, path, message, continue: true });
  };
}
