import type * as z from "zod";
import { UnreadableAnswer } from "./unreadable-answer.ts";
import { readIssues } from "./validate.ts";

const shownIssues = 3;

/** An answer's body, once its schema has found in it what is needed. Unknown fields are kept. */
export function readAnswer<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  const issues = readIssues(result.error).slice(0, shownIssues);
  const problems = issues.map(({ path, message }) => `${path.join(".") || "the body"}: ${message}`);
  throw new UnreadableAnswer(`its body is not what is documented: ${problems.join("; ")}`);
}
