// The format of a snapshot: NDJSON, a heading and then a line for each contact. A read that is under way has also a line after
// each page (`work-file.ts`).
import { closeSync, constants, existsSync, fstatSync } from "node:fs";
import * as z from "zod";
import { ConfigurationError } from "../errors.ts";
import { readLines } from "../files/lines.ts";
import { describeRefusal } from "../files/lock.ts";
import { openRegular } from "../files/regular-file.ts";
import { type RecordedTarget, type Target, targetSchema } from "../organization.ts";
import { optionThat } from "../schema/parse-options.ts";
import type { ReadContact } from "./contact.ts";

/** The first line of a read that is under way. */
export const headingSchema = z.object({
  /** The version of the format. */
  audience_snapshot: z.literal(1),
  /** Of this read. */
  id: z.string(),
  /** When it began: each contact was seen then or later. */
  readAt: z.iso.datetime(),
  fields: z.enum(["consent", "all"]),
  target: targetSchema,
});

export type Heading = z.infer<typeof headingSchema>;

/** The first line of a snapshot. */
const finishedHeadingSchema = headingSchema.extend({ size: z.int().min(0), complete: z.boolean() });

export type FinishedHeading = z.infer<typeof finishedHeadingSchema>;

/** The heading of a snapshot, and the start of its contacts. Throws if the file is none, or one of another version. */
export async function readHeading(
  handle: number,
  file: string,
): Promise<{ readonly heading: FinishedHeading; readonly begin: number }> {
  // Without a line it is no snapshot, either.
  const { text = "", end: begin = 0 } = (await readLines(handle).next()).value ?? {};
  const heading = parseLine(finishedHeadingSchema, text);
  if (heading) return { heading, begin };
  const version = /^\{"audience_snapshot":(\d+)/.exec(text)?.[1];
  if (version === undefined || version === "1")
    throw new ConfigurationError(`${file} is not a snapshot, and is left unchanged. Name another file.`);
  throw new ConfigurationError(
    `${file} is a snapshot of another version (format ${version}, this one reads 1), and is left unchanged. ` +
      "Name another file, or read it with the version of audience-sdk that wrote it.",
  );
}

/** The heading of the file, if there is one that is not empty. */
export async function existingHeading(file: string): Promise<FinishedHeading | undefined> {
  if (!existsSync(file)) return undefined;
  const handle = openRegular(file, constants.O_RDONLY);
  try {
    return fstatSync(handle).size === 0 ? undefined : (await readHeading(handle, file)).heading;
  } finally {
    closeSync(handle);
  }
}

/** The value of a line; undefined if it is no JSON of this form. */
export function parseLine<Value>(schema: z.ZodType<Value>, text: string): Value | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

const contactSchema = z.looseObject({ id: z.string(), readAt: z.iso.datetime() });

export function contactLine({ contact, readAt }: ReadContact): string {
  return `${JSON.stringify({ ...contact, readAt })}\n`;
}

export function parseContact(text: string, file: string): ReadContact {
  const line = parseLine(contactSchema, text);
  if (!line) throw damaged(file, "a line of it is no contact");
  const { readAt, ...contact } = line;
  return { contact, readAt };
}

export function damaged(file: string, reason: string): ConfigurationError {
  return new ConfigurationError(
    `The snapshot ${file} is damaged: ${reason}. Restore it from a copy, or read another one.`,
  );
}

/** The path of a snapshot among the options. No path holds a null character. */
export const fileOption = optionThat<string>(
  "the path of a file, as a string",
  (value) => typeof value === "string" && value.trim() !== "" && !value.includes("\0"),
);

/** What the file, its lock or the file system refuses is a `ConfigurationError`; any other error stays as it is. */
export function fileError(error: unknown, file: string): unknown {
  const refusal = describeRefusal(error, "snapshot", file);
  return refusal === undefined ? error : new ConfigurationError(refusal);
}

/**
 * The salt of the key's hash. The same in all snapshots of a service, as two of them are compared without the key (D166).
 */
export function targetSalt({ families }: Pick<Target, "families">): string {
  return `audience-snapshot ${families.find(({ name }) => name === "v1")?.baseUrl}`;
}

/**
 * Throws if two snapshots are of two services or organizations. As of a checkpoint, a name that is given later takes over what
 * was recorded with a key.
 */
export function checkComparable({ target: later }: Heading, { target: earlier }: Heading): void {
  const [one, other] = [later.families.v1, earlier.families.v1];
  const isNamed = earlier.organization === undefined && later.organization !== undefined;
  const isSame = earlier.organization === later.organization && one?.key === other?.key;
  if (one?.baseUrl === other?.baseUrl && (isNamed || isSame)) return;
  throw new ConfigurationError(
    "The snapshots cannot be compared, as they are of two services or organizations, or were read with two keys: the " +
      `earlier one ${ownerOf(earlier)}, the later one ${ownerOf(later)}. If it is the same organization, name it as ` +
      "`organization` in this read and all later ones.",
  );
}

function ownerOf({ organization, families }: RecordedTarget): string {
  const owner = organization === undefined ? "without a name" : `of ${JSON.stringify(organization)}`;
  return `${owner} at ${families.v1?.baseUrl}`;
}
