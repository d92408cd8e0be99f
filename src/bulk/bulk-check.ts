import { isAudienceError, type ValidationIssue } from "../errors.ts";
import { errorMessage } from "../values/in-words.ts";
import { isObject, propertyOf } from "../values/predicates.ts";
import type { BulkFunction, BulkSettings, RowWrites } from "./bulk-options.ts";
import type { GuardedRow } from "./guards/guard.ts";
import { isUnknown, looksOf } from "./guards/look.ts";
import { comparedJson, mayBeRepeated, prepareRow, recordedRow } from "./prepare-row.ts";
import { subscribes } from "./refusals.ts";
import { isInvalid } from "./result.ts";
import { type BulkRows, isRefusing, type ReadRow, Rows } from "./rows.ts";
import { RunRecord } from "./run-record.ts";

/** The result of `bulk.check`. */
export interface BulkCheck {
  /** The number of rows. */
  readonly total: number;
  /** The number of valid rows. */
  readonly valid: number;
  /** The invalid rows: the index in the source, from 0, and all problems. */
  readonly invalid: { readonly index: number; readonly issues: readonly ValidationIssue[] }[];
  /** The number of rows that refuse something. */
  readonly refusals: number;
  /**
   * The first member that differed when the function was called twice for a row, among the first hundred: such a row is
   * changed every night. Absent if there was none.
   */
  readonly unstable?: { readonly index: number; readonly path: readonly (string | number)[] };
  /** The time that a run takes, in milliseconds, looks included, as the limiter estimates it: with `reserve: 0` it is shorter. */
  readonly estimateMs: number;
}

/** The result of `bulk.check` with a checkpoint: what a run would do with the valid rows. */
export interface PlannedBulkCheck extends BulkCheck {
  /** Rows that no run has carried out: they would be sent. */
  readonly new: number;
  /** Rows that have changed since: they would be sent. */
  readonly changed: number;
  /** Rows that would be skipped. */
  readonly unchanged: number;
  /** Rows that an earlier run may have carried out: repeatable ones would be sent again, the others be `unknown`. */
  readonly inDoubt: number;
  /** Rows that would subscribe somebody of whom nothing is known, as v2 without a snapshot always does. */
  readonly unjudged: number;
  /** The number of looks at the service, a call each. */
  readonly looks: number;
}

const mostCalledTwice = 100;

export async function checkRows<Row>(
  source: BulkRows<Row>,
  toWrites: BulkFunction<Row, RowWrites>,
  settings: BulkSettings<Row>,
): Promise<BulkCheck> {
  const { checkpoint, estimateMs = () => 0, opened } = settings;
  const rows = new Rows<Row>(source, toWrites, settings, "in order");
  const planned = { new: 0, changed: 0, unchanged: 0, inDoubt: 0, unjudged: 0, looks: 0 };
  const invalid: BulkCheck["invalid"] = [];
  let [total, refusals, callCount] = [0, 0, 0];
  let unstable: BulkCheck["unstable"];
  rows.start();
  try {
    await settings.snapshot?.checkFor(settings.target, new AbortController().signal);
    const record = checkpoint ? await RunRecord.read(checkpoint, settings) : undefined;
    for (let row = await rows.next(); row; row = await rows.next()) {
      total += 1;
      const { writes } = row;
      if (isRefusing(row)) refusals += 1;
      if (row.index < mostCalledTwice) unstable ??= differenceOf(row, await rows.read(row.item, row.index));
      try {
        if (row.problem) throw row.problem.error;
        const recorded = record && (await recordedRow(row, record, settings));
        const preparedWrites = prepareRow(opened, writes, recorded?.newEventId);
        const fate = writes.length === 0 ? "unchanged" : (recorded?.fate ?? "new");
        planned[fate === "once" ? "inDoubt" : fate] += 1;
        if (fate === "unchanged" || (fate === "once" && !mayBeRepeated(writes, preparedWrites))) continue;
        const before = recorded?.before;
        const guardedRow: GuardedRow = { ...row, recordedId: before?.id, keptId: record?.keptId(row) };
        const looks = looksOf(guardedRow, settings);
        planned.looks += looks.length;
        if (subscribes(row.consents) && isUnknown(guardedRow, settings)) planned.unjudged += 1;
        callCount += looks.length + writes.length;
        // For a further row with its key: the response of a run will have shown the contact.
        const isShown = preparedWrites.some(({ endpoint }) => endpoint.appliedTo !== undefined);
        const id = before?.id ?? looks[0] ?? (isShown ? "as the response gives it" : undefined);
        if (recorded)
          await record?.putRow(recorded.name, { ...recorded, state: "succeeded", id, kept: undefined });
      } catch (error) {
        invalid.push({ index: row.index, issues: issuesOf(error) });
      }
    }
  } finally {
    await rows.close().catch(() => undefined);
  }
  return {
    total,
    valid: total - invalid.length,
    invalid,
    refusals,
    ...(unstable && { unstable }),
    estimateMs: estimateMs(callCount),
    ...(checkpoint && planned),
  };
}

/** The first member by which a row is unstable, of those that are compared over nights. */
function differenceOf(row: ReadRow<unknown>, again: ReadRow<unknown>): BulkCheck["unstable"] {
  if (row.problem ?? again.problem) return undefined;
  try {
    const [one, other] = [row, again].map(({ writes }) => JSON.parse(comparedJson(writes)) as unknown);
    const path = firstDifference(one, other);
    return path && { index: row.index, path: row.writes.length === 1 ? path.slice(1) : path };
  } catch {
    // What JSON cannot carry is refused by its endpoint.
    return undefined;
  }
}

function firstDifference(one: unknown, other: unknown): (string | number)[] | undefined {
  if (!isObject(one) || !isObject(other)) return one === other ? undefined : [];
  for (const name of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const path = firstDifference(propertyOf(one, name), propertyOf(other, name));
    if (path) return [Array.isArray(one) ? Number(name) : name, ...path];
  }
  return undefined;
}

function issuesOf(error: unknown): readonly ValidationIssue[] {
  if (isInvalid(error)) return error.issues;
  if (isAudienceError(error)) throw error;
  return [{ path: [], code: "unreadable", message: `the row cannot be checked: ${errorMessage(error)}` }];
}
