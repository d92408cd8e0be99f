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
import { type Checkpoint, type OpenCheckpoint, readOnly } from "../bulk/checkpoint.ts";
import { ConfigurationError } from "../errors.ts";
import { acquireLock, type HeldLock, LockRefused } from "../files/lock.ts";
import { FileRefused, openRegular } from "../files/regular-file.ts";
import { replaceFile } from "../files/replacement.ts";
import { encodeLine, heading, readCheckpoint } from "./file-format.ts";

export type { Checkpoint, OpenCheckpoint } from "../bulk/checkpoint.ts";

/**
 * Records the rows of a run in a file that grows by lines: a run that was killed continues, and with a `key` the next run sends
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
 * const run = audience.bulk(rows, toWrites, { key: (row) => row.email, checkpoint: fileCheckpoint("import.ckpt") });
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
  const checkpoint: Checkpoint & { readonly [readOnly]: Checkpoint["open"] } = {
    open: () => unlessRefused(named, () => openFile(named)),
    [readOnly]: () => unlessRefused(named, async () => openToRead(named)),
  };
  return checkpoint;
}

async function unlessRefused<Result>(named: string, open: () => Promise<Result>): Promise<Result> {
  try {
    return await open();
  } catch (error) {
    throw refusal(error, named);
  }
}

/** Without its lock, and nothing is written: a run may have it open. */
function openToRead(named: string): OpenCheckpoint {
  const handle = existsSync(named)
    ? openRegular(named, constants.O_RDONLY, { followsLink: true })
    : undefined;
  const refuse = async (): Promise<never> => {
    throw new TypeError("This checkpoint was opened to be read.");
  };
  const lines = handle === undefined ? noLines() : readCheckpoint({ file: named, handle }, () => {});
  return {
    entries: entriesOf(lines),
    put: refuse,
    clear: refuse,
    close: async () => (handle === undefined ? undefined : closeSync(handle)),
  };
}

async function* noLines(): AsyncGenerator<string> {}

/** A name, a space, and the line that it has from there on. */
async function* entriesOf(
  lines: AsyncIterable<string>,
): AsyncGenerator<readonly [name: string, line: string]> {
  for await (const line of lines) {
    const space = line.indexOf(" ");
    yield [line.slice(0, space), line.slice(space + 1)];
  }
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
  readonly entries: OpenCheckpoint["entries"];
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
    this.entries = this.#read();
  }

  /** The newest line of each name. A file whose lines are mostly out of date is replaced by these. */
  async *#read(): OpenCheckpoint["entries"] & AsyncGenerator<readonly [name: string, line: string]> {
    const newest = new Map<string, string>();
    const opened = { file: this.#file, handle: this.#handle };
    const lines = readCheckpoint(opened, (length) => (this.#written = length));
    for await (const [name, line] of entriesOf(lines)) {
      // Else the earlier name stays as the key, and holds the whole earlier line, of which it is a slice.
      newest.delete(name);
      newest.set(name, line);
    }
    let size = 0;
    for (const [name, line] of newest) size += name.length + line.length + overheadOfLine;
    // It only saves space: if it fails, as on a full disk, the file is sound as it is.
    if (this.#written! > 2 * size + heading.length) this.#replace(newest);
    yield* newest;
  }

  /**
   * Passes the line to the kernel, so that a killed process loses nothing; with `flush`, to the disk. A failed write ends
   * the run: its bytes are dropped, because they may hold a complete line.
   */
  async put(name: string, line: string, { flush }: { readonly flush: boolean }): Promise<void> {
    const written = this.#checkHeld();
    const text = (written === 0 ? `${heading}\n` : "") + encodeLine(`${name} ${line}`);
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
    this.#checkHeld();
    this.#rewrite([]);
  }

  #replace(entries: Iterable<readonly [name: string, line: string]>): void {
    try {
      this.#checkHeld();
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

/** A checksum of up to ten digits, two spaces and the end of the line. */
const overheadOfLine = 13;

function* fileText(entries: Iterable<readonly [name: string, line: string]>): Generator<string> {
  yield `${heading}\n`;
  for (const [name, line] of entries) yield encodeLine(`${name} ${line}`);
}

function lost(file: string, reason: string): ConfigurationError {
  return new ConfigurationError(
    `The run no longer has its checkpoint ${file}: ${reason}. It stops before it writes. Restore the file if it is ` +
      "missing, and run this again: it continues from what the file records.",
    "unknown",
  );
}
