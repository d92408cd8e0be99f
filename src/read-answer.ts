import { validate } from "./validate.ts";
import type { Field, ValueOf } from "./fields/field.ts";
import { ValidationError } from "./errors.ts";
import { UnreadableAnswer } from "./unreadable-answer.ts";

const shownIssues = 3;

/** An answer's body, once its definition has found in it what is needed. Unknown fields are kept. */
export function readAnswer<F extends Field>(field: F, body: unknown): ValueOf<F> {
  try {
    return validate(field, body);
  } catch (error) {
    /* v8 ignore next -- @preserve a defect of our own */
    if (!(error instanceof ValidationError)) throw error;
    const issues = error.issues.slice(0, shownIssues);
    const problems = issues.map(({ path, message }) => `${path.join(".") || "the body"}: ${message}`);
    throw new UnreadableAnswer(`its body is not what is documented: ${problems.join("; ")}`);
  }
}
