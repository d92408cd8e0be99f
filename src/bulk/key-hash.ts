/**
 * A hash of 53 bits, which a set keeps instead of the key: two multiplicative hashes of 32 bits; of the second only the
 * 21 upper bits, which depend on every character.
 *
 * If two keys collide, the second counts as a repetition: it gets a needless number, the same in every run.
 */
export function hashOf(key: string): number {
  let [a, b] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < key.length; at++) {
    const unit = key.charCodeAt(at);
    a = Math.imul(a ^ unit, 2_654_435_761);
    b = Math.imul(b ^ unit, 1_597_334_677);
  }
  return (b >>> 11) * 0x1_0000_0000 + (a >>> 0);
}
