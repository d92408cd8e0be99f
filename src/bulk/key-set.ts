const firstSize = 1_024;

/**
 * Which keys have come, at 8 to 32 bytes a key: 53 bits of a hash of each are kept, and no text.
 *
 * Where two keys have the same hash, the second counts as come: it gets a number behind it that it did not need, and
 * the same one in every run.
 */
export class KeySet {
  #slots = new Float64Array(firstSize);
  #size = 0;

  /** Whether the key is new. */
  add(key: string): boolean {
    const hash = hashOf(key);
    const slot = this.#slotOf(hash);
    if (this.#slots[slot] === hash) return false;
    this.#slots[slot] = hash;
    this.#size++;
    if (this.#size * 2 > this.#slots.length) this.#grow();
    return true;
  }

  /** Where the hash is, or would be: slots are tried one after the other. */
  #slotOf(hash: number): number {
    const { length } = this.#slots;
    let slot = hash % length;
    while (this.#slots[slot] !== 0 && this.#slots[slot] !== hash) slot = (slot + 1) % length;
    return slot;
  }

  #grow(): void {
    const before = this.#slots;
    this.#slots = new Float64Array(before.length * 2);
    for (const hash of before) if (hash !== 0) this.#slots[this.#slotOf(hash)] = hash;
  }
}

/** From 1 to 2^53. Two multiplicative hashes of 32 bits, each stirred with the other in the end. */
function hashOf(key: string): number {
  let [a, b] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < key.length; at++) {
    const unit = key.charCodeAt(at);
    a = Math.imul(a ^ unit, 2_654_435_761);
    b = Math.imul(b ^ unit, 1_597_334_677);
  }
  a = Math.imul(a ^ (a >>> 16), 2_246_822_507) ^ Math.imul(b ^ (b >>> 13), 3_266_489_909);
  b = Math.imul(b ^ (b >>> 16), 2_246_822_507) ^ Math.imul(a ^ (a >>> 13), 3_266_489_909);
  return (b & 0x1fffff) * 0x1_0000_0000 + (a >>> 0) + 1;
}
