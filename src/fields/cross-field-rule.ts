import type { Payload, Rule } from "./field.ts";
import { isRecord } from "../is-object.ts";

/** What a rule over several fields found wrong. */
export interface Breach {
  readonly path: (string | number)[];
  readonly message: string;
}

/**
 * A rule over several fields of an object, as a rule of that object. It is judged even where single fields are wrong, so that all
 * problems are reported at once; it therefore gets the fields as they came, of any type.
 */
export function crossFieldRule(findBreaches: (fields: Record<string, unknown>) => Breach[]): Rule {
  return {
    when: isObject,
    judge: ({ value, issues }) => {
      // True: `when` has let only objects through.
      for (const breach of findBreaches(value as Record<string, unknown>)) {
        issues.push({ code: "custom", continue: true, ...breach });
      }
    },
  };
}

/** Not where the input itself was refused: then there are no fields. */
function isObject(payload: Payload): boolean {
  const { value, issues } = payload;
  if (!isRecord(value)) return false;
  return !issues.some((issue) => (issue.path ?? []).length === 0 && issue.code === "invalid_type");
}
