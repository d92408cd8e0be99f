/** A response with any status. The client's `ApiError` is one. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON, else the text. */
  readonly body: unknown;
  /** The client's message for an error status. */
  readonly message?: string;
}

/** A response, or the reason why the question was not asked. */
export type Reply = Answer | string;

/** A 2xx with JSON. */
export function isJson(reply: Reply): reply is Answer & { readonly body: object } {
  if (typeof reply === "string" || reply.status < 200 || reply.status > 299) return false;
  return typeof reply.body === "object" && reply.body !== null;
}

export function isWebPage(body: unknown): boolean {
  return typeof body === "string" && body.trimStart().startsWith("<");
}
