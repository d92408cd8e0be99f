import { readJson } from "./read-json.ts";
import { free } from "./free.ts";
import { isRecord } from "../is-object.ts";
import type { FreeField, Payload } from "./field.ts";
import { isArray } from "./is-array.ts";

/** Any value that JSON can carry, but `null`; `undefined` is a field left out. The value that comes out is a copy. */
/*! @__NO_SIDE_EFFECTS__ */
export function jsonValue(): FreeField {
  return free((payload) => {
    if (payload.value !== undefined) payload.value = readJson(payload.value, report(payload));
  }, {});
}

/** An object of free keys with values that JSON can carry ("Custom event": `eventData`). The value that comes out is a copy. */
/*! @__NO_SIDE_EFFECTS__ */
export function jsonObject(): FreeField<Record<string, unknown>> {
  return free(
    (payload) => {
      const { value } = payload;
      if (!isRecord(value)) {
        payload.issues.push({ code: "invalid_type", expected: "object", input: value });
        return;
      }
      const issuesBefore = payload.issues.length;
      const copy = readJson(value, report(payload));
      payload.value = copy;
      if (payload.issues.length > issuesBefore) return;
      if (typeof copy !== "object" || isArray(copy)) {
        const message = "must be an object; its toJSON gives something else";
        payload.issues.push({ code: "invalid_type", expected: "object", input: value, message });
      }
    },
    { type: "object", additionalProperties: {} },
  );
}

function report(payload: Payload) {
  return (path: (string | number)[], message: string) => {
    payload.issues.push({ code: "custom", path, message, continue: true });
  };
}
