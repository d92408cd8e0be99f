// The format of the file: a heading, and then lines, each with a checksum before it. All of it is ASCII.
import { crc32 } from "node:zlib";
import { ConfigurationError } from "../errors.ts";
import { longestLineBytes, readLines } from "../files/lines.ts";

/** The first line, with the version of the format. */
export const heading = "audience-checkpoint 4";

/**
 * Reads a checkpoint: the newest line of each name, and the end of the last complete line, in bytes, as a crash may leave an
 * incomplete one behind it. Throws if it is not a checkpoint of this version, or damaged.
 */
export async function readCheckpoint(
  file: string,
  handle: number,
): Promise<{ readonly newest: Map<string, string>; readonly length: number }> {
  const newest = new Map<string, string>();
  let [count, length, rest] = [0, 0, ""];
  const onRest = (bytes: Uint8Array) => (rest = Buffer.from(bytes).toString("latin1"));
  for await (const { text, end } of readLines(handle, { onRest })) {
    count += 1;
    length = end;
    if (count === 1) checkHeading(text, file);
    else newest.set(...(decodeLine(text) ?? damaged(file, count)));
  }
  if (count > 0) return rest.length > longestLineBytes ? damaged(file, count + 1) : { newest, length };
  // The heading of a new file stands there before its first row is sent, so these were lines: a loss of power leaves zeros.
  if (/^\0+$/.test(rest)) damaged(file, 1);
  // Without a complete heading nothing was recorded. A loss of power may leave zeros behind it.
  if (!heading.startsWith(rest.replaceAll("\0", ""))) checkHeading(rest, file);
  return { newest, length };
}

/** The checksum, a space, the name, a space, and the line. Throws a `TypeError` if they are not as a checkpoint has them. */
export function encodeLine(name: string, line: string): string {
  // Also strings, as a caller in JavaScript may give anything.
  if (!isName.test(name) || !isLine.test(line) || typeof name !== "string" || typeof line !== "string")
    throw new TypeError("A name of a checkpoint has at most 200 characters of ASCII, and a line 2,000.");
  const text = `${name} ${line}`;
  return `${crc32(text)} ${text}\n`;
}

const isName = /^[\x21-\x7e]{1,200}$/;
const isLine = /^[\x20-\x7e]{0,2000}$/;

/** Undefined if the line is damaged. */
function decodeLine(encoded: string): readonly [name: string, line: string] | undefined {
  const begin = encoded.indexOf(" ") + 1;
  const bytes = Buffer.from(encoded.slice(begin));
  if (Number(encoded.slice(0, begin - 1)) !== crc32(bytes)) return undefined;
  const end = bytes.indexOf(" ");
  // Copies: a slice would keep the whole line in memory.
  return [bytes.toString("latin1", 0, end), bytes.toString("latin1", end + 1)];
}

function checkHeading(line: string, file: string): void {
  if (line === heading) return;
  const version = /^\uFEFF?audience-checkpoint (\d+)(\s|$)/.exec(line)?.[1];
  if (version === undefined)
    throw new ConfigurationError(`${file} is not a checkpoint, and is left unchanged. Name another file.`);
  // An editor has changed its line ends, or put a byte-order mark before it.
  if (heading.endsWith(` ${version}`)) damaged(file, 1);
  throw new ConfigurationError(
    `${file} is a checkpoint of another version (format ${version}, this one reads 4), and is left unchanged. ` +
      "End its run with the version of audience-sdk that wrote it. Another file sends every row once, and knows none of " +
      "the refusals that this one holds.",
  );
}

function damaged(file: string, line: number): never {
  const remedy =
    "Restore it. Another file sends every row again, and knows none of the refusals that this one holds";
  throw new ConfigurationError(`${file} is damaged at line ${line}, and is left unchanged. ${remedy}.`);
}
