import { readFile } from "node:fs/promises";
import * as z from "zod";
import { replaceFile } from "../../src/files/replacement.ts";
import { CsvFileError } from "../exports/csv-file.ts";
import type { People } from "../exports/people.ts";
import { noWords, type Words } from "../exports/row-words.ts";

/** The path of the refusals beside a report. */
export const refusalsPathOf = (report: string) => `${report}.refused.json`;

const names = Object.keys(noWords) as (keyof Words)[];
const wordsOf = (digits: string): Words => ({
  ...noWords,
  ...Object.fromEntries(names.map((name, index) => [name, Number(digits[index])])),
});

const schema = z.strictObject({
  version: z.literal(1),
  hasConsents: z.boolean(),
  /** By the hash of an address, a number or an id. */
  people: z.record(z.string(), z.string().regex(/^\d{7}$/)),
});

/**
 * Writes who has refused, as hashes: a row of the report may be about one of them, once its address is corrected. And
 * whether the file had consents: a row of the report then needs none either.
 */
export function writeRefusals(report: string, people: People, hasConsents: boolean): void {
  const refused = Array.from(people.refusals(), ([hash, words]) => [
    hash,
    names.map((name) => words[name]).join(""),
  ]);
  const text = JSON.stringify({ version: 1, hasConsents, people: Object.fromEntries(refused) });
  replaceFile(refusalsPathOf(report), [`${text}\n`]);
}

/** Who had refused when the report was written. Any other file has no such file beside it. */
export async function readRefusals(
  report: string,
): Promise<{ hasConsents: boolean; people: (readonly [string, Words])[] } | undefined> {
  try {
    const { people, hasConsents } = schema.parse(JSON.parse(await readFile(refusalsPathOf(report), "utf8")));
    return {
      hasConsents,
      people: Object.entries(people).map(([hash, digits]) => [hash, wordsOf(digits)] as const),
    };
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined;
    throw new CsvFileError(`${refusalsPathOf(report)} cannot be read. Write the report again.`, { cause });
  }
}
