import { readFile } from "node:fs/promises";
import * as z from "zod";
import { replaceFile } from "../../src/files/replacement.ts";
import { CsvFileError } from "../exports/csv-file.ts";

/** The path of the refusals beside a report. */
export const refusalsPathOf = (report: string) => `${report}.refused.json`;

const schema = z.strictObject({
  version: z.literal(1),
  /** Whether the file had consents: a row of its report then needs none either. */
  hasConsents: z.boolean(),
  /** Who has refused, by the hash of an address, a number or an id: a corrected row may be about one of them. */
  people: z.record(z.string(), z.number()),
});

/** Who had refused when a report was written. */
export type Refusals = z.output<typeof schema>;

export function writeRefusals(report: string, refusals: Omit<Refusals, "version">): void {
  replaceFile(refusalsPathOf(report), [`${JSON.stringify({ version: 1, ...refusals })}\n`]);
}

/** The refusals beside a file; undefined if it is no report. */
export async function readRefusals(report: string): Promise<Refusals | undefined> {
  try {
    return schema.parse(JSON.parse(await readFile(refusalsPathOf(report), "utf8")));
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined;
    throw new CsvFileError(`${refusalsPathOf(report)} cannot be read. Write the report again.`, { cause });
  }
}
