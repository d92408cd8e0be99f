// The format of the file: a heading, and a line of JSON for each value.
import { createHash } from "node:crypto";
import {
  closeSync,
  createReadStream,
  fchmodSync,
  fchownSync,
  fdatasyncSync,
  fstatSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { ConfigurationError } from "../errors.ts";

/** The first line, with the version of the format. */
export const heading = "audience-checkpoint 2";

/** A file with more lines, and 1.5 times as many as it needs, is rewritten when it is opened. */
const fewLines = 10_000;

/** What a file holds. */
export interface RecordedValues {
  /** By the hashes of their keys, later ones over earlier ones. */
  readonly values: Map<string, string>;
  /** The end of the last complete line, in bytes: a crash may leave an incomplete line behind it. */
  readonly length: number;
  /** Whether it has many more lines than it needs. */
  readonly isLong: boolean;
}

/** Rejects if it is not a checkpoint of this version. */
export async function readFile(file: string): Promise<RecordedValues> {
  const values = new Map<string, string>();
  let [lines, length, rest] = [0, 0, ""];
  // One byte is one character: the lines are ASCII.
  for await (const chunk of createReadStream(file, "latin1")) {
    const complete = `${rest}${String(chunk)}`.split("\n");
    rest = complete.pop()!;
    for (const line of complete) {
      length += line.length + 1;
      if (++lines === 1) checkHeading(line, file);
      else {
        const [hash, value] = parseLine(line) ?? [];
        if (hash === undefined) throw damaged(file, lines);
        if (value === undefined) values.delete(hash);
        else values.set(hash, value);
      }
    }
  }
  // Without a complete heading nothing was recorded. A loss of power may leave zeros.
  if (lines === 0 && !heading.startsWith(rest.replaceAll("\0", ""))) checkHeading(rest, file);
  return { values, length, isLong: lines > fewLines && lines > 1.5 * values.size };
}

/** Undefined if the line is damaged. */
function parseLine(line: string): [hash: string, value?: string] | undefined {
  if (!/^\["[\w-]{16}"(?:,"[\x20-\x7e]*")?\]$/.test(line)) return undefined;
  try {
    // Safe: the pattern permits one or two strings.
    return JSON.parse(line) as [string, string?];
  } catch {
    return undefined;
  }
}

/**
 * Writes a second file and renames it, so that a crash leaves one of the two complete. Returns its length in bytes;
 * undefined if that fails, as on a full disk: it only saves space, and the file is sound as it is.
 */
export function rewrite(file: string, values: ReadonlyMap<string, string>): number | undefined {
  const lines = [...values].map(([hash, value]) => encodeLine(hash, value));
  const text = `${heading}\n${lines.join("")}`;
  try {
    const handle = openSync(`${file}.new`, "w", 0o600);
    try {
      writeFileSync(handle, text);
      copyAccess(file, handle);
      fdatasyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(`${file}.new`, file);
    return text.length;
  } catch {
    rmSync(`${file}.new`, { force: true });
    return undefined;
  }
}

/** Gives the new file the owner and the mode of the old one, for the other users of it. */
function copyAccess(file: string, handle: number): void {
  const { uid, gid, mode } = statSync(file);
  const created = fstatSync(handle);
  if (created.uid !== uid || created.gid !== gid) fchownSync(handle, uid, gid);
  fchmodSync(handle, mode & 0o7777);
}

function checkHeading(line: string, file: string): void {
  if (line === heading) return;
  // Read as Latin-1, a byte-order mark is three characters.
  if (/^(\xef\xbb\xbf)?audience-checkpoint 2\r?$/.test(line))
    throw new ConfigurationError(
      `${file} was changed by an editor, or by a transfer in text mode: its line ends are no longer single line feeds, ` +
        "or a byte-order mark stands before its first line. It is left unchanged. Restore it from a copy, or convert it " +
        "back, as dos2unix does.",
    );
  const version = /^audience-checkpoint (\d+)/.exec(line)?.[1];
  if (version === undefined)
    throw new ConfigurationError(`${file} is not a checkpoint, and is left unchanged. Name another file.`);
  throw new ConfigurationError(
    `${file} is a checkpoint of another version (format ${version}, this one reads 2), and is left unchanged. ` +
      "End its run with the version of audience-sdk that wrote it, or name another file: then every row is sent once.",
  );
}

function damaged(file: string, line: number): ConfigurationError {
  const remedy = "Restore it, or start again with another file";
  return new ConfigurationError(`${file} is damaged at line ${line}, and is left unchanged. ${remedy}.`);
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
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `["${hash}",${json}]\n`;
}
