import { randomUUID } from "node:crypto";
import { closeSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import type { Checkpoint, OpenCheckpoint, RecordedState } from "../bulk/checkpoint.ts";
import { hashKey, KeyTable, type KeyHash, type TableState } from "./key-table.ts";
import { takeLock } from "./lock-file.ts";

const heading = /^audience-checkpoint 1 ([0-9a-f-]{36})$/;
const headingLength = "audience-checkpoint 1 ".length + 36 + 1;
/** Twelve bytes of hash in base64url, the state's letter, a line break. */
const lineLength = 18;
const hashLength = 16;
const newline = 10;
const chunkLength = lineLength * 65_536;

const letters = ["-", "s", "d"] as const;
const states: readonly (RecordedState | undefined)[] = [undefined, "succeeded", "in-doubt"];

/**
 * Keeps a run's rows in an append-only file, one line of 18 bytes a row, so that a run that was killed goes on where it
 * was. One run at a time: a second is refused.
 *
 * The file holds hashes of the rows' keys, and no key. A line that a crash left torn is dropped when it is opened. A
 * full disk rejects, and so ends the run before it loses track. A million rows take 18 MB, and about 27 MB of memory.
 *
 * ```ts
 * const run = audience.bulk(rows, call, { key: (row) => row.email, checkpoint: fileCheckpoint("import.ckpt") });
 * ```
 */
export function fileCheckpoint(path: string): Checkpoint {
  const file = resolve(path);
  return {
    async open() {
      const unlock = takeLock(file);
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
    closeSync(openSync(file, "a"));
    this.#handle = openSync(file, "r+");
    try {
      const { size } = fstatSync(this.#handle);
      this.id = this.#readHeading(size) ?? this.#writeHeading();
      this.#length = headingLength + Math.floor(Math.max(0, size - headingLength) / lineLength) * lineLength;
      this.#table = new KeyTable(this.#length / lineLength);
      this.#readLines(this.#length);
      ftruncateSync(this.#handle, this.#length);
    } catch (error) {
      closeSync(this.#handle);
      throw error;
    }
  }

  stateOf(key: string): RecordedState | undefined {
    return states[this.#table.get(...hashKey(key))];
  }

  /** In the kernel's hands when this returns: a killed process loses nothing, a machine without power its last lines. */
  record(key: string, state: RecordedState | undefined): void {
    const hash = hashKey(key);
    // True: `states` holds each RecordedState, and undefined.
    const coded = states.indexOf(state) as TableState;
    this.#write(`${encode(hash)}${letters[coded]}\n`, this.#length);
    this.#length += lineLength;
    this.#table.set(...hash, coded);
  }

  close(): void {
    closeSync(this.#handle);
    this.#unlock();
  }

  /** Undefined where there is none yet, or only a torn one. */
  #readHeading(size: number): string | undefined {
    const bytes = Buffer.alloc(Math.min(size, headingLength));
    readSync(this.#handle, bytes, 0, bytes.length, 0);
    const text = bytes.toString("latin1");
    const id = heading.exec(text.slice(0, -1))?.[1];
    if (id !== undefined && text.endsWith("\n")) return id;
    if (size < headingLength && "audience-checkpoint 1 ".startsWith(text.slice(0, 22))) return undefined;
    throw new Error(`${this.#file} is not a checkpoint, and is left as it is. Name another file.`);
  }

  #writeHeading(): string {
    const id = randomUUID();
    this.#write(`audience-checkpoint 1 ${id}\n`, 0);
    return id;
  }

  #readLines(end: number): void {
    const chunk = Buffer.alloc(Math.min(chunkLength, end));
    for (let at = headingLength; at < end; at += chunk.length) {
      const length = Math.min(chunk.length, end - at);
      readSync(this.#handle, chunk, 0, length, at);
      for (let line = 0; line + lineLength <= length; line += lineLength) this.#readLine(chunk, line, at);
    }
  }

  #readLine(chunk: Buffer, line: number, at: number): void {
    const coded = stateByLetter[chunk[line + hashLength]!]!;
    if (coded === noState || chunk[line + lineLength - 1] !== newline) {
      throw new Error(`${this.#file} is damaged at byte ${at + line}. Restore it, or begin anew with another file.`);
    }
    const [first, second] = [readBits(chunk, line), readBits(chunk, line + 4)];
    const [third, fourth] = [readBits(chunk, line + 8), readBits(chunk, line + 12)];
    const a = ((first << 8) | (second >>> 16)) >>> 0;
    const b = ((second << 16) | (third >>> 8)) >>> 0;
    // True: the table of letters holds nothing else but noState.
    this.#table.set(a, b, ((third << 24) | fourth) >>> 0, coded as TableState);
  }

  #write(text: string, at: number): void {
    const bytes = Buffer.from(text, "latin1");
    try {
      for (let written = 0; written < bytes.length; ) {
        written += writeSync(this.#handle, bytes, written, bytes.length - written, at + written);
      }
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`The checkpoint ${this.#file} cannot be written (${reason}); the run stops, so that it does not lose track.`, { cause });
    }
  }
}

function encode(hash: KeyHash): string {
  const bytes = Buffer.alloc(12);
  hash.forEach((word, at) => bytes.writeUInt32BE(word, at * 4));
  return bytes.toString("base64url");
}

const noState = 255;
const stateByLetter = new Uint8Array(256).fill(noState);
for (const [state, letter] of letters.entries()) stateByLetter[letter.charCodeAt(0)] = state;

const valueByLetter = new Uint8Array(256);
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
for (const [value, letter] of [...alphabet].entries()) valueByLetter[letter.charCodeAt(0)] = value;

/** Four letters of base64url as 24 bits, without a text of their own: there may be a million lines. */
function readBits(chunk: Buffer, at: number): number {
  const [high, low] = [valueByLetter[chunk[at]!]! << 18, valueByLetter[chunk[at + 1]!]! << 12];
  return high | low | (valueByLetter[chunk[at + 2]!]! << 6) | valueByLetter[chunk[at + 3]!]!;
}
