import { isOk, type AnswerHead } from "./answer-head.ts";
import type { Interruption } from "./interruption.ts";

export interface BodyText {
  readonly text: string;
  /** The limit in bytes that the body went past, and where it was cut; absent where it came whole. */
  readonly limitPassed?: number | undefined;
  /** Why the body broke off; the text is what came before. */
  readonly failure?: unknown;
}

const errorBodyBytes = 64 * 1024;
const piecesATurn = 1_000;

/** What has come of an answer so far. */
export interface Arrival {
  status?: number;
  /** Of the body, after decompression. */
  bytes: number;
}

/** Reads a body as it is decompressed, and never more of it than the limit; an error's, 64 KiB at most. */
export async function readBody(
  head: AnswerHead,
  { maxBytes, cut, arrival }: { maxBytes: number; cut: Interruption; arrival: Arrival },
): Promise<BodyText> {
  if (head.body === null) return { text: "" };
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
  try {
    for (let pieces = 1; ; pieces++) {
      // Pieces that are all there already would let no timer run, not even that of the call's timeout.
      if (pieces % piecesATurn === 0) await new Promise((resolve) => void setTimeout(resolve));
      const next = cut.aborted ? undefined : await read();
      if (next === undefined || cut.aborted) return { text, failure: cut.reason };
      if (next.done) return { text: text + decoder.decode() };
      const rest = limit - arrival.bytes;
      arrival.bytes += next.value.byteLength;
      text += decoder.decode(next.value.subarray(0, rest), { stream: true });
      if (arrival.bytes > limit) {
        giveUp(reader);
        return { text, limitPassed: limit };
      }
    }
  } catch (error) {
    // A stream may break without a reason.
    return { text, failure: error ?? new Error("no reason was given") };
  } finally {
    cut.removeEventListener("abort", stop);
  }
}

/** Lets what is left of a body go. Nobody waits for it, and nobody hears where that fails. */
export function giveUp(body: { cancel(): Promise<void> } | null): void {
  void (async () => await body?.cancel())().catch(() => undefined);
}
