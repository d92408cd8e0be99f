import * as z from "zod";
import { ConfigurationError, ValidationError, type ValidationIssue } from "../errors.ts";
import type { RateLimiter } from "../rate-limiter/rate-limiter.ts";
import { errorMessage, ignoreRejection, optionTypes, parseOption } from "../schema/parse-options.ts";
import { toIssues } from "../schema/validation-issues.ts";
import { RowSource } from "./row-source.ts";

const resultSchema = z.discriminatedUnion("success", [
  z.object({ success: z.literal(true) }),
  z.object({
    success: z.literal(false),
    error: z.object({ issues: z.array(z.object({ path: z.array(z.unknown()) })) }),
  }),
]);

/** The result of `bulk.check`. */
export interface BulkCheck {
  /** The number of rows. */
  readonly total: number;
  /** The number of valid rows. */
  readonly valid: number;
  /** The invalid rows: the index in the source, from 0, and all problems. */
  readonly invalid: { readonly index: number; readonly issues: readonly ValidationIssue[] }[];
  /** The time to send the valid rows, in milliseconds, at one call a row, as the rate limiter estimates it. */
  readonly estimateMs: number;
}

/** The result of a schema's `safeParse`. */
export type CheckResult = { readonly success: true } | { readonly success: false; readonly error: unknown };

export async function checkRows<Row>(
  rows: unknown,
  check: (row: Row, index: number) => CheckResult,
  limiter: RateLimiter | undefined,
): Promise<BulkCheck> {
  parseOption(optionTypes.function, check, "The check of bulk.check");
  const source = new RowSource<Row>(rows);
  const invalid: BulkCheck["invalid"] = [];
  let total = 0;
  try {
    for (let next = await source.next(); !next.done; next = await source.next()) {
      const row = next.value;
      const index = total++;
      const issues = issuesOf(() => check(row, index));
      if (issues) invalid.push({ index, issues });
    }
  } finally {
    await source.close();
  }
  const valid = total - invalid.length;
  return { total, valid, invalid, estimateMs: limiter?.estimateMs(valid) ?? 0 };
}

function issuesOf(check: () => unknown): readonly ValidationIssue[] | undefined {
  let result: unknown;
  try {
    result = check();
  } catch (error) {
    if (error instanceof ValidationError) return error.issues;
    return [{ path: [], code: "unreadable", message: `the row cannot be checked: ${errorMessage(error)}` }];
  }
  ignoreRejection(result);
  const { data } = resultSchema.safeParse(result);
  if (!data)
    throw new ConfigurationError(
      "The check of bulk.check must return { success, error: { issues } }, as safeParse does.",
    );
  // Safe: the schema has checked what is read of it.
  return data.success ? undefined : toIssues((result as { error: Parameters<typeof toIssues>[0] }).error);
}
