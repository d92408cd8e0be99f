import { printable } from "../console/text-width.ts";
import type { CheckedRows, ExportFile } from "./read-exports.ts";
import type { RowToSend, SendReport } from "./send-rows.ts";

/** The files, with layout and number of rows. */
export function fileLines(files: readonly ExportFile[]): string[] {
  const lines = files.map(
    (file) => `${String(file.rows).padStart(4)}  ${file.layout.padEnd(34)}  ${printable(file.name)}`,
  );
  return [...lines, `${String(files.reduce((sum, { rows }) => sum + rows, 0)).padStart(4)}  rows in all`];
}

/** The invalid rows, with file, number, consent and all problems. */
export function invalidLines({ invalid }: CheckedRows): string[] {
  const lines: string[] = [];
  let file = "";
  for (const { row, issues } of invalid) {
    if (row.file !== file) lines.push(printable(row.file));
    file = row.file;
    const address = printable(row.contact.email ?? "(no address)");
    lines.push(`  row ${String(row.number).padStart(2)}  ${address}, ${describeConsent(row)}`);
    for (const { field, message } of issues) lines.push(`          ${field}: ${printable(message)}`);
  }
  return lines;
}

/** The number of rows for each consent, and the number of rows with a repeated address. */
export function validLines({ valid }: CheckedRows): string[] {
  const by = (optIn: string) => valid.filter((row) => row.contact.email_opt_in === optIn).length;
  const withoutAddress = valid.filter((row) => row.contact.email === undefined).length;
  const addresses = new Set(valid.flatMap((row) => row.contact.email ?? []));
  return [
    `${by("SUBSCRIBED")} SUBSCRIBED, ${by("NON_SUBSCRIBED")} NON_SUBSCRIBED, ${by("UNSUBSCRIBED")} UNSUBSCRIBED by e-mail, ` +
      `${valid.filter(({ contact }) => contact.email !== undefined && contact.email_opt_in === undefined).length} of whom nothing is said; ` +
      `${valid.filter((row) => row.contact.is_suppressed).length} of them suppressed, ${withoutAddress} with a telephone number only.`,
    `${valid.length - withoutAddress - addresses.size} rows repeat an address: each address gets the strictest consent of all its rows.`,
  ];
}

/** The sent rows, the failed rows with their outcomes, the aborted rows, and the rows that were not begun. */
export function sendLines({ sent, failed, cutOff, notBegun, addedToList }: SendReport): string[] {
  const inDoubt = cutOff.filter(({ error }) => error.outcome === "unknown").length;
  return [
    `Contacts upserted, and an event sent for each: ${sent.length}. Added to the list: ${addedToList}.`,
    ...failed.map(
      ({ row, error }) =>
        `${printable(row.file)}, row ${row.number}: ${error.request?.operation ?? "call"} ended with ${error.name} ` +
        `(${outcomeDescriptions[error.outcome]}): ${printable(error.message)}`,
    ),
    ...(cutOff.length === 0
      ? []
      : [
          `${cutOff.length} rows were cut off in the middle; the service may have done the last call of ${inDoubt}.`,
        ]),
    ...(notBegun === 0 ? [] : [`${notBegun} rows were not begun.`]),
  ];
}

const outcomeDescriptions = {
  "not-sent": "nothing was sent",
  "not-applied": "the service did nothing",
  applied: "the service did it",
  unknown: "the service may have done it; sending the row again is safe",
} as const;

function describeConsent({ contact }: RowToSend): string {
  return `${contact.email_opt_in ?? contact.phone_opt_in ?? "no consent"}${contact.is_suppressed ? ", suppressed" : ""}`;
}
