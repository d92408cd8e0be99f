import {
  type AudienceClient,
  type AudienceError,
  type BulkResult,
  isAudienceError,
  ValidationError,
  type Write,
  write,
} from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import type { Snapshot } from "audience-sdk/snapshot";
import { counted, inFull } from "../console/counted.ts";
import { formatDuration } from "../console/duration.ts";
import { InputError } from "../console/program.ts";
import { Progress } from "../console/progress.ts";
import { say, type Output } from "../console/terminal.ts";
import type { ImporterArguments } from "./arguments.ts";
import type { Report } from "./report.ts";
import { reasonIn, refusalsAreSent, type RowToSend, rowsToSend } from "./rows-to-send.ts";
import type { Survey } from "./survey.ts";

type Result = BulkResult<RowToSend, unknown>;

interface Running {
  readonly audience: AudienceClient;
  readonly snapshot: Snapshot | undefined;
  readonly failed: Report;
  readonly output: Output;
  readonly signal: AbortSignal;
}

/** Sends all rows, refusals first, and prints those that were not imported. */
export async function importAll(survey: Survey, options: ImporterArguments, running: Running): Promise<void> {
  const { audience, snapshot, failed, output, signal } = running;
  const progress = new Progress({ output, total: survey.rows, unit: "rows" });
  const run = audience.bulk(
    () => rowsToSend(survey, options),
    (row) => writeOf(row, options),
    {
      // Identifies a person over the files of several days, and over all lists: the person has one consent.
      key: ({ row, contact }) =>
        row.person.email ?? contact.email ?? contact.phone ?? `${row.file} ${row.number}`,
      total: survey.rows,
      onProgress: ({ done, ratePerMinute, etaMs }) =>
        progress.advanceTo(
          done,
          `${ratePerMinute}/min${etaMs === undefined ? "" : `, ${formatDuration(etaMs)} left`}`,
        ),
      signal,
      organization: options.organization,
      snapshot,
      ...(options.checkpoint === undefined ? {} : { checkpoint: fileCheckpoint(options.checkpoint) }),
    },
  );
  let isComplete = false;
  const counts = { imported: 0, before: 0, ofOptOuts: 0 };
  try {
    for await (const result of run) {
      const { item, status, kept, error } = result;
      const isCarriedOut = status === "succeeded" || status === "skipped";
      const isDone = item.issues.length === 0 && isCarriedOut;
      if (isDone) counts[status === "succeeded" ? "imported" : "before"] += 1;
      else if (isCarriedOut && item.refusals) counts.ofOptOuts += 1;
      if (isDone && kept)
        await failed.keep(item, "was imported, and keeps the refusal that the service knows of the person");
      else if (!isDone) {
        // Another field may be the reason; and after a lost response the opt-outs may be repeated, unlike the row.
        const isOwed = item.issues.length === 0 && error !== undefined;
        const owed = isOwed && item.refusals ? [write.v1.customers.upsert(item.refusals)] : [];
        const [sent] = await Promise.allSettled(
          owed.map((each) => audience.send(each, { signal, priority: 9 })),
        );
        const isSent = sent?.status === "fulfilled";
        await failed.add(item, `${reasonOf(result, options)}${isSent ? refusalsAreSent : ""}`);
      }
    }
    isComplete = true;
  } catch (error) {
    if (!isLasting(error) || run.counts.succeeded + run.counts.unknown > 0) throw error;
    throw new InputError(`Nothing was imported: ${error.message}`, { cause: error });
  } finally {
    progress.end();
    failed.print(output, false);
    await failed.end(output, { isComplete, people: survey.people });
  }
  const { kept, total, durationMs } = await run.summary();
  const { imported, before, ofOptOuts } = counts;
  const earlier = before === 0 ? "" : `; ${inFull(before)} were imported before`;
  const duration = formatDuration(durationMs);
  say(output, `Imported ${inFull(imported)} of ${counted(total, "row")} in ${duration}${earlier}.`);
  if (ofOptOuts > 0) say(output, `Of ${counted(ofOptOuts, "row")} the opt-outs alone were sent.`);
  const keep = counted(kept, "row keeps", "rows keep");
  if (kept > 0) say(output, `${keep} a refusal that the service knows, in place of the word of the file.`);
}

/** Whether it is an error of a wrong key or list, which stays wrong. */
export const isLasting = (error: unknown): error is AudienceError =>
  isAudienceError(error) && ["authentication", "permission", "not_found"].includes(error.code);

function writeOf({ contact, issues, refusals }: RowToSend, { listId }: ImporterArguments): Write {
  if (issues.length > 0) {
    if (refusals) return write.v1.customers.upsert(refusals);
    throw new ValidationError(
      issues.map(({ field, message }) => ({ path: [field], code: "invalid_row", message })),
    );
  }
  if (listId === undefined) return write.v1.customers.upsert(contact);
  const { email, email_opt_in, ...rest } = contact;
  if (email === undefined || email_opt_in === undefined)
    throw new TypeError("a row without its consent was not held back");
  return write.v1.contactGroups.addContact(listId, { ...rest, email, email_opt_in });
}

/** The reason why a row was not imported. */
function reasonOf({ item, status, error, reason }: Result, { checkpoint }: ImporterArguments): string {
  if (item.issues.length > 0) {
    const hasFailed = item.refusals !== undefined && error !== undefined;
    return `${reasonIn(item)}${hasFailed ? `; but that failed: ${messageOf(error)}` : ""}`;
  }
  if (status === "superseded")
    return `the service knows a refusal of the person that cannot be sent again, or no longer has the person (${reason})`;
  const again =
    checkpoint === undefined ? "import it again" : "the next import sends it again, if it may be sent twice";
  const doubt = status === "unknown" ? ` (it may have been imported anyway; ${again})` : "";
  return `${messageOf(error)}${doubt}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "an earlier run may have sent it";
}
