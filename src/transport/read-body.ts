import type { Interruption } from "./interruption.ts";

export interface BodyText {
  readonly text: string;
  /** The body went past the limit, and was cut there. */
  readonly isTooLarge: boolean;
  /** Why the body broke off; the text is what came before. */
  readonly failure?: unknown;
}

const errorBodyBytes = 64 * 1024;

/** Reads a body as it is decompressed, and never more of it than the limit; an error's, 64 KiB at most. */
export async function readBody(response: Response, maxBytes: number, cut: Interruption): Promise<BodyText> {
  if (response.body === null) return { text: "", isTooLarge: false };
  const limit = response.ok ? maxBytes : Math.min(maxBytes, errorBodyBytes);
  const reader = response.body.getReader();
  const cancel = () => void reader.cancel().catch(() => undefined);
  if (cut.aborted) cancel();
  else cut.addEventListener("abort", cancel);
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (cut.aborted) return { text, isTooLarge: false, failure: cut.reason };
      if (done) return { text: text + decoder.decode(), isTooLarge: false };
      const rest = limit - bytes;
      bytes += value.byteLength;
      text += decoder.decode(value.subarray(0, rest), { stream: true });
      if (bytes > limit) {
        cancel();
        return { text, isTooLarge: true };
      }
    }
  } catch (failure) {
    return { text, isTooLarge: false, failure };
  } finally {
    cut.removeEventListener("abort", cancel);
  }
}
