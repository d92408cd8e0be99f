import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";

/** The first line, which names the version of the format. */
export const heading = "audience-checkpoint 2";

/** What a checkpoint's file holds. */
export interface Contents {
  /** By the hash of their keys. */
  readonly values: Map<string, string>;
  /** How many lines stand in it; later ones replace earlier ones. */
  readonly lines: number;
  /** Where the last whole line ends, in bytes: a crash may have torn what stands behind it. */
  readonly length: number;
}

/** 96 bits of a key's SHA-256: among a million keys two have the same with a probability of 6 in 10^18. */
export function hashOf(key: string): string {
  if (typeof key !== "string") throw new TypeError("The key of a checkpoint's value must be a string.");
  return createHash("sha256").update(key).digest().subarray(0, 12).toString("base64url");
}

/** A JSON array in ASCII: the hash and the value; or the hash alone, where the value is forgotten. */
export function encodeLine(hash: string, value: string | undefined): string {
  if (value === undefined) return `["${hash}"]\n`;
  if (typeof value !== "string") throw new TypeError("A checkpoint keeps strings, and nothing else.");
  const json = JSON.stringify(value).replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `["${hash}",${json}]\n`;
}

/** Reads a file as far as its lines are whole. Rejects where it is no checkpoint that this version can read. */
export async function readContents(file: string): Promise<Contents> {
  const values = new Map<string, string>();
  let [lines, length, rest] = [0, 0, ""];
  for await (const chunk of createReadStream(file, "latin1")) {
    const complete = `${rest}${chunk as string}`.split("\n"); // Safe: with an encoding each chunk is a string.
    rest = complete.pop()!;
    for (const line of complete) {
      if (lines === 0) checkHeading(line, file);
      else parseLine(line, values, () => damaged(file, lines + 1));
      lines++;
      length += line.length + 1;
    }
  }
  // Nothing is recorded before the heading stands whole. A machine that lost its power may have left zeros.
  if (lines === 0 && !heading.startsWith(rest.replaceAll("\0", ""))) checkHeading(rest, file);
  return { values, lines, length };
}

function parseLine(line: string, values: Map<string, string>, failure: () => Error): void {
  if (!/^\["[\w-]{16}"(?:,"[\x20-\x7e]*")?\]$/.test(line)) throw failure();
  let entry: [hash: string, value?: string];
  try {
    // Safe: the pattern has one or two strings. Parsed, they keep no piece of the file in memory.
    entry = JSON.parse(line) as typeof entry;
  } catch {
    throw failure();
  }
  const [hash, value] = entry;
  if (value === undefined) values.delete(hash);
  else values.set(hash, value);
}

function checkHeading(line: string, file: string): void {
  if (line === heading) return;
  const version = /^audience-checkpoint (\d+)/.exec(line)?.[1];
  if (version === undefined)
    throw new Error(`${file} is not a checkpoint, and is left as it is. Name another file.`);
  throw new Error(
    `${file} is a checkpoint of another version (format ${version}, this one reads 2), and is left as it is. ` +
      "End its run with the version of audience-sdk that wrote it, or name another file: then every row is sent once.",
  );
}

function damaged(file: string, line: number): Error {
  const remedy = "Restore it, or begin anew with another file";
  return new Error(`${file} is damaged at line ${line}, and is left as it is. ${remedy}.`);
}
