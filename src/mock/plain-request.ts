/** Of what a `fetch` takes, what is a text, or is written out as one. */
const stringOptions = [
  "body",
  "cache",
  "credentials",
  "integrity",
  "method",
  "mode",
  "redirect",
  "referrer",
  "referrerPolicy",
] as const;

/**
 * What `fetch` would make a Request of. Lists where a text must be are refused: the language writes out what stands in
 * one a billion times, and nobody means that.
 */
export function plainRequest(input: string | URL | Request, init: RequestInit | undefined): Request {
  refuseList("what is fetched", input);
  const { headers } = init ?? {};
  for (const name of stringOptions) refuseList(name, init?.[name]);
  if (headers === undefined || headers === null) return new Request(input, init);
  for (const pair of headers instanceof Headers ? [] : pairsOf(headers)) {
    for (const part of pair) refuseList("a header", part);
  }
  return new Request(input, init);
}

function pairsOf(headers: NonNullable<RequestInit["headers"]>): Iterable<readonly unknown[]> {
  return Array.isArray(headers) ? headers.filter(Array.isArray) : Object.entries(headers);
}

function refuseList(name: string, value: unknown): void {
  if (Array.isArray(value)) throw new TypeError(`${name} must not be a list`);
}
