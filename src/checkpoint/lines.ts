import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";

/** The first line, with the version of the format. */
export const heading = "audience-checkpoint 2";

/** The content of a checkpoint's file. */
export interface Contents {
  /** The values by the hashes of their keys. */
  readonly values: Map<string, string>;
  /** The number of lines; later ones replace earlier ones. */
  readonly lines: number;
  /** The end of the last complete line, in bytes: a crash may leave an incomplete line behind it. */
  readonly length: number;
}

/** 96 bits of a key's SHA-256: the probability that two of a million keys collide is 6 in 10^18. */
export function hashOf(key: string): string {
  if (typeof key !== "string") throw new TypeError("The key of a checkpoint's value must be a string.");
  return createHash("sha256").update(key).digest().subarray(0, 12).toString("base64url");
}

/** A JSON array in ASCII: the hash and the value; the hash alone deletes the value. */
export function encodeLine(hash: string, value: string | undefined): string {
  if (value === undefined) return `["${hash}"]\n`;
  if (typeof value !== "string") throw new TypeError("A checkpoint keeps strings, and nothing else.");
  const json = JSON.stringify(value).replaceAll(
    /[^\0-\x7f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `["${hash}",${json}]\n`;
}

/** Reads the complete lines of a file. Rejects if it is not a checkpoint of this version. */
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
  // Without a complete heading nothing was recorded. A loss of power may leave zeros.
  if (lines === 0 && !heading.startsWith(rest.replaceAll("\0", ""))) checkHeading(rest, file);
  return { values, lines, length };
}

function parseLine(line: string, values: Map<string, string>, failure: () => Error): void {
  if (!/^\["[\w-]{16}"(?:,"[\x20-\x7e]*")?\]$/.test(line)) throw failure();
  let entry: [hash: string, value?: string];
  try {
    // Safe: the pattern permits one or two strings. Parsed strings keep no chunk of the file in memory.
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
    throw new Error(`${file} is not a checkpoint, and is left unchanged. Name another file.`);
  throw new Error(
    `${file} is a checkpoint of another version (format ${version}, this one reads 2), and is left unchanged. ` +
      "End its run with the version of audience-sdk that wrote it, or name another file: then every row is sent once.",
  );
}

function damaged(file: string, line: number): Error {
  const remedy = "Restore it, or start again with another file";
  return new Error(`${file} is damaged at line ${line}, and is left unchanged. ${remedy}.`);
}
