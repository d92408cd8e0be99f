import { readFile, rm } from "node:fs/promises";
import * as z from "zod";
import { replaceFile } from "../../src/files/replacement.ts";
import { CsvFileError } from "../exports/csv-file.ts";
import type { People } from "../exports/people.ts";

/** The path of the refusals beside a report. */
export const refusedPathOf = (report: string) => `${report}.refused.json`;

const schema = z.strictObject({ version: z.literal(1), people: z.record(z.string(), z.int()) });

/** Writes who has refused, as hashes: a row of the report may be about one of them, once its address is corrected. */
export async function writeRefusals(report: string, people: People): Promise<void> {
  const refusals = people.refusals();
  if (refusals.size === 0) return await rm(refusedPathOf(report), { force: true });
  const text = JSON.stringify({ version: 1, people: Object.fromEntries(refusals) });
  replaceFile(refusedPathOf(report), [`${text}\n`]);
}

/** Adds who had refused when the report was written. Any other file has no such file beside it. */
export async function addRefusals(report: string, people: People): Promise<void> {
  try {
    const { people: refused } = schema.parse(JSON.parse(await readFile(refusedPathOf(report), "utf8")));
    people.addEarlier(Object.entries(refused));
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return;
    throw new CsvFileError(`${refusedPathOf(report)} cannot be read. Write the report again.`, { cause });
  }
}
