// The format of the file: a heading, and then lines, each with a checksum before it. All of it is ASCII.
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
  writeSync,
} from "node:fs";
import { crc32 } from "node:zlib";
import { ConfigurationError } from "../errors.ts";

/** The first line, with the version of the format. */
export const heading = "audience-checkpoint 3";

const chunkLength = 65_536;

/**
 * Reads the lines of a file. `onEnd` gets the end of the last complete one, in bytes: a crash may leave an incomplete line
 * behind it. Throws if it is not a checkpoint of this version, or damaged.
 */
export async function* readLines(
  file: string,
  onEnd: (length: number) => void,
): AsyncGenerator<string, void, undefined> {
  let [count, length, rest] = [0, 0, ""];
  // One byte is one character.
  for await (const chunk of createReadStream(file, "latin1")) {
    const complete = `${rest}${String(chunk)}`.split("\n");
    rest = complete.pop()!;
    for (const line of complete) {
      length += line.length + 1;
      count += 1;
      if (count === 1) checkHeading(line, file);
      else yield decodeLine(line) ?? damaged(file, count);
    }
  }
  if (/^\0+$/.test(rest) && count === 0) throw zeroed(file);
  // Without a complete heading nothing was recorded. A loss of power may leave zeros behind it.
  if (count === 0 && !heading.startsWith(rest.replaceAll("\0", ""))) checkHeading(rest, file);
  onEnd(length);
}

/** The checksum, a space, and the text in ASCII. */
export function encodeLine(text: string): string {
  // Lines are JSON: where a character is not ASCII, it stands in a string.
  const ascii = text.replaceAll(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `${crc32(ascii)} ${ascii}\n`;
}

/** Undefined if the line is damaged. */
function decodeLine(line: string): string | undefined {
  const space = line.indexOf(" ");
  const text = line.slice(space + 1);
  return Number(line.slice(0, space)) === crc32(text) ? text : undefined;
}

/** Writes a second file and renames it, so that a crash leaves one of the two complete. */
export function writeAnew(file: string, lines: Iterable<string>): void {
  try {
    const handle = openSync(`${file}.new`, "w", 0o600);
    try {
      let chunk = `${heading}\n`;
      for (const line of lines) {
        chunk += encodeLine(line);
        if (chunk.length < chunkLength) continue;
        writeSync(handle, chunk);
        chunk = "";
      }
      writeSync(handle, chunk);
      copyAccess(file, handle);
      fdatasyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(`${file}.new`, file);
  } catch (error) {
    rmSync(`${file}.new`, { force: true });
    throw error;
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
  if (/^(\xef\xbb\xbf)?audience-checkpoint 3\r?$/.test(line))
    throw new ConfigurationError(
      `${file} was changed by an editor, or by a transfer in text mode: its line ends are no longer single line feeds, ` +
        "or a byte-order mark stands before its first line. It is left unchanged. Restore it from a copy, or convert it " +
        "back, as dos2unix does.",
    );
  const version = /^audience-checkpoint (\d+)/.exec(line)?.[1];
  if (version === undefined)
    throw new ConfigurationError(`${file} is not a checkpoint, and is left unchanged. Name another file.`);
  throw new ConfigurationError(
    `${file} is a checkpoint of another version (format ${version}, this one reads 3), and is left unchanged. ` +
      "End its run with the version of audience-sdk that wrote it. Another file sends every row once, and knows none of " +
      "the refusals that this one holds.",
  );
}

/** The heading of a new file stands there before its first row is sent, so these were lines. */
function zeroed(file: string): ConfigurationError {
  return new ConfigurationError(
    `${file} holds only zeros, as a loss of power may leave them, and is left unchanged. Restore it from a copy. Another ` +
      "file sends every row again, and knows none of the refusals that this one held: guard that run with a snapshot.",
  );
}

function damaged(file: string, line: number): never {
  const remedy =
    "Restore it. Another file sends every row again, and knows none of the refusals that this one holds";
  throw new ConfigurationError(`${file} is damaged at line ${line}, and is left unchanged. ${remedy}.`);
}
