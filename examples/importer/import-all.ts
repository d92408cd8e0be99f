import { type AudienceClient, type BulkResult, isAudienceError, ValidationError, write } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import type { Snapshot } from "audience-sdk/snapshot";
import { counted, inFull } from "../console/counted.ts";
import { formatDuration } from "../console/duration.ts";
import { say, type Output } from "../console/terminal.ts";
import type { ImporterArguments } from "./arguments.ts";
import { type FailedRows, stopsAnother } from "./failed-rows.ts";
import { knownRefusal, laterRefusal } from "./known-refusals.ts";
import { ProgressLine } from "./progress-line.ts";
import type { ImportService } from "./service.ts";
import { reasonIn, refusalsAreSent, type SettledRow, settledRows } from "./settled-rows.ts";
import type { Survey } from "./survey.ts";
import type { Target } from "./target.ts";
import type { Summary } from "./write-summary.ts";

/** Sends all valid rows, and prints the rows that were not imported. */
export async function importAll(
  survey: Survey,
  {
    service,
    target,
    options,
    snapshot,
    failed,
    summary,
    output,
    signal,
  }: {
    service: ImportService;
    target: Target;
    options: ImporterArguments;
    snapshot: Snapshot | undefined;
    failed: FailedRows;
    summary: Summary;
    output: Output;
    signal: AbortSignal;
  },
): Promise<void> {
  const { audience } = service;
  const line = new ProgressLine(output);
  const run = audience.bulk(
    settledRows(survey, target, options, snapshot),
    ({ row, contact, issues, refusals }) => {
      if (issues.length === 0) return target.write(contact, row);
      if (refusals) return write.v1.customers.upsert(refusals);
      throw asValidationError(issues);
    },
    {
      // Identifies a person over the files of several days, and over all lists: the person has one consent.
      key: ({ row, contact }) => contact.email ?? contact.phone ?? `${row.file} ${row.number}`,
      // The row's position in its file is not a change.
      fingerprint: ({ row, contact }) => [
        target.name,
        contact,
        ...(options.family === "v1" ? [] : [row.evidence]),
      ],
      total: survey.rows,
      onProgress: (progress) => line.show(progress),
      signal,
      organization: options.organization,
      snapshot,
      ...(options.checkpoint === undefined ? {} : { checkpoint: fileCheckpoint(options.checkpoint) }),
    },
  );
  let isComplete = false;
  try {
    for await (const result of run) {
      const reason = reasonOf(result, options, await areOptOutsSent(result, audience, signal));
      summary.add(result.item, outcomeOf(result));
      if (reason !== undefined) await failed.add(result.item, reason);
      else if (result.kept) await failed.keep(result.item, keptRefusal);
      else if (result.item.stopsSomebody) await failed.keep(result.item, stopsAnother);
    }
    isComplete = true;
  } finally {
    line.end();
    await failed.print(output, { isComplete, people: survey.people });
  }
  const { succeeded, skipped, kept, total, durationMs } = await run.summary();
  const before = skipped === 0 ? "" : `; ${inFull(skipped)} were imported before`;
  say(
    output,
    `Imported ${inFull(succeeded)} of ${counted(total, "row")} in ${formatDuration(durationMs)}${before}.`,
  );
  if (kept > 0)
    say(
      output,
      `${counted(kept, "row keeps", "rows keep")} a refusal that the service knows, in place of their word.`,
    );
}

/** The remark of a row that was sent with a refusal. */
const keptRefusal = "was imported, and keeps the refusal that the service knows of the person";

function outcomeOf({ item, status }: BulkResult<SettledRow, unknown>) {
  if (item.issues.length > 0) return "failed";
  if (status === "succeeded") return "imported";
  return status === "skipped" ? "before" : "failed";
}

/**
 * Sends the opt-outs of a row that failed: another field may be the reason; and after a lost response the opt-outs may be
 * repeated, unlike the row.
 */
async function areOptOutsSent(
  { item, error }: BulkResult<SettledRow, unknown>,
  audience: AudienceClient,
  signal: AbortSignal,
): Promise<boolean> {
  const { issues, refusals } = item;
  if (refusals === undefined || issues.length > 0 || !(isRefused(error) || isLost(error))) return false;
  try {
    await audience.send(write.v1.customers.upsert(refusals), { priority: 9, signal });
    return true;
  } catch (failure) {
    // The row is reported as failed, without the words that they are sent.
    if (isAudienceError(failure)) return false;
    throw failure;
  }
}

/** Whether the row may have been carried out, and must not be sent again. */
function isLost(error: unknown): boolean {
  return isAudienceError(error) && error.outcome === "unknown";
}

/** Whether the service refuses the row as it is. */
function isRefused(error: unknown): boolean {
  return isAudienceError(error) && (error.code === "bad_request" || error.code === "api");
}

function asValidationError(issues: SettledRow["issues"]): ValidationError {
  return new ValidationError(
    issues.map(({ field, message }) => ({ path: [field], code: "invalid_row", message })),
  );
}

/** The reason why a row was not imported; undefined if it was, also before. */
function reasonOf(
  result: BulkResult<SettledRow, unknown>,
  { checkpoint }: Pick<ImporterArguments, "checkpoint">,
  isSent: boolean,
): string | undefined {
  const { item, status, error, reason } = result;
  if (item.issues.length > 0) {
    const hasFailed = item.refusals !== undefined && error !== undefined;
    return hasFailed ? `${reasonIn(item)}; but that failed: ${messageOf(error)}` : reasonIn(item);
  }
  if (status === "superseded") return reason === "snapshot" ? knownRefusal : laterRefusal;
  if (status === "succeeded" || status === "skipped") return undefined;
  const again = checkpoint === undefined ? "import it again" : "to send it again, import it without --resume";
  const doubt = status === "unknown" ? ` (it may have been imported anyway; ${again})` : "";
  return `${messageOf(error)}${doubt}${isSent ? refusalsAreSent : ""}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "an earlier run may have sent it";
}
