import { ConfigurationError, ValidationError, type ValidationIssue } from "../errors.ts";
import { toIssues } from "../schema/issues.ts";
import { isObject } from "../schema/kind-of.ts";
import { optionTypes, parseOption } from "../schema/option.ts";
import { ignoreRejection, errorMessage } from "../schema/user-function.ts";
import { RowSource } from "./rows.ts";

const invalidResult =
  "The check of bulk.check must return { success, error: { issues } }, as safeParse does.";

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

/** Checks each row and sends nothing. */
export async function checkRows<Row>(
  rows: unknown,
  check: (row: Row, index: number) => CheckResult,
  estimateMs: (calls: number) => number | undefined,
): Promise<BulkCheck> {
  parseOption(optionTypes.function, check, "The check of bulk.check");
  const source = new RowSource<Row>(rows);
  const invalid: BulkCheck["invalid"] = [];
  let total = 0;
  try {
    for (let next = await source.next(); !next.done; next = await source.next()) {
      const issues = issuesOf(next.value, total, check);
      if (issues) invalid.push({ index: total, issues });
      total++;
    }
  } finally {
    await source.close();
  }
  const valid = total - invalid.length;
  return { total, valid, invalid, estimateMs: estimateMs(valid) ?? 0 };
}

function issuesOf<Row>(
  row: Row,
  index: number,
  check: (row: Row, index: number) => CheckResult,
): readonly ValidationIssue[] | undefined {
  let result: unknown;
  try {
    result = check(row, index);
    ignoreRejection(result);
  } catch (error) {
    if (error instanceof ValidationError) return error.issues;
    return [{ path: [], code: "unreadable", message: `the row cannot be checked: ${errorMessage(error)}` }];
  }
  return issuesIn(result);
}

function issuesIn(result: unknown): readonly ValidationIssue[] | undefined {
  if (!isObject(result) || !("success" in result)) throw new ConfigurationError(invalidResult);
  if (result.success) return undefined;
  // Safe: the next line checks it.
  const { error } = result as { error?: Parameters<typeof toIssues>[0] };
  if (!Array.isArray(error?.issues) || !error.issues.every(isIssue))
    throw new ConfigurationError(invalidResult);
  return toIssues(error);
}

function isIssue(issue: unknown): boolean {
  return isObject(issue) && "path" in issue && Array.isArray(issue.path);
}
