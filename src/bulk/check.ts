import { ConfigurationError, ValidationError, type ValidationIssue } from "../errors.ts";
import { toIssues } from "../schema/issues.ts";
import { isObject } from "../schema/kind-of.ts";
import { optionTypes, parseOption } from "../schema/option.ts";
import { ignoreRejection, errorMessage } from "../schema/user-function.ts";
import { RowSource } from "./rows.ts";

const invalidResult = "The check of bulk.check must give { success, error: { issues } }, as safeParse does.";

/** What checking many rows found. */
export interface BulkCheck {
  /** Rows that were read. */
  readonly total: number;
  /** Rows that fit. */
  readonly valid: number;
  /** Rows that do not: each one's place in the source, from 0, and all that is wrong with it. */
  readonly invalid: { readonly index: number; readonly issues: readonly ValidationIssue[] }[];
  /** How long sending the valid ones takes, by the rate limiter, at one call a row. */
  readonly estimateMs: number;
}

/** What a schema's `safeParse` gives. */
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
  // What stands in `error` is looked at before it is taken for what a schema gives.
  const { error } = result as { error?: Parameters<typeof toIssues>[0] };
  if (!Array.isArray(error?.issues) || !error.issues.every(isIssue))
    throw new ConfigurationError(invalidResult);
  return toIssues(error);
}

function isIssue(issue: unknown): boolean {
  return isObject(issue) && "path" in issue && Array.isArray(issue.path);
}
