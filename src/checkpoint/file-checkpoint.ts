import { randomUUID } from "node:crypto";
import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from "node:fs";
import { resolve } from "node:path";
import type { Checkpoint, OpenCheckpoint, RecordedState } from "../bulk/checkpoint.ts";
import { hashKey, KeyTable } from "./key-table.ts";
import { takeLock } from "./lock-file.ts";
import { realPath } from "./real-path.ts";
import { codeOf, lineLength, readLine, stateOf, writeLine } from "./record-line.ts";

const preface = "audience-checkpoint 1 ";
const heading = /^audience-checkpoint 1 ([0-9a-f-]{36})\n$/;
const headingLength = preface.length + 36 + 1;
const pieceLength = lineLength * 65_536;

/**
 * Keeps a run's rows in an append-only file, one line of 18 bytes a row, so that a run that was killed goes on where it
 * was. One run at a time: a second is refused.
 *
 * The file holds hashes of the rows' keys, and no key. A line that a crash left torn is dropped when it is opened. A
 * full disk rejects, and so ends the run before it loses track. A million rows take 18 MB, and in a run about 65 MB of
 * memory: 27 for what is on record, the rest to tell the run's own keys apart.
 *
 * The file is made where it is not there; its folder is not. A symbolic link stands for the file that it leads to. A
 * hard link cannot be told from another file, so runs that name one file by two of them are not kept apart.
 *
 * ```ts
 * const run = audience.bulk(rows, call, { key: (row) => row.email, checkpoint: fileCheckpoint("import.ckpt") });
 * ```
 */
export function fileCheckpoint(path: string): Checkpoint {
  if (typeof path !== "string" || path === "")
    throw new TypeError("fileCheckpoint takes the path of a file, as a text.");
  const named = resolve(path);
  return {
    async open() {
      const file = realPath(named);
      if (statSync(file, { throwIfNoEntry: false })?.isDirectory()) {
        const remedy = "Name a file in it, or another one.";
        throw new Error(`The checkpoint ${file} must be a file, and is a folder. ${remedy}`);
      }
      const unlock = await takeLock(file);
      try {
        return new OpenFile(file, unlock);
      } catch (error) {
        unlock();
        throw error;
      }
    },
  };
}

class OpenFile implements OpenCheckpoint {
  readonly id: string;
  readonly #file: string;
  readonly #handle: number;
  readonly #table: KeyTable;
  readonly #unlock: () => void;
  #length: number;

  constructor(file: string, unlock: () => void) {
    this.#file = file;
    this.#unlock = unlock;
    // Made if it is not there, but not opened for appending: what a failed write leaves, the next one writes over.
    closeSync(openSync(file, "a", 0o600));
    this.#handle = openSync(file, "r+");
    try {
      const { size } = fstatSync(this.#handle);
      this.id = this.#readHeading(size) ?? this.#writeHeading();
      const lines = Math.floor(Math.max(0, size - headingLength) / lineLength);
      this.#table = new KeyTable(lines);
      this.#length = this.#readLines(headingLength + lines * lineLength);
      // What stands behind the last whole line was torn by a crash.
      ftruncateSync(this.#handle, this.#length);
    } catch (error) {
      closeSync(this.#handle);
      throw error;
    }
  }

  stateOf(key: string): RecordedState | undefined {
    return stateOf(this.#table.get(...hashKey(key)));
  }

  /**
   * In the kernel's hands when this returns, so that a killed process loses nothing; what is in doubt is on the disk,
   * so that not even a machine that loses its power sends it again.
   */
  record(key: string, state: RecordedState | undefined): void {
    const [hash, coded] = [hashKey(key), codeOf(state)];
    this.#write(writeLine(hash, coded), this.#length);
    if (state === "in-doubt") this.#guard(() => fdatasyncSync(this.#handle));
    this.#length += lineLength;
    this.#table.set(...hash, coded);
  }

  close(): void {
    try {
      closeSync(this.#handle);
    } finally {
      this.#unlock();
    }
  }

  /** Undefined where there is none yet, or only a torn one. */
  #readHeading(size: number): string | undefined {
    const text = this.#readBytes(Buffer.alloc(Math.min(size, headingLength)), 0).toString("latin1");
    const id = heading.exec(text)?.[1];
    if (id !== undefined) return id;
    // Nothing is on record before the heading stands whole.
    const isTorn = size < headingLength && (preface.startsWith(text) || text.startsWith(preface));
    if (isTorn || (size <= headingLength && isBlank(text))) return undefined;
    throw new Error(`${this.#file} is not a checkpoint, and is left as it is. Name another file.`);
  }

  #writeHeading(): string {
    const id = randomUUID();
    this.#write(`${preface}${id}\n`, 0);
    return id;
  }

  /** Where the lines end. */
  #readLines(end: number): number {
    for (const { at, bytes } of this.#pieces(headingLength, end)) {
      for (let line = 0; line < bytes.length; line += lineLength) {
        if (readLine(bytes, line, (a, b, c, state) => this.#table.set(a, b, c, state))) continue;
        if (!this.#isBlankFrom(at + line, end)) throw this.#damaged(at + line);
        return at + line;
      }
    }
    return end;
  }

  /** A machine that lost its power may have made room for lines that it never wrote. */
  #isBlankFrom(from: number, end: number): boolean {
    for (const { bytes } of this.#pieces(from, end)) {
      if (bytes.some((byte) => byte !== 0)) return false;
    }
    return true;
  }

  /** Of as many whole lines as there is room for. Each is good until the next is read. */
  *#pieces(from: number, end: number): Generator<{ at: number; bytes: Buffer }> {
    const piece = Buffer.alloc(pieceLength);
    for (let at = from; at < end; at += pieceLength) {
      yield { at, bytes: this.#readBytes(piece.subarray(0, end - at), at) };
    }
  }

  #readBytes(into: Buffer, at: number): Buffer {
    for (let read = 0; read < into.length;) {
      const bytes = readSync(this.#handle, into, read, into.length - read, at + read);
      if (bytes === 0) throw this.#damaged(at + read);
      read += bytes;
    }
    return into;
  }

  #write(text: string, at: number): void {
    const bytes = Buffer.from(text);
    this.#guard(() => {
      for (let written = 0; written < bytes.length;) {
        written += writeSync(this.#handle, bytes, written, bytes.length - written, at + written);
      }
    });
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (cause) {
      // True: `node:fs` throws nothing else.
      const { message } = cause as Error;
      throw new Error(
        `The checkpoint ${this.#file} cannot be written (${message}); the run stops, so that it does not lose track.`,
        { cause },
      );
    }
  }

  #damaged(at: number): Error {
    return new Error(`${this.#file} is damaged at byte ${at}. Restore it, or begin anew with another file.`);
  }
}

function isBlank(text: string): boolean {
  return /^\0*$/.test(text);
}
