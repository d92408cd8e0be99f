import type { JsonSchema, Payload, Rule } from "./field.ts";

/** What a rule over several fields found wrong. */
export interface Breach {
  readonly path: (string | number)[];
  readonly message: string;
}

/**
 * A rule over several fields of an object, as a rule of that object. It is judged even where single fields are wrong, so that all
 * problems are reported at once; it therefore gets the fields as they came, of any type.
 */
/*! @__NO_SIDE_EFFECTS__ */
export function crossFieldRule(
  findBreaches: (fields: Record<string, unknown>) => Breach[],
  shown?: JsonSchema,
): Rule {
  return {
    shown,
    when: hasFields,
    judge: ({ value, issues }) => {
      // True: what is no object was refused.
      for (const breach of findBreaches(value as Record<string, unknown>)) {
        issues.push({ code: "custom", continue: true, ...breach });
      }
    },
  };
}

/** Where the input itself was refused, there are no fields. */
function hasFields({ issues }: Payload): boolean {
  return !issues.some(({ path = [] }) => path.length === 0);
}
