import { isOk, type AnswerHead } from "./answer-head.ts";
import type { Interruption } from "./interruption.ts";

export interface BodyText {
  readonly text: string;
  /** The body went past the limit, and was cut there. */
  readonly isTooLarge: boolean;
  /** Why the body broke off; the text is what came before. */
  readonly failure?: unknown;
}

const errorBodyBytes = 64 * 1024;
const piecesATurn = 1_000;

/** Reads a body as it is decompressed, and never more of it than the limit; an error's, 64 KiB at most. */
export async function readBody(head: AnswerHead, maxBytes: number, cut: Interruption): Promise<BodyText> {
  if (head.body === null) return { text: "", isTooLarge: false };
  const limit = isOk(head) ? maxBytes : Math.min(maxBytes, errorBodyBytes);
  const reader = head.body.getReader();
  let stopReading = (): void => undefined;
  const stop = () => {
    giveUp(reader);
    stopReading();
  };
  // A reader that is none of the runtime's may not heed that it is given up.
  const read = () =>
    new Promise<ReadableStreamReadResult<Uint8Array> | undefined>((resolve, reject) => {
      stopReading = () => resolve(undefined);
      reader.read().then(resolve, reject);
    });
  if (cut.aborted) giveUp(reader);
  else cut.addEventListener("abort", stop);
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  try {
    for (let pieces = 1; ; pieces++) {
      // Pieces that are all there already would let no timer run, not even that of the call's timeout.
      if (pieces % piecesATurn === 0) await new Promise((resolve) => void setTimeout(resolve));
      const next = cut.aborted ? undefined : await read();
      if (next === undefined || cut.aborted) return { text, isTooLarge: false, failure: cut.reason };
      if (next.done) return { text: text + decoder.decode(), isTooLarge: false };
      const rest = limit - bytes;
      bytes += next.value.byteLength;
      text += decoder.decode(next.value.subarray(0, rest), { stream: true });
      if (bytes > limit) {
        giveUp(reader);
        return { text, isTooLarge: true };
      }
    }
  } catch (error) {
    // A stream may break without a reason.
    return { text, isTooLarge: false, failure: error ?? new Error("the body broke off") };
  } finally {
    cut.removeEventListener("abort", stop);
  }
}

/** Lets what is left of a body go. Nobody waits for it, and nobody hears where that fails. */
export function giveUp(body: { cancel(): Promise<void> } | null): void {
  void (async () => await body?.cancel())().catch(() => undefined);
}
