// The format of a snapshot: NDJSON, a heading and then a line for each contact.
import { closeSync, constants, existsSync, fstatSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import * as z from "zod";
import { ConfigurationError } from "../errors.ts";
import { LineTooLong, readLines } from "../files/lines.ts";
import { LockRefused } from "../files/lock.ts";
import { FileRefused, openRegular } from "../files/regular-file.ts";
import { type Target, targetSchema } from "../organization.ts";
import { optionThat } from "../schema/parse-options.ts";
import { errorMessage } from "../values/error-message.ts";
import { isObject } from "../values/predicates.ts";
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
const finishedHeadingSchema = headingSchema.extend({
  size: z.int().min(0),
  complete: z.boolean(),
});

export type FinishedHeading = z.infer<typeof finishedHeadingSchema>;

/**
 * The salt of the key's hash. The same in all snapshots of a service, as two of them are compared without the key (D166).
 */
export function targetSalt({ families }: Pick<Target, "families">): string {
  return `audience-snapshot ${families.find(({ name }) => name === "v1")?.baseUrl}`;
}

/** The path of a snapshot among the options. No path holds a null character. */
export const fileOption = optionThat<string>(
  "the path of a file, as a string",
  (value) => typeof value === "string" && value.trim() !== "" && !value.includes("\0"),
);

/** What the file, its lock or the file system refuses, with the way out; any other error as it is. */
export function fileError(error: unknown, file: string): unknown {
  if (error instanceof LockRefused)
    return new ConfigurationError(`The snapshot ${file} is in use: ${error.message}`);
  if (error instanceof FileRefused)
    return new ConfigurationError(
      `The snapshot cannot be used: ${error.message} It is left unchanged. Name a file of your own.`,
    );
  if (error instanceof LineTooLong)
    return new ConfigurationError(
      `${file} has a line of more than 1 MB: it is damaged, or no snapshot. It is left unchanged. Name another file.`,
    );
  if (!isObject(error) || !("syscall" in error)) return error;
  if ("code" in error && error.code === "ENOENT")
    return new ConfigurationError(
      `The snapshot ${file} does not exist. Read it with readSnapshot, or name another file.`,
    );
  return new ConfigurationError(
    `The snapshot ${file} cannot be read or written (${errorMessage(error)}). ` +
      "Mend the cause, such as a full disk, or name another file.",
  );
}

const contactSchema = z.looseObject({ id: z.string(), readAt: z.iso.datetime() });

/** The contact of a line. */
export function parseContact(text: string, file: string): ReadContact {
  // Safe: `readSnapshot` wrote it.
  const contact = parseLine(contactSchema, text) as ReadContact | undefined;
  if (contact) return contact;
  throw damaged(file, "a line of it is no contact");
}

export function damaged(file: string, reason: string): ConfigurationError {
  return new ConfigurationError(
    `The snapshot ${file} is damaged: ${reason}. Restore it from a copy, or read another one.`,
  );
}

/** The value of a line; undefined if it is no JSON of this form. */
export function parseLine<Value>(schema: z.ZodType<Value>, text: string): Value | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** The heading of a snapshot. Throws if the file is none, or one of another version. */
export function parseHeading(text: string | undefined, file: string): FinishedHeading {
  const heading = text === undefined ? undefined : parseLine(finishedHeadingSchema, text);
  if (heading) return heading;
  const version = /^\{"audience_snapshot":(\d+)/.exec(text ?? "")?.[1];
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
    const { size } = fstatSync(handle);
    return size === 0 ? undefined : parseHeading(await firstLine(handle), file);
  } finally {
    closeSync(handle);
  }
}

async function firstLine(handle: number): Promise<string | undefined> {
  for await (const { text } of readLines(handle)) return text;
  return undefined;
}

/** The file itself, where a link names it: a link stands for its target. Throws if its folder does not exist. */
export function realPath(path: string): string {
  const named = resolve(path);
  try {
    return realpathSync(named);
  } catch {
    return join(realFolder(named), basename(named));
  }
}

function realFolder(named: string): string {
  try {
    return realpathSync(dirname(named));
  } catch {
    throw new ConfigurationError(
      `The snapshot ${named} cannot be written: its folder does not exist. Create the folder first, or name another file.`,
    );
  }
}
