// The entry "audience-sdk/checkpoint".
import {
  type Stats,
  appendFileSync,
  closeSync,
  constants,
  existsSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  realpathSync,
  rmSync,
  statSync,
} from "node:fs";
import { resolve } from "node:path";
import type { Checkpoint, OpenCheckpoint } from "../bulk/checkpoint.ts";
import { ConfigurationError } from "../errors.ts";
import { acquireLock, type HeldLock, LockRefused } from "../files/lock.ts";
import { FileRefused, openRegular } from "../files/regular-file.ts";
import { replaceFile } from "../files/replacement.ts";
import { encodeLine, heading, readCheckpoint } from "./file-format.ts";

export type { Checkpoint, OpenCheckpoint } from "../bulk/checkpoint.ts";

/**
 * Records the rows of a run in an append-only file: a run that was killed continues, and with a `key` the next run sends
 * the rows that have changed. One run at a time, over processes, containers and machines that share the file: a second run
 * is refused, and one after a kill waits up to 30 seconds, as only then the lock of the killed one counts as left behind.
 *
 * The file holds hashes of keys and contacts, never the keys themselves. An incomplete last line is dropped. A full disk
 * ends the run. 100,000 rows take 16 to 26 MB in the file and about 30 MB of memory, and are read in a second.
 *
 * The file is created if it does not exist; its folder is not. `bulk.check` leaves no new file behind. A symbolic link
 * stands for its target. Two hard links to one file count as two files, so the lock does not cover both.
 *
 * ```ts
 * const run = audience.bulk(rows, call, { key: (row) => row.email, checkpoint: fileCheckpoint("import.ckpt") });
 * ```
 *
 * `open` rejects with a `ConfigurationError` if the file is in use, damaged, no checkpoint of this version, no regular file,
 * or another user's; the run does if the file is replaced, or its lock taken over, while the run has it open.
 *
 * @throws TypeError if the path is not a string, or empty.
 */
export function fileCheckpoint(path: string): Checkpoint {
  if (typeof path !== "string" || path === "")
    throw new TypeError("fileCheckpoint takes the path of a file, as a string.");
  const named = resolve(path);
  return {
    async open() {
      try {
        return await openFile(named);
      } catch (error) {
        throw refusal(error, named);
      }
    },
  };
}

async function openFile(named: string): Promise<OpenFile> {
  const isNew = !existsSync(named);
  createIfMissing(named);
  // Links to one file share its lock.
  const file = realpathSync(named);
  const lock = await acquireLock(file);
  try {
    return new OpenFile(file, { lock, isNew });
  } catch (error) {
    lock.release();
    throw error;
  }
}

const flags = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND;

function createIfMissing(named: string): void {
  try {
    closeSync(openRegular(named, flags, { followsLink: true }));
  } catch (error) {
    // Safe: read by its code alone, which only errors of the system have.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new ConfigurationError(
      `The checkpoint ${named} cannot be created: its folder does not exist. Create the folder first, or name another file.`,
    );
  }
}

/** What must not be used, with the way out; any other error as it is. */
function refusal(error: unknown, named: string): unknown {
  if (error instanceof LockRefused)
    return new ConfigurationError(`The checkpoint ${named} is in use: ${error.message}`);
  if (!(error instanceof FileRefused)) return error;
  return new ConfigurationError(
    `The checkpoint cannot be used: ${error.message} It is left unchanged. Name a file of your own.`,
  );
}

/** A checkpoint file that this run has open. */
class OpenFile implements OpenCheckpoint {
  readonly lines: AsyncIterable<string>;
  readonly #file: string;
  readonly #lock: HeldLock;
  readonly #isNew: boolean;
  #handle: number;
  /** The file as it was opened: another one may take its place. */
  #opened: Stats;
  /** The end of the last complete line, in bytes; unknown before the lines were read. */
  #written: number | undefined;

  /** `isNew`: the file was created for this run. */
  constructor(file: string, { lock, isNew }: { lock: HeldLock; isNew: boolean }) {
    this.#file = file;
    this.#lock = lock;
    this.#isNew = isNew;
    // A run that ended meanwhile may have removed an empty file.
    this.#handle = openRegular(file, flags);
    this.#opened = fstatSync(this.#handle);
    this.lines = readCheckpoint({ file, handle: this.#handle }, (length) => (this.#written = length));
  }

  /**
   * Passes the line to the kernel, so that a killed process loses nothing; with `flush`, to the disk. A failed write ends
   * the run: its bytes are dropped, because they may hold a complete line.
   */
  async append(line: string, { flush }: { readonly flush: boolean }): Promise<void> {
    const written = this.#checkHeld();
    const text = (written === 0 ? `${heading}\n` : "") + encodeLine(line);
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

  async rewrite(lines: Iterable<string>): Promise<void> {
    this.#checkHeld();
    replaceFile(this.#file, fileText(lines), { keepsMode: true });
    closeSync(this.#handle);
    this.#handle = openRegular(this.#file, flags);
    this.#opened = fstatSync(this.#handle);
    this.#written = this.#opened.size;
  }

  async close(): Promise<void> {
    try {
      closeSync(this.#handle);
      // It was read, and nothing added: `bulk.check` leaves nothing behind. Without the lock the file is another run's.
      if (this.#isNew && this.#written === 0 && this.#lock.isHeld()) rmSync(this.#file, { force: true });
    } finally {
      this.#lock.release();
    }
  }

  #dropTail(written: number): void {
    try {
      ftruncateSync(this.#handle, written);
    } catch {
      // The failure of the write itself is reported.
    }
  }

  /** What another run or program has written since must not be written over, and the run must not go on unrecorded. */
  #checkHeld(): number {
    this.#checkLock();
    const now = statSync(this.#file, { throwIfNoEntry: false });
    if (now?.ino !== this.#opened.ino || now.dev !== this.#opened.dev)
      throw lost(this.#file, "the file was deleted, moved or replaced");
    // Else what is there would be cut off.
    if (this.#written === undefined)
      throw new TypeError("The lines of a checkpoint are read before one is added.");
    if (now.size < this.#written) throw lost(this.#file, "the file was cut off by another program");
    // An incomplete last line, left by a crash.
    if (now.size > this.#written) ftruncateSync(this.#handle, this.#written);
    return this.#written;
  }

  #checkLock(): void {
    if (!this.#lock.isHeld()) throw lost(this.#file, "its lock was taken over by another run, or deleted");
  }
}

function* fileText(lines: Iterable<string>): Generator<string> {
  yield `${heading}\n`;
  for (const line of lines) yield encodeLine(line);
}

function lost(file: string, reason: string): ConfigurationError {
  return new ConfigurationError(
    `The run no longer has its checkpoint ${file}: ${reason}. It stops before it writes. Restore the file if it is ` +
      "missing, and run this again: it continues from what the file records.",
    "unknown",
  );
}
