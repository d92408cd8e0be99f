import type { RecordedState } from "../bulk/checkpoint.ts";
import type { KeyHash, TableState } from "./key-table.ts";

/** Twelve bytes of hash in base64url, the state's letter, a line break. */
export const lineLength = 18;
const hashLength = 16;
const newline = 10;

const letters = ["-", "s", "d"] as const;
const states: readonly (RecordedState | undefined)[] = [undefined, "succeeded", "in-doubt"];

export function stateOf(coded: TableState): RecordedState | undefined {
  return states[coded];
}

export function codeOf(state: RecordedState | undefined): TableState {
  const coded = states.indexOf(state);
  if (coded < 0) throw new TypeError('A row is on record as "succeeded", as "in-doubt", or not at all.');
  // True: that is where each stands.
  return coded as TableState;
}

export function writeLine(hash: KeyHash, state: TableState): string {
  const bytes = Buffer.alloc(12);
  hash.forEach((word, at) => bytes.writeUInt32BE(word, at * 4));
  return `${bytes.toString("base64url")}${letters[state]}\n`;
}

/** Undefined where it is no such line. Without a text of its own: there may be a million lines. */
export function readLine(
  chunk: Buffer,
  at: number,
  found: (a: number, b: number, c: number, state: TableState) => void,
): boolean {
  const coded = stateByLetter[chunk[at + hashLength]!]!;
  const [first, second] = [readBits(chunk, at), readBits(chunk, at + 4)];
  const [third, fourth] = [readBits(chunk, at + 8), readBits(chunk, at + 12)];
  const isLine =
    coded !== none && chunk[at + lineLength - 1] === newline && (first | second | third | fourth) >= 0;
  if (!isLine) return false;
  const a = ((first << 8) | (second >>> 16)) >>> 0;
  const b = ((second << 16) | (third >>> 8)) >>> 0;
  // True: the table of letters holds nothing else but `none`.
  found(a, b, ((third << 24) | fourth) >>> 0, coded as TableState);
  return true;
}

const none = 255;
const stateByLetter = new Uint8Array(256).fill(none);
for (const [state, letter] of letters.entries()) stateByLetter[letter.charCodeAt(0)] = state;

const valueByLetter = new Int32Array(256).fill(-1);
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
for (const [value, letter] of [...alphabet].entries()) valueByLetter[letter.charCodeAt(0)] = value;

/** Four letters of base64url as 24 bits; below 0 where one is no such letter, as its -1 is all ones. */
function readBits(chunk: Buffer, at: number): number {
  const [first, second] = [valueByLetter[chunk[at]!]!, valueByLetter[chunk[at + 1]!]!];
  const [third, fourth] = [valueByLetter[chunk[at + 2]!]!, valueByLetter[chunk[at + 3]!]!];
  return (first << 18) | (second << 12) | (third << 6) | fourth;
}
