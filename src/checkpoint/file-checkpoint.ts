// The entry "audience-sdk/checkpoint". The file has a heading, and then lines, each with a checksum before it. All of it is ASCII.
import {
  appendFileSync,
  constants,
  existsSync,
  fdatasyncSync,
  ftruncateSync,
  realpathSync,
  statSync,
} from "node:fs";
import { resolve } from "node:path";
import { crc32 } from "node:zlib";
import { type Checkpoint, type OpenCheckpoint, readAlone } from "../bulk/checkpoint.ts";
import { ConfigurationError } from "../errors.ts";
import { acquireLock, type Lock, refusalOf } from "../files/lock.ts";
import { longestLineBytes, openRegular, type RegularFile } from "../files/regular-file.ts";
import { replaceFile } from "../files/replacement.ts";
import { mustBe } from "../values/in-words.ts";

export type { Checkpoint, OpenCheckpoint } from "../bulk/checkpoint.ts";

/**
 * Records the rows of a run in a file that grows by lines: a run that was killed continues, and with a `key` the next run sends
 * the rows that have changed. One run at a time, over processes, containers and machines that share the file: a second run
 * is refused, and one after a kill waits up to 30 seconds, as only then the lock of the killed one counts as left behind.
 *
 * The file holds hashes of keys and contacts, never the keys themselves. An incomplete last line is dropped. A full disk ends
 * the run. 100,000 rows take 10 to 20 MB in the file and at most 30 MB of memory, and are read in a second. The file is created
 * if it does not exist; its folder is not. `bulk.check` leaves no new file behind. A symbolic link stands for its target. Two
 * hard links to one file count as two files, so the lock does not cover both.
 *
 * ```ts
 * const run = audience.bulk(rows, toWrites, { key: (row) => row.email, checkpoint: fileCheckpoint("import.ckpt") });
 * ```
 *
 * `open` rejects with a `ConfigurationError` if the file is in use, damaged, no checkpoint of this version, no regular file, or
 * another user's, or if it cannot be opened (`cause` is the system's error). So does a run that has lost its file or its lock.
 *
 * @throws ConfigurationError if the path is not a string, or empty.
 */
export function fileCheckpoint(path: string): Checkpoint {
  if (typeof path !== "string" || path === "")
    throw new ConfigurationError(`The path of fileCheckpoint ${mustBe("a string that is not empty", path)}.`);
  const file = resolve(path);
  const refuse = (error: unknown): never => {
    throw refusalOf(error, "checkpoint", file, ConfigurationError);
  };
  return { open: () => openFile(file).catch(refuse), [readAlone]: () => readEntries(file, refuse) };
}

async function openFile(path: string): Promise<CheckpointFile> {
  // Created first: links to one file share its lock.
  openRegular(path, checkpointFlags, { followsLink: true }).close();
  const file = realpathSync(path);
  const lock = await acquireLock(file);
  try {
    return new CheckpointFile(openRegular(file, checkpointFlags), lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function* readEntries(path: string, refuse: (error: unknown) => never): CheckpointEntries {
  if (!existsSync(path)) return;
  const open = async () => openRegular(path, constants.O_RDONLY, { followsLink: true });
  using file = await open().catch(refuse);
  yield* (await readCheckpoint(file)).newest;
}

type CheckpointEntries = AsyncGenerator<readonly [name: string, line: string], void, undefined>;

const heading = "audience-checkpoint 4";
const isName = /^[\x21-\x7e]{1,200}$/;
const isLine = /^[\x20-\x7e]{0,2000}$/;
const checkpointFlags = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND;

class CheckpointFile implements OpenCheckpoint {
  readonly entries = this.#read();
  readonly #lock: Lock;
  #file: RegularFile;
  /** The end of the last complete line, in bytes; known once the lines were read. */
  #writtenEnd: number | undefined;

  constructor(file: RegularFile, lock: Lock) {
    this.#file = file;
    this.#lock = lock;
  }

  /** The newest line of each name. A file whose lines are mostly out of date is replaced by these. */
  async *#read(): CheckpointEntries {
    const { newest, entryCount, length } = await readCheckpoint(this.#file);
    this.#writtenEnd = length;
    try {
      if (entryCount > 2 * newest.size) this.#rewrite(newest);
    } catch (error) {
      // A rewrite only saves space: if it fails, as on a full disk, the checkpoint is sound as it is.
      if (error instanceof ConfigurationError) throw error;
    }
    yield* newest;
  }

  /** Passes the line to the kernel, so that a killed process loses nothing; with `flush`, to the disk. */
  async put(name: string, line: string, { flush }: { readonly flush: boolean }): Promise<void> {
    const writtenEnd = this.#checkOurs();
    const text = (writtenEnd === 0 ? `${heading}\n` : "") + encodeLine(name, line);
    try {
      appendFileSync(this.#file.handle, text);
      if (flush) fdatasyncSync(this.#file.handle);
      this.#writtenEnd = writtenEnd + text.length;
    } catch (cause) {
      // What was written may hold a complete line of the checkpoint.
      try {
        ftruncateSync(this.#file.handle, writtenEnd);
      } catch {
        // The failure of the `put` itself is reported.
      }
      // Safe: `node:fs` throws nothing else.
      const { message, code } = cause as NodeJS.ErrnoException;
      const problem =
        `The checkpoint ${this.#file.path} cannot be written (${message}); the run stops, so that no row goes unrecorded. ` +
        "Mend the cause, such as a full disk, and run it again: it continues from what the file records.";
      throw Object.assign(new Error(problem, { cause }), { code });
    }
  }

  async clear(): Promise<void> {
    this.#rewrite([]);
  }

  async close(): Promise<void> {
    try {
      this.#file.close();
    } finally {
      this.#lock.release();
    }
  }

  #rewrite(entries: Iterable<readonly [name: string, line: string]>): void {
    this.#checkOurs();
    replaceFile(this.#file.path, fileText(entries), { keepsMode: true });
    this.#file.close();
    this.#file = openRegular(this.#file.path, checkpointFlags);
    this.#writtenEnd = this.#file.opened.size;
  }

  /** The end of the last complete line. Throws if the file is not ours as it was: nothing of another run is written over. */
  #checkOurs(): number {
    if (this.#writtenEnd === undefined)
      throw new TypeError("The `entries` of a checkpoint must be read before its first `put` or `clear`.");
    const { path, handle, opened } = this.#file;
    if (!this.#lock.isOurs()) throw lost(path, "its lock was taken over, deleted or replaced");
    const stats = statSync(path, { throwIfNoEntry: false });
    const { ino, dev, uid } = opened;
    if (stats?.ino !== ino || stats.dev !== dev || stats.uid !== uid || stats.size < this.#writtenEnd)
      throw lost(path, "the file was deleted, moved, replaced, cut off or given to another user");
    // An incomplete last line, left by a crash.
    if (stats.size > this.#writtenEnd) ftruncateSync(handle, this.#writtenEnd);
    return this.#writtenEnd;
  }
}

/**
 * The newest line of each name, and the end of the last complete line, in bytes: a crash may leave an incomplete one behind it.
 * Throws if it is not a checkpoint of this version, or damaged.
 */
async function readCheckpoint(file: RegularFile) {
  const newest = new Map<string, string>();
  let [lineCount, length] = [0, 0];
  for await (const { text, end } of file.lines()) {
    lineCount += 1;
    length = end;
    if (lineCount === 1) checkHeading(text, file.path);
    else newest.set(...(decodeLine(text) ?? damaged(file.path, lineCount)));
  }
  const rest = Buffer.from(file.rest).toString("latin1");
  if (rest.length > longestLineBytes && lineCount > 0) damaged(file.path, lineCount + 1);
  if (lineCount > 0) return { newest, entryCount: lineCount - 1, length };
  // The heading of a new file stands there before its first row is sent, so these were lines: a loss of power leaves zeros.
  if (/^\0+$/.test(rest)) damaged(file.path, 1);
  // Without a complete heading nothing was recorded. A loss of power may leave zeros behind it.
  if (!heading.startsWith(rest.replaceAll("\0", ""))) checkHeading(rest, file.path);
  return { newest, entryCount: 0, length };
}

function* fileText(entries: Iterable<readonly [name: string, line: string]>): Generator<string> {
  yield `${heading}\n`;
  for (const [name, line] of entries) yield encodeLine(name, line);
}

/** The checksum, a space, the name, a space, and the line. Throws a `TypeError` if they are not as a checkpoint has them. */
function encodeLine(name: string, line: string): string {
  // Also strings, as a caller in JavaScript may give anything.
  if (!isName.test(name) || !isLine.test(line) || typeof name !== "string" || typeof line !== "string")
    throw new TypeError("A name of a checkpoint has at most 200 characters of ASCII, and a line 2,000.");
  const text = `${name} ${line}`;
  return `${crc32(text)} ${text}\n`;
}

/** Undefined if the line is damaged. */
function decodeLine(encoded: string): readonly [name: string, line: string] | undefined {
  const nameStart = encoded.indexOf(" ") + 1;
  const bytes = Buffer.from(encoded.slice(nameStart));
  if (nameStart === 0 || Number(encoded.slice(0, nameStart - 1)) !== crc32(bytes)) return undefined;
  const nameEnd = bytes.indexOf(" ");
  // Copies of the name and the line: slices would keep the whole encoded line in memory.
  return [bytes.toString("latin1", 0, nameEnd), bytes.toString("latin1", nameEnd + 1)];
}

function checkHeading(line: string, file: string): void {
  if (line === heading) return;
  const version = /^\uFEFF?audience-checkpoint (\d+)(\s|$)/.exec(line)?.[1];
  if (version === undefined)
    throw new ConfigurationError(`${file} is not a checkpoint, and is left unchanged. Name another file.`);
  // An editor has changed the line ends of the checkpoint, or put a byte-order mark before its heading.
  if (heading.endsWith(` ${version}`)) damaged(file, 1);
  throw new ConfigurationError(
    `${file} is a checkpoint of another version (format ${version}, this one reads 4), and is left unchanged. ` +
      "End its run with the version of audience-sdk that wrote it. Another file sends every row once, and knows none of " +
      "the refusals that this one holds.",
  );
}

function damaged(file: string, line: number): never {
  throw new ConfigurationError(
    `${file} is damaged at line ${line}, and is left unchanged. Restore it. Another file sends every row again, and ` +
      "knows none of the refusals that this one holds.",
  );
}

function lost(file: string, reason: string): ConfigurationError {
  return new ConfigurationError(
    `The run no longer has its checkpoint ${file}: ${reason}. It stops before it writes. Restore the file if it is ` +
      "missing, and run this again: it continues from what the file records.",
    "unknown",
  );
}
