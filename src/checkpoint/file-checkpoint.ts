import {
  closeSync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { resolve } from "node:path";
import type { Checkpoint, OpenCheckpoint } from "../bulk/checkpoint.ts";
import { hashOf, heading, encodeLine, readContents } from "./lines.ts";
import { acquireLock } from "./lock-file.ts";
import { realPath } from "./real-path.ts";

/** A file with more lines, and 1.5 times as many as it needs, is compacted when it is opened. */
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
 * @throws TypeError if the path is not a string, or empty.
 */
export function fileCheckpoint(path: string): Checkpoint {
  if (typeof path !== "string" || path === "")
    throw new TypeError("fileCheckpoint takes the path of a file, as a string.");
  const named = resolve(path);
  return {
    async open() {
      const file = realPath(named);
      if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) {
        const remedy = "Name a file in it, or another file.";
        throw new Error(`The checkpoint ${file} must be a file, not a folder. ${remedy}`);
      }
      const unlock = await acquireLock(file);
      try {
        return await openFile(file, unlock);
      } catch (error) {
        unlock();
        throw error;
      }
    },
  };
}

async function openFile(file: string, unlock: () => void): Promise<OpenFile> {
  // Created if missing, but not kept open for appending: a write overwrites the rest of a failed one.
  closeSync(openSync(file, "a", 0o600));
  const { values, lines, length } = await readContents(file);
  if (lines <= fewLines || lines <= 1.5 * values.size) return new OpenFile(file, { values, length }, unlock);
  rewrite(file, values);
  return new OpenFile(file, { values, length: statSync(file).size }, unlock);
}

/** Writes a second file and renames it, so that a crash leaves one of the two complete. */
function rewrite(file: string, values: ReadonlyMap<string, string>): void {
  const handle = openSync(`${file}.new`, "w", 0o600);
  try {
    writeFileSync(
      handle,
      [`${heading}\n`, ...[...values].map(([hash, value]) => encodeLine(hash, value))].join(""),
    );
    fdatasyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(`${file}.new`, file);
}

class OpenFile implements OpenCheckpoint {
  readonly #file: string;
  readonly #handle: number;
  readonly #values: Map<string, string>;
  readonly #unlock: () => void;
  #length: number;

  constructor(
    file: string,
    { values, length }: { values: Map<string, string>; length: number },
    unlock: () => void,
  ) {
    this.#file = file;
    this.#values = values;
    this.#length = length;
    this.#unlock = unlock;
    this.#handle = openSync(file, "r+");
    // Drops an incomplete last line, left by a crash.
    ftruncateSync(this.#handle, length);
    if (length === 0) this.#append(`${heading}\n`);
  }

  get(key: string): string | undefined {
    return this.#values.get(hashOf(key));
  }

  /** Passes the line to the kernel, so that a killed process loses nothing; with `flush`, to the disk. */
  set(
    key: string,
    value: string | undefined,
    { flush }: { readonly flush?: boolean | undefined } = {},
  ): void {
    const hash = hashOf(key);
    this.#append(encodeLine(hash, value), flush);
    if (value === undefined) this.#values.delete(hash);
    else this.#values.set(hash, value);
  }

  clear(): void {
    this.#length = heading.length + 1;
    this.#guard(() => ftruncateSync(this.#handle, this.#length));
    this.#values.clear();
  }

  close(): void {
    try {
      closeSync(this.#handle);
    } finally {
      this.#unlock();
    }
  }

  #append(content: string, flush = false): void {
    const bytes = Buffer.from(content);
    this.#guard(() => {
      for (let written = 0; written < bytes.length;) {
        written += writeSync(this.#handle, bytes, written, bytes.length - written, this.#length + written);
      }
      if (flush) fdatasyncSync(this.#handle);
    });
    this.#length += bytes.length;
  }

  /** Drops the bytes of a failed write, which may hold a complete line. */
  #dropUnrecorded(): void {
    try {
      ftruncateSync(this.#handle, this.#length);
    } catch {
      // The failure of the write itself is reported.
    }
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (cause) {
      this.#dropUnrecorded();
      // Safe: `node:fs` throws nothing else.
      const { message } = cause as Error;
      throw new Error(
        `The checkpoint ${this.#file} cannot be written (${message}); the run stops, so that no row goes unrecorded.`,
        { cause },
      );
    }
  }
}
