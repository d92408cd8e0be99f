/** The options of `fetch` that are strings, or are converted to strings. */
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
 * The Request that `fetch` would make. An array in place of a string is refused: its conversion to a string could take
 * for ever.
 */
export function plainRequest(input: string | URL | Request, init: RequestInit | undefined): Request {
  refuseArray("the input of fetch", input);
  const { headers } = init ?? {};
  for (const name of stringOptions) refuseArray(name, init?.[name]);
  if (headers === undefined || headers === null) return new Request(input, init);
  for (const pair of headers instanceof Headers ? [] : pairsOf(headers)) {
    for (const part of pair) refuseArray("a header", part);
  }
  return new Request(input, init);
}

function pairsOf(headers: NonNullable<RequestInit["headers"]>): Iterable<readonly unknown[]> {
  return Array.isArray(headers) ? headers.filter(Array.isArray) : Object.entries(headers);
}

function refuseArray(name: string, value: unknown): void {
  if (Array.isArray(value)) throw new TypeError(`${name} must not be an array`);
}
