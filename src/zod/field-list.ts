import * as z from "zod";

import type { FoundIssue } from "../fields/field.ts";
import { findHoles } from "../fields/list.ts";
import { findUnreadable, unreadable } from "../fields/unreadable.ts";
import { fieldClass } from "./field-class.ts";

/**
 * A zod array that does not walk through holes (`new Array(4e9)` would take it minutes), and that reports an item
 * whose reading throws instead of letting it escape.
 */
export const FieldList = fieldClass<z.ZodArray, z.core.$ZodArrayDef>(
  "AudienceFieldList",
  z.ZodArray,
  (schema) => {
    const parse = schema._zod.parse;
    schema._zod.parse = (payload, context) => {
      const input: unknown = payload.value;
      let issue: FoundIssue | undefined;
      try {
        issue = Array.isArray(input) ? findHoles(input) : undefined;
        if (issue === undefined) return parse(payload, context);
      } catch {
        // What throws but once is the input's doing too: nobody can add a check of an item.
        issue = findUnreadable(input) ?? unreadable();
      }
      // True: an issue of ours is one of zod's.
      payload.issues.push(issue as z.core.$ZodRawIssue);
      return payload;
    };
  },
);
