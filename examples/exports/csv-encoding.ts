/**
 * The encoding of a file by its first bytes: a byte-order mark, the zero bytes of UTF-16, or valid UTF-8 beyond ASCII;
 * else the given one.
 */
export function encodingOf(head: Uint8Array, fallback = "utf-8"): string {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return "utf-8";
  if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le";
  if (head[0] === 0xfe && head[1] === 0xff) return "utf-16be";
  // The headings are mostly ASCII, of which every second byte is zero in UTF-16.
  if (head[1] === 0 && head[0] !== 0) return "utf-16le";
  if (head[0] === 0 && head[1] !== 0) return "utf-16be";
  return isUtf8BeyondAscii(head) ? "utf-8" : fallback;
}

export const isBeyondAscii = (bytes: Uint8Array) => bytes.some((byte) => byte > 0x7f);

/** Whether the bytes are valid UTF-8, and would differ in another encoding. */
export function isUtf8BeyondAscii(head: Uint8Array): boolean {
  if (!isBeyondAscii(head)) return false;
  try {
    // The last character may be cut.
    return new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true }) !== "";
  } catch {
    return false;
  }
}

/** Whether a `TextDecoder` knows the encoding by this name. */
export function isEncoding(name: string): boolean {
  try {
    return new TextDecoder(name).encoding !== "";
  } catch {
    return false;
  }
}

/** Decodes a stream of bytes. Throws for invalid bytes, because names would be stored damaged. */
export async function* decoded(bytes: AsyncIterable<Uint8Array>, encoding: string): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  for await (const chunk of bytes) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}
