import * as z from "zod";
import { ConfigurationError, ValidationError, type ValidationIssue } from "../errors.ts";
import {
  errorMessage,
  type Given,
  ignoreRejection,
  optionTypes,
  parseOption,
  parseOptions,
} from "../schema/parse-options.ts";
import { toIssues } from "../schema/validation-issues.ts";
import { checkOptionsSchema, type BulkOptions } from "./bulk-options.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { Journal } from "./journal.ts";
import type { EstimateMs } from "./result.ts";
import { rowReader, type ReadRow, type RowSource } from "./row-source.ts";
import { decodeContacts } from "./statements.ts";
import type { Target } from "./target.ts";

/** The result of `bulk.check`. */
export interface BulkCheck {
  /** The number of rows. */
  readonly total: number;
  /** The number of valid rows. */
  readonly valid: number;
  /** The invalid rows: the index in the source, from 0, and all problems. */
  readonly invalid: { readonly index: number; readonly issues: readonly ValidationIssue[] }[];
  /**
   * The time to send the valid rows, in milliseconds, at one call a row, as the rate limiter estimates it. With a
   * checkpoint: to send those that a run would send, and to look up those that it would look up.
   */
  readonly estimateMs: number;
}

/** The result of `bulk.check` with a checkpoint: what a run would do with the valid rows. */
export interface PlannedBulkCheck extends BulkCheck {
  /** Rows that no run has carried out: they would be sent, unless a guard holds them back. */
  readonly new: number;
  /** Rows that have changed since: they would be sent, most of them after a look at the service, unless a guard holds them back. */
  readonly changed: number;
  /** Rows that would be skipped. */
  readonly unchanged: number;
  /** Rows that were superseded and have not changed since: they would be superseded again. */
  readonly superseded: number;
  /** Rows that an earlier run may have carried out: repeatable ones would be sent again, the others be `unknown`. */
  readonly inDoubt: number;
}

/** The options of `bulk.check`: those of the run that it tells of. */
export interface BulkCheckOptions<Row> extends Pick<
  BulkOptions<Row>,
  "key" | "fingerprint" | "organization" | "checkConsent"
> {
  /** Is opened, read and closed. No run may have it open. */
  checkpoint: Checkpoint;
}

/** The options of a check, with their defaults. */
type CheckSettings<Row> = BulkCheckOptions<Row> &
  Required<Given<Pick<BulkCheckOptions<Row>, "checkConsent">>>;

/** Parses the options of a check. Throws a `ConfigurationError` that names the option. */
export function parseCheckOptions<Row>(options: unknown): CheckSettings<Row> {
  // Safe: functions are typed by the caller; the schema has checked the rest.
  return parseOptions(checkOptionsSchema, options, "The options of bulk.check") as CheckSettings<Row>;
}

/** The check of one row, such as a schema's `safeParse`. */
export type CheckRow<Row> = (row: Row, index: number) => CheckResult;

/** The result of a schema's `safeParse`. */
export type CheckResult = { readonly success: true } | { readonly success: false; readonly error: unknown };

type Fate = "new" | "changed" | "unchanged" | "superseded" | "inDoubt";

/** Checks rows, and tells what a run would do with them. Sends nothing. */
export class RowChecker<Row> {
  readonly #check: CheckRow<Row>;
  readonly #estimateMs: EstimateMs;
  readonly #invalid: BulkCheck["invalid"] = [];
  #total = 0;

  constructor(check: CheckRow<Row>, estimateMs: EstimateMs | undefined) {
    parseOption(optionTypes.function, check, "The check of bulk.check");
    this.#check = check;
    this.#estimateMs = estimateMs ?? (() => 0);
  }

  async check(source: RowSource<Row>): Promise<BulkCheck> {
    await this.#read(source, async () => {
      const next = await source.next();
      if (next.done) return false;
      this.#isValid(next.value);
      return true;
    });
    return this.#result();
  }

  async plan(
    source: RowSource<Row>,
    options: CheckSettings<Row> & { readonly target: Target },
  ): Promise<PlannedBulkCheck> {
    const { checkConsent, checkpoint, key, target } = options;
    const isKeyed = key !== undefined;
    const { signal } = new AbortController();
    const journal = await Journal.read(checkpoint, { isKeyed, target, signal });
    const reader = rowReader(source, options, journal);
    const fates = { new: 0, changed: 0, unchanged: 0, superseded: 0, inDoubt: 0 };
    const sent = new Set<string | undefined>();
    let calls = 0;
    await this.#read(source, async () => {
      const row = await reader.next();
      if (!row) return false;
      if (!this.#isValid(row.item, row)) return true;
      const { before, earlierEnd, isOwed } = row.record;
      // A row follows each earlier one with its key that is sent, as it has the last word.
      const isSent = !earlierEnd || sent.has(row.key.previousKey);
      fates[fateOf(row, isSent)] += 1;
      if (!isSent) return true;
      sent.add(row.key.key);
      const isLookedUp = isKeyed && checkConsent && isOwed && before !== undefined && hasId(before.contacts);
      calls += isLookedUp ? 2 : 1;
      return true;
    });
    return { ...this.#result(calls), ...fates };
  }

  #result(calls?: number): BulkCheck {
    const valid = this.#total - this.#invalid.length;
    return {
      total: this.#total,
      valid,
      invalid: this.#invalid,
      estimateMs: this.#estimateMs(calls ?? valid),
    };
  }

  /** `readRow` returns false after the last one. */
  async #read(source: RowSource<Row>, readRow: () => Promise<boolean>): Promise<void> {
    try {
      while (await readRow());
    } catch (error) {
      // An error of the cleanup would hide this one.
      await source.close().catch(() => undefined);
      throw error;
    }
  }

  #isValid(item: Row, row?: ReadRow<Row>): boolean {
    const index = this.#total++;
    const issues = issuesOf(() => {
      if (row?.key.problem) throw row.key.problem.error;
      return this.#check(item, index);
    });
    if (issues) this.#invalid.push({ index, issues });
    return issues === undefined;
  }
}

function hasId(contacts: string): boolean {
  return [...decodeContacts(contacts).ids.values()].some((id) => id !== "");
}

function fateOf({ record }: ReadRow<unknown>, isSent: boolean): Fate {
  const { before, isChanged } = record;
  // What failed, and nothing else, was never carried out.
  if (!before || before.state === "failed") return "new";
  if (record.refusesUnrepeatable) return "inDoubt";
  if (isChanged) return "changed";
  switch (before.state) {
    case "succeeded":
      return isSent ? "changed" : "unchanged";
    case "sent":
      return "inDoubt";
    default:
      return "superseded";
  }
}

const checkResultSchema = z.discriminatedUnion("success", [
  z.object({ success: z.literal(true) }),
  z.object({
    success: z.literal(false),
    error: z.object({ issues: z.array(z.object({ path: z.array(z.unknown()) })) }),
  }),
]);

function issuesOf(check: () => unknown): readonly ValidationIssue[] | undefined {
  let result: unknown;
  try {
    result = check();
  } catch (error) {
    if (error instanceof ValidationError) return error.issues;
    return [{ path: [], code: "unreadable", message: `the row cannot be checked: ${errorMessage(error)}` }];
  }
  ignoreRejection(result);
  const { data } = checkResultSchema.safeParse(result);
  if (!data)
    throw new ConfigurationError(
      "The check of bulk.check must return { success, error: { issues } }, as safeParse does.",
    );
  // Safe: the schema has checked what is read of it.
  return data.success ? undefined : toIssues((result as { error: Parameters<typeof toIssues>[0] }).error);
}
