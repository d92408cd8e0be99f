import {
  type AudienceClient,
  AuthenticationError,
  type AudienceError,
  ConfigurationError,
  isAudienceError,
  NotFoundError,
  PermissionError,
} from "audience-sdk";
import type { ImportedRow } from "./exports/imported-row.ts";
import { eachInPool } from "./pool.ts";

/** A row that did not go through whole. `error.request` names the call, `error.outcome` tells what it did. */
export interface FailedRow {
  readonly row: ImportedRow;
  readonly error: AudienceError;
}

/** What a sending did, whether it ran to its end or not. */
export interface SendReport {
  readonly sent: readonly ImportedRow[];
  readonly failed: readonly FailedRow[];
  /** Rows for which no call was made. */
  readonly notBegun: number;
  /** Rows that were added to the list: those with an address. */
  readonly addedToList: number;
}

/** How many calls a row takes: a contact without an address cannot be added to a list. */
export function callsFor(row: ImportedRow): number {
  return row.contact.email === undefined ? 2 : 3;
}

// The limiter sets the pace; this many rows are under way, so that it always has a call to let through.
const concurrency = 24;

/** Upserts each contact, adds it to the list, sends its event. One bad row ends nothing but itself. */
export async function sendRows(
  rows: readonly ImportedRow[],
  options: { audience: AudienceClient; listId: string; signal: AbortSignal; onRowDone: () => void },
): Promise<SendReport> {
  const sent: ImportedRow[] = [];
  const failed: FailedRow[] = [];
  const stopping = new AbortController();
  const signal = AbortSignal.any([options.signal, stopping.signal]);
  let begun = 0;
  let addedToList = 0;
  await eachInPool(rows, { concurrency, signal }, async (row) => {
    begun += 1;
    try {
      addedToList += await sendRow(row, { ...options, signal });
      sent.push(row);
    } catch (error) {
      if (!isAudienceError(error)) throw error;
      failed.push({ row, error });
      if (everyRowWouldMeet(error)) stopping.abort(error);
    }
    options.onRowDone();
  }).catch((error: unknown) => {
    // An end before the end is told by the report; anything else is a mistake of this program.
    if (!signal.aborted) throw error;
  });
  return { sent, failed, notBegun: rows.length - begun, addedToList };
}

async function sendRow(
  row: ImportedRow,
  { audience, listId, signal }: { audience: AudienceClient; listId: string; signal: AbortSignal },
): Promise<number> {
  const { email, email_opt_in, ...rest } = row.contact;
  const profile = await audience.v1.customers.upsert(row.contact, { signal });
  const canBeListed = email !== undefined && email_opt_in !== undefined;
  // The whole contact again: what the service does with fields that this call omits is not documented for all of them.
  if (canBeListed)
    await audience.v1.contactGroups.addContact(listId, { ...rest, email, email_opt_in }, { signal });
  await audience.v1.events.send(
    {
      eventName: "contact_imported",
      // From the row alone: however often the program runs, the service records this event once.
      uniqueIdentifier: `import-${row.id}`,
      contact: email === undefined ? { contactUUID: profile.id } : { email },
      eventData: { file: row.file, row: row.number },
    },
    { signal },
  );
  return canBeListed ? 1 : 0;
}

// A wrong list would create a contact for every row and list none ("POST /api/v1/contact-groups/{listId}/contacts").
function everyRowWouldMeet(error: AudienceError): boolean {
  const isListMissing =
    error instanceof NotFoundError && error.request?.operation === "v1.contactGroups.addContact";
  return (
    isListMissing ||
    error instanceof AuthenticationError ||
    error instanceof PermissionError ||
    error instanceof ConfigurationError
  );
}
