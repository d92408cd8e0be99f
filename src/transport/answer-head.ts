/** What comes before the body of an answer. */
export interface AnswerHead {
  readonly status: number;
  readonly headers: Headers;
  /** Empty where the fetch does not say. */
  readonly url: string;
  readonly body: ReadableStream<Uint8Array> | null;
}

export function isOk({ status }: { status: number }): boolean {
  return status >= 200 && status <= 299;
}

/**
 * Reads what a fetch gave, once: one of the caller's own may give anything. Throws a TypeError where it is no Response,
 * or one that stands for a failed connection.
 */
export function readAnswerHead(answer: unknown): AnswerHead {
  try {
    // As far as it is asked for: what is missing or of another kind is found here or where it is read.
    const { status, type, headers, url, body } = answer as Response;
    const copy = new Headers();
    headers.forEach((value, name) => copy.append(name, value));
    // 0 is a browser's for a redirect that it was told not to follow; no other answer has a status below 200.
    if (Number.isInteger(status) && (status >= 200 || status === 0) && type !== "error")
      return { status, headers: copy, url: typeof url === "string" ? url : "", body: body ?? null };
  } catch {
    // A getter or a proxy that throws.
  }
  throw new TypeError("the fetch option did not give a Response");
}
