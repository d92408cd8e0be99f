import {
  type Stats,
  appendFileSync,
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  statSync,
} from "node:fs";
import type { OpenCheckpoint } from "../bulk/checkpoint.ts";
import { ConfigurationError } from "../errors.ts";
import type { AcquiredLock } from "../files/lock.ts";
import { openRegular } from "../files/regular-file.ts";
import { replaceFile } from "../files/replacement.ts";
import { encodeLine, heading, readCheckpoint } from "./file-format.ts";

export const flags = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND;

/** A checkpoint file that this run has open. Without a lock it is only read. */
export class OpenFile implements OpenCheckpoint {
  readonly entries: OpenCheckpoint["entries"];
  readonly #file: string;
  readonly #lock: AcquiredLock | undefined;
  #handle: number;
  /** The file as it was opened: another one may take its place. */
  #opened: Stats;
  /** The end of the last complete line, in bytes; before the lines were read, no file is so long. */
  #written = Infinity;

  constructor(file: string, handle: number, lock?: AcquiredLock) {
    this.#file = file;
    this.#lock = lock;
    this.#handle = handle;
    this.#opened = fstatSync(handle);
    this.entries = this.#read();
  }

  /** The newest line of each name. A file whose lines are mostly out of date is replaced by these. */
  async *#read(): OpenCheckpoint["entries"] & AsyncGenerator<readonly [name: string, line: string]> {
    const { newest, length } = await readCheckpoint(this.#file, this.#handle);
    this.#written = length;
    let size = heading.length;
    for (const [name, line] of newest) size += name.length + line.length + overheadOfLine;
    if (this.#lock && length > 2 * size) this.#replace(newest);
    yield* newest;
  }

  /**
   * Passes the line to the kernel, so that a killed process loses nothing; with `flush`, to the disk. A failed write ends
   * the run: its bytes are dropped, because they may hold a complete line.
   */
  async put(name: string, line: string, { flush }: { readonly flush: boolean }): Promise<void> {
    const written = this.#checkOurs();
    const text = (written === 0 ? `${heading}\n` : "") + encodeLine(name, line);
    try {
      appendFileSync(this.#handle, text);
      if (flush) fdatasyncSync(this.#handle);
      this.#written = written + text.length;
    } catch (cause) {
      this.#dropTail(written);
      // Safe: `node:fs` throws nothing else.
      const { message: reason, code } = cause as NodeJS.ErrnoException;
      const message =
        `The checkpoint ${this.#file} cannot be written (${reason}); the run stops, so that no row goes unrecorded. ` +
        "Mend the cause, such as a full disk, and run it again: it continues from what the file records.";
      throw Object.assign(new Error(message, { cause }), { code });
    }
  }

  async clear(): Promise<void> {
    this.#checkOurs();
    this.#rewrite([]);
  }

  /** It only saves space: if it fails, as on a full disk, the file is sound as it is. */
  #replace(entries: Iterable<readonly [name: string, line: string]>): void {
    try {
      this.#checkOurs();
      this.#rewrite(entries);
    } catch (error) {
      if (error instanceof ConfigurationError) throw error;
    }
  }

  #rewrite(entries: Iterable<readonly [name: string, line: string]>): void {
    replaceFile(this.#file, fileText(entries), { keepsMode: true });
    closeSync(this.#handle);
    this.#handle = openRegular(this.#file, flags);
    this.#opened = fstatSync(this.#handle);
    this.#written = this.#opened.size;
  }

  async close(): Promise<void> {
    try {
      closeSync(this.#handle);
    } finally {
      this.#lock?.release();
    }
  }

  #dropTail(written: number): void {
    try {
      ftruncateSync(this.#handle, written);
    } catch {
      // The failure of the write itself is reported.
    }
  }

  /**
   * The end of the last complete line. Throws if the file is not ours as it was: the run must not go on unrecorded, and nothing
   * of another one is written over.
   */
  #checkOurs(): number {
    if (!this.#lock?.isOurs()) throw lost(this.#file, "its lock was taken over by another run, or deleted");
    const now = statSync(this.#file, { throwIfNoEntry: false });
    if (now?.ino !== this.#opened.ino || now.dev !== this.#opened.dev || now.size < this.#written)
      throw lost(this.#file, "the file was deleted, moved, replaced or cut off");
    // An incomplete last line, left by a crash.
    if (now.size > this.#written) ftruncateSync(this.#handle, this.#written);
    return this.#written;
  }
}

/** A checksum of up to ten digits, two spaces and the end of the line. */
const overheadOfLine = 13;

function* fileText(entries: Iterable<readonly [name: string, line: string]>): Generator<string> {
  yield `${heading}\n`;
  for (const [name, line] of entries) yield encodeLine(name, line);
}

function lost(file: string, reason: string): ConfigurationError {
  return new ConfigurationError(
    `The run no longer has its checkpoint ${file}: ${reason}. It stops before it writes. Restore the file if it is ` +
      "missing, and run this again: it continues from what the file records.",
    "unknown",
  );
}
