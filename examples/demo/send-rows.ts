import { createHash } from "node:crypto";
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
import type { ReadRow } from "../exports/read-row.ts";
import { eachInPool } from "./pool.ts";

/** The part of a row that is sent. */
export type RowToSend = Pick<ReadRow, "file" | "number" | "contact" | "source">;

/** A row that was begun and failed. `error.request` names the call, `error.outcome` its effect. */
export interface UnfinishedRow {
  readonly row: RowToSend;
  readonly error: AudienceError;
}

/** The result of sending, also after an abort. */
export interface SendReport {
  readonly sent: readonly RowToSend[];
  readonly failed: readonly UnfinishedRow[];
  /** Rows in progress at an abort. */
  readonly cutOff: readonly UnfinishedRow[];
  /** Rows for which no call was made. */
  readonly notBegun: number;
  /** Rows that were added to the list: those with an address and its consent. */
  readonly addedToList: number;
}

/** The number of calls of a row. A row without an address or its consent is added to no list. */
export function callsFor({ contact }: RowToSend): number {
  return contact.email === undefined || contact.email_opt_in === undefined ? 2 : 3;
}

// The limiter sets the rate; this many rows are in progress, so that a call always waits for the next permit.
const concurrency = 24;

/** Upserts each contact, adds it to the list, sends its event. A failed row does not stop the others. */
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
    // The report shows an abort; any other error is a bug of this program.
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
  // The whole contact again: the effect of omitted fields is not documented for all fields.
  if (isListed)
    await audience.v1.contactGroups.addContact(listId, { ...rest, email, email_opt_in }, { signal });
  await audience.v1.events.send(
    {
      eventName: "contact_imported",
      // Made from the row alone: the service records the event once, however often the program runs.
      uniqueIdentifier: `import-${rowId(row)}`,
      contact: email === undefined ? { contactUUID: profile.id } : { email },
      eventData: { file: row.file, row: row.number },
    },
    { signal },
  );
  return { isListed };
}

/** The id of a row: a hash of its cells. */
function rowId({ contact, source }: RowToSend): string {
  return createHash("sha256")
    .update(JSON.stringify([contact.source, source.cells]))
    .digest("hex")
    .slice(0, 32);
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
