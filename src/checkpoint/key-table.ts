import { createHash } from "node:crypto";

/** What is on record of a key. 0 is nothing. */
export type TableState = 0 | 1 | 2;

const words = 3;
const firstSize = 1_024;

/**
 * States by key, at 13 bytes a slot: only 96 bits of each key's hash are kept, so that a million rows take about 27 MB.
 * Among a million keys two would have the same with a probability of 6 in 10^18.
 */
export class KeyTable {
  #size: number;
  #hashes: Uint32Array;
  #states: Uint8Array;
  #used = 0;

  /** Room for so many keys from the start. */
  constructor(expected = 0) {
    this.#size = firstSize;
    while (this.#size < expected * 2) this.#size *= 2;
    this.#hashes = new Uint32Array(this.#size * words);
    this.#states = new Uint8Array(this.#size);
  }

  get(a: number, b: number, c: number): TableState {
    // True: only TableStates are written.
    return this.#states[this.#slotOf(a, b, c)]! as TableState;
  }

  set(a: number, b: number, c: number, state: TableState): void {
    let slot = this.#slotOf(a, b, c);
    if (!this.#isTaken(slot)) {
      if ((this.#used + 1) * 2 > this.#size) {
        this.#grow();
        slot = this.#slotOf(a, b, c);
      }
      this.#used++;
      this.#put(slot, a, b, c);
    }
    this.#states[slot] = state;
  }

  /** Where the hash is, or would be: slots are tried one after the other, from where its first word points to. */
  #slotOf(a: number, b: number, c: number): number {
    for (let slot = a & (this.#size - 1); ; slot = (slot + 1) & (this.#size - 1)) {
      if (!this.#isTaken(slot)) return slot;
      const at = slot * words;
      if (this.#hashes[at] === a && this.#hashes[at + 1] === b && this.#hashes[at + 2] === c) return slot;
    }
  }

  /** A slot keeps its hash when its state goes back to 0. A hash of zeros alone is none: it comes once in 2^96 keys. */
  #isTaken(slot: number): boolean {
    const at = slot * words;
    return (this.#hashes[at]! | this.#hashes[at + 1]! | this.#hashes[at + 2]!) !== 0;
  }

  #grow(): void {
    const [hashes, states, size] = [this.#hashes, this.#states, this.#size];
    this.#size = size * 2;
    this.#hashes = new Uint32Array(this.#size * words);
    this.#states = new Uint8Array(this.#size);
    for (let slot = 0; slot < size; slot++) {
      const at = slot * words;
      const [a, b, c] = [hashes[at]!, hashes[at + 1]!, hashes[at + 2]!];
      if ((a | b | c) === 0) continue;
      const to = this.#slotOf(a, b, c);
      this.#put(to, a, b, c);
      this.#states[to] = states[slot]!;
    }
  }

  #put(slot: number, a: number, b: number, c: number): void {
    const at = slot * words;
    this.#hashes[at] = a;
    this.#hashes[at + 1] = b;
    this.#hashes[at + 2] = c;
  }
}

/** 96 bits of a key's SHA-256. */
export type KeyHash = readonly [a: number, b: number, c: number];

export function hashKey(key: string): KeyHash {
  if (typeof key !== "string") throw new TypeError("The key of a row on record must be a text.");
  const digest = createHash("sha256").update(key).digest();
  return [digest.readUInt32BE(0), digest.readUInt32BE(4), digest.readUInt32BE(8)];
}
