/**
 * 53 bits of a key, which a set keeps in place of the text: two multiplicative hashes of 32 bits, of the second the
 * 21 upper bits, on which each character before has worked.
 *
 * Where two keys have the same hash, the second counts as come: it gets a number behind it that it did not need, and
 * the same one in every run.
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
