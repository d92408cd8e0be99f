/** The encoding that the first bytes of a file tell: by a byte-order mark, or the zero bytes of UTF-16. */
export function encodingOf(head: Uint8Array): string | undefined {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return "utf-8";
  if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le";
  if (head[0] === 0xfe && head[1] === 0xff) return "utf-16be";
  // The headings are mostly ASCII, of which every second byte is zero in UTF-16.
  if (head[1] === 0 && head[0] !== 0) return "utf-16le";
  return head[0] === 0 && head[1] !== 0 ? "utf-16be" : undefined;
}

export const isBeyondAscii = (bytes: Uint8Array) => bytes.some((byte) => byte > 0x7f);

/** Whether the bytes are valid UTF-8. */
export function isUtf8(bytes: Uint8Array): boolean {
  try {
    // The last character may be cut.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true }) !== "";
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
