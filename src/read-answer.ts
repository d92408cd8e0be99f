import type * as z from "zod";
import { explain, readIssues } from "./schema/issues.ts";
import { UnreadableAnswer } from "./unreadable-answer.ts";

const shownIssues = 3;

/** A response's body as it came, once its schema has found in it what is needed. */
export function readAnswer<Value>(schema: z.ZodType<Value>, body: unknown): Value {
  const { error } = schema.safeParse(body, { error: explain });
  // Safe: the schemas have no transforms.
  if (!error) return body as Value;
  const issues = readIssues(error).slice(0, shownIssues);
  const problems = issues.map(({ path, message }) => `${path.join(".") || "the body"}: ${message}`);
  throw new UnreadableAnswer(`its body is not what is documented: ${problems.join("; ")}`);
}
