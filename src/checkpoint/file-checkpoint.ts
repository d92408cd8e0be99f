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

/** A file that has more lines, and half as many again as it needs, is written anew when it is opened. */
const fewLines = 10_000;

/**
 * Keeps a run's rows in an append-only file, so that a run that was killed goes on where it was, and with a `key` the
 * next run sends what has changed. One run at a time: a second is refused.
 *
 * The file holds hashes of keys and contacts, and neither themselves. A line that a crash left torn is dropped when it
 * is opened. A full disk rejects, and so ends the run before it loses track. 100,000 rows take 10 to 19 MB in the file
 * and 16 MB of memory, and are read in a quarter of a second.
 *
 * The file is made where it is not there; its folder is not. A symbolic link stands for the file that it leads to. A
 * hard link cannot be told from another file, so runs that name one file by two of them are not kept apart.
 *
 * ```ts
 * const run = audience.bulk(rows, call, { key: (row) => row.email, checkpoint: fileCheckpoint("import.ckpt") });
 * ```
 *
 * @throws TypeError where the path is no string, or an empty one.
 */
export function fileCheckpoint(path: string): Checkpoint {
  if (typeof path !== "string" || path === "")
    throw new TypeError("fileCheckpoint takes the path of a file, as a string.");
  const named = resolve(path);
  return {
    async open() {
      const file = realPath(named);
      if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) {
        const remedy = "Name a file in it, or another one.";
        throw new Error(`The checkpoint ${file} must be a file, and is a folder. ${remedy}`);
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
  // Made if it is not there, but not opened for appending: what a failed write leaves, the next one writes over.
  closeSync(openSync(file, "a", 0o600));
  const { values, lines, length } = await readContents(file);
  if (lines <= fewLines || lines <= 1.5 * values.size) return new OpenFile(file, { values, length }, unlock);
  rewrite(file, values);
  return new OpenFile(file, { values, length: statSync(file).size }, unlock);
}

/** In a second file that then takes the place of the first, so that a crash leaves one of them whole. */
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
    // What stands behind the last whole line was torn by a crash.
    ftruncateSync(this.#handle, length);
    if (length === 0) this.#append(`${heading}\n`);
  }

  get(key: string): string | undefined {
    return this.#values.get(hashOf(key));
  }

  /** In the kernel's hands when this returns, so that a killed process loses nothing; with `flush`, on the disk. */
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

  /** What a failed write has left: a whole line may stand in it. */
  #dropUnrecorded(): void {
    try {
      ftruncateSync(this.#handle, this.#length);
    } catch {
      // The write's own failure is told.
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
        `The checkpoint ${this.#file} cannot be written (${message}); the run stops, so that it does not lose track.`,
        { cause },
      );
    }
  }
}
