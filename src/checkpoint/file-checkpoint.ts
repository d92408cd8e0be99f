// The entry "audience-sdk/checkpoint".
import { createHash } from "node:crypto";
import {
  appendFileSync,
  closeSync,
  createReadStream,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { resolve } from "node:path";
import type { Checkpoint, OpenCheckpoint } from "../bulk/checkpoint.ts";
import { ConfigurationError } from "../errors.ts";
import { acquireLock } from "./lock-file.ts";

export type { Checkpoint, OpenCheckpoint } from "../bulk/checkpoint.ts";

/** The first line, with the version of the format. */
const heading = "audience-checkpoint 2";

/** A file with more lines, and 1.5 times as many as it needs, is rewritten when it is opened. */
const fewLines = 10_000;

/**
 * Records the rows of a run in an append-only file: a run that was killed continues, and with a `key` the next run sends
 * the rows that have changed. One run at a time: a second run is refused.
 *
 * The file holds hashes of keys and contacts, never the keys themselves. An incomplete last line is dropped. A full disk
 * ends the run. 100,000 rows take 10 to 19 MB in the file and 16 MB of memory, and are read in a quarter of a second.
 *
 * The file is created if it does not exist; its folder is not. A symbolic link stands for its target. Two hard links to
 * one file count as two files, so the lock does not cover both.
 *
 * ```ts
 * const run = audience.bulk(rows, call, { key: (row) => row.email, checkpoint: fileCheckpoint("import.ckpt") });
 * ```
 *
 * `open` rejects with a `ConfigurationError` if the file is in use, damaged, or no checkpoint of this version.
 *
 * @throws TypeError if the path is not a string, or empty.
 */
export function fileCheckpoint(path: string): Checkpoint {
  if (typeof path !== "string" || path === "")
    throw new TypeError("fileCheckpoint takes the path of a file, as a string.");
  const named = resolve(path);
  return {
    async open() {
      createIfMissing(named);
      // Links to one file share its lock.
      const file = realpathSync(named);
      const unlock = await acquireLock(file);
      try {
        return openFile(file, await readFile(file), unlock);
      } catch (error) {
        unlock();
        throw error;
      }
    },
  };
}

function createIfMissing(path: string): void {
  try {
    closeSync(openSync(path, "a", 0o600));
  } catch (error) {
    // Safe: `node:fs` throws nothing else.
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EISDIR")
      throw new ConfigurationError(
        `The checkpoint ${path} must be a file, not a folder. Name a file in it, or another file.`,
      );
    if (code !== "ENOENT") throw error;
    throw new ConfigurationError(
      `The checkpoint ${path} cannot be created: its folder does not exist. Create the folder first, or name another file.`,
    );
  }
}

/**
 * The values by the hashes of their keys, later ones over earlier ones, and the end of the last complete line, in bytes: a
 * crash may leave an incomplete line behind it. Rejects if it is not a checkpoint of this version.
 */
async function readFile(file: string): Promise<{ values: Map<string, string>; length: number }> {
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
  return lines > fewLines && lines > 1.5 * values.size
    ? { values, length: rewrite(file, values) }
    : { values, length };
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

/** Writes a second file and renames it, so that a crash leaves one of the two complete. Returns its length in bytes. */
function rewrite(file: string, values: ReadonlyMap<string, string>): number {
  const lines = [...values].map(([hash, value]) => encodeLine(hash, value));
  const text = `${heading}\n${lines.join("")}`;
  const handle = openSync(`${file}.new`, "w", 0o600);
  try {
    writeFileSync(handle, text);
    fdatasyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(`${file}.new`, file);
  return text.length;
}

function checkHeading(line: string, file: string): void {
  if (line === heading) return;
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

function openFile(
  file: string,
  { values, length }: Awaited<ReturnType<typeof readFile>>,
  unlock: () => void,
): OpenCheckpoint {
  const handle = openSync(file, "a");
  // Drops an incomplete last line, left by a crash.
  ftruncateSync(handle, length);
  let written = length;
  if (length === 0) append(`${heading}\n`);
  return {
    get: (key) => values.get(hashOf(key)),
    /** Passes the line to the kernel, so that a killed process loses nothing; with `flush`, to the disk. */
    set(key, value, { flush = false } = {}) {
      const hash = hashOf(key);
      append(encodeLine(hash, value), flush);
      if (value === undefined) values.delete(hash);
      else values.set(hash, value);
    },
    clear() {
      ftruncateSync(handle, heading.length + 1);
      written = heading.length + 1;
      values.clear();
    },
    close() {
      try {
        closeSync(handle);
      } finally {
        unlock();
      }
    },
  };

  /** A failed write ends the run. Its bytes are dropped, because they may hold a complete line. */
  function append(line: string, flush = false): void {
    try {
      appendFileSync(handle, line);
      if (flush) fdatasyncSync(handle);
      written += line.length;
    } catch (cause) {
      try {
        ftruncateSync(handle, written);
      } catch {
        // The failure of the write itself is reported.
      }
      // Safe: `node:fs` throws nothing else.
      const { message: reason, code } = cause as NodeJS.ErrnoException;
      const message = `The checkpoint ${file} cannot be written (${reason}); the run stops, so that no row goes unrecorded.`;
      throw Object.assign(new Error(message, { cause }), { code });
    }
  }
}

/** 96 bits of a key's SHA-256: the probability that two of a million keys collide is 6 in 10^18. */
function hashOf(key: string): string {
  if (typeof key !== "string") throw new TypeError("The key of a checkpoint's value must be a string.");
  return createHash("sha256").update(key).digest().subarray(0, 12).toString("base64url");
}

/** A JSON array in ASCII: the hash and the value; the hash alone deletes the value. */
function encodeLine(hash: string, value: string | undefined): string {
  if (value === undefined) return `["${hash}"]\n`;
  if (typeof value !== "string") throw new TypeError("A checkpoint keeps strings, and nothing else.");
  const json = JSON.stringify(value).replaceAll(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `["${hash}",${json}]\n`;
}
