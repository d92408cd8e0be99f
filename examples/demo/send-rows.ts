import {
  AbortError,
  type AudienceClient,
  AuthenticationError,
  type AudienceError,
  ConfigurationError,
  isAudienceError,
  NotFoundError,
  PermissionError,
} from "audience-sdk";
import { type ReadRow, rowId } from "../exports/read-row.ts";
import { eachInPool } from "./pool.ts";

/** What is sent of a row. */
export type RowToSend = Pick<ReadRow, "file" | "number" | "contact" | "source">;

/** A row that was begun and not ended. `error.request` names the call, `error.outcome` tells what it did. */
export interface UnfinishedRow {
  readonly row: RowToSend;
  readonly error: AudienceError;
}

/** What a sending did, whether it ran to its end or not. */
export interface SendReport {
  readonly sent: readonly RowToSend[];
  readonly failed: readonly UnfinishedRow[];
  /** Rows that were under way when the sending was stopped. */
  readonly cutOff: readonly UnfinishedRow[];
  /** Rows for which no call was made. */
  readonly notBegun: number;
  /** Rows that were added to the list: those with an address, and a word on its consent. */
  readonly addedToList: number;
}

/** How many calls a row takes: one without an address, or of whose consent nothing is known, is added to no list. */
export function callsFor({ contact }: RowToSend): number {
  return contact.email === undefined || contact.email_opt_in === undefined ? 2 : 3;
}

// The limiter sets the pace; this many rows are under way, so that it always has a call to let through.
const concurrency = 24;

/** Upserts each contact, adds it to the list, sends its event. One bad row ends nothing but itself. */
export async function sendRows(
  rows: readonly RowToSend[],
  options: { audience: AudienceClient; listId: string; signal: AbortSignal; onRowDone: () => void },
): Promise<SendReport> {
  const sent: RowToSend[] = [];
  const failed: UnfinishedRow[] = [];
  const cutOff: UnfinishedRow[] = [];
  const stopping = new AbortController();
  const signal = AbortSignal.any([options.signal, stopping.signal]);
  let begun = 0;
  let addedToList = 0;
  await eachInPool(rows, { concurrency, signal }, async (row) => {
    begun += 1;
    try {
      const { isListed } = await sendRow(row, { ...options, signal });
      sent.push(row);
      if (isListed) addedToList += 1;
      options.onRowDone();
    } catch (error) {
      if (!isAudienceError(error)) throw error;
      if (error instanceof AbortError) cutOff.push({ row, error });
      else {
        failed.push({ row, error });
        options.onRowDone();
      }
      if (everyRowWouldMeet(error)) stopping.abort(error);
    }
  }).catch((error: unknown) => {
    // An end before the end is told by the report; anything else is a mistake of this program.
    if (!signal.aborted) throw error;
  });
  return { sent, failed, cutOff, notBegun: rows.length - begun, addedToList };
}

async function sendRow(
  row: RowToSend,
  { audience, listId, signal }: { audience: AudienceClient; listId: string; signal: AbortSignal },
): Promise<{ isListed: boolean }> {
  const { email, email_opt_in, ...rest } = row.contact;
  const profile = await audience.v1.customers.upsert(row.contact, { signal });
  const isListed = email !== undefined && email_opt_in !== undefined;
  // The whole contact again: what the service does with fields that this call omits is not documented for all of them.
  if (isListed)
    await audience.v1.contactGroups.addContact(listId, { ...rest, email, email_opt_in }, { signal });
  await audience.v1.events.send(
    {
      eventName: "contact_imported",
      // From the row alone: however often the program runs, the service records this event once.
      uniqueIdentifier: `import-${rowId(row)}`,
      contact: email === undefined ? { contactUUID: profile.id } : { email },
      eventData: { file: row.file, row: row.number },
    },
    { signal },
  );
  return { isListed };
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
