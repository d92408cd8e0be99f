import * as z from "zod";
import { ConfigurationError } from "../errors.ts";
import { objectProblem, optionTypes, optionThat, parseOptions, type Given } from "../schema/parse-options.ts";
import { mustBe } from "../values/in-words.ts";
import { isRecord, withoutPrototype } from "../values/predicates.ts";

/** Options of one call; each overrides the client's. */
export interface CallOptions {
  /** Aborts the call at once: in the queue, in backoff, in flight, or while its body is read. */
  signal?: AbortSignal | undefined;
  /** One attempt, from sending to the last body byte, in milliseconds. Default 30,000. */
  timeoutMs?: number | undefined;
  /** The whole call: queue, attempts and backoff, in milliseconds. Default: none. */
  deadlineMs?: number | undefined;
  /** Attempts after the first. Default 4. */
  maxRetries?: number | undefined;
  /** The longest wait for the rate limit, in milliseconds; a call that would wait longer fails at once. Default: none. */
  maxWaitMs?: number | undefined;
  /** The order of waiting calls: 0 (first) to 9 (last). Default 5. */
  priority?: number | undefined;
  /** Additional headers. One that authenticates is refused: another key is another client (`withOptions({ apiKey })`). */
  headers?: Readonly<Record<string, string>> | Headers | undefined;
  /** Whether the call may be executed twice; overrides the retry table. */
  repeatable?: boolean | undefined;
}

/** Options of `addContact`. */
export interface AddContactOptions extends CallOptions {
  /**
   * Permits a contact without `email_opt_in`: the service makes a new contact `NON_SUBSCRIBED`, and an existing one
   * `SUBSCRIBED`, even if it had unsubscribed ("States and transitions").
   */
  consent?: "service-decides" | undefined;
}

/** Options of a write that is a value. Queue, priority and deadline belong to who sends it. */
export interface WriteOptions extends Pick<CallOptions, "timeoutMs" | "maxRetries" | "repeatable"> {
  /** Additional headers, as plain data: JSON would lose the content of a `Headers` object. */
  headers?: Readonly<Record<string, string>> | undefined;
}

/** Options of an `addContact`, or of a custom request, that is a value. */
export interface AddContactWriteOptions extends WriteOptions {
  /** Permits a contact without `email_opt_in`: see the options of the call. */
  consent?: "service-decides" | undefined;
}

/** The validated options of a call, over those of the client. */
export interface CallSettings {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
  readonly deadlineMs: number;
  readonly maxRetries: number;
  readonly maxWaitMs: number | undefined;
  readonly priority: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly repeatable?: boolean | undefined;
  /** The option of `addContact`, and of a custom request to its path. */
  readonly consent?: "service-decides" | undefined;
}

/** Headers that only the runtime sets. */
const framing = /^(connection|content-length|expect|host|keep-alive|te|trailer|transfer-encoding|upgrade)$/i;

/** Headers that carry a key ("Authentication"). The client would overwrite them, and write to its own organization. */
const keyHeaders: readonly string[] = ["x-api-key", "service-api-key"];

const afterHeaderName = /[^\w!#$%&'*+.^`|~-].*/s;

/** Proxies and servers read `x_api_key` as `X-API-Key`. */
function asHeaderIsRead(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z\d]/g, "-");
}

/** The option `headers`, with the names in lower case. Its messages show no value of a header. */
export const headersOption = optionThat<Readonly<Record<string, string>> | Headers>(
  "an object",
  isRecord,
).transform((givenHeaders, { issues }): Readonly<Record<string, string>> => {
  const headers = new Map<string, string>();
  // `Object.entries` of a `Headers` object is empty, and it may be of another implementation than the global one.
  const isIterable = Symbol.iterator in givenHeaders;
  const lost = isIterable ? undefined : objectProblem(givenHeaders);
  if (lost !== undefined) issues.push({ code: "custom", message: lost, input: givenHeaders });
  // Safe: the option's type says so.
  const pairs = isIterable ? (givenHeaders as Iterable<[string, unknown]>) : Object.entries(givenHeaders);
  for (const [name, value] of pairs) {
    if (value === undefined) continue;
    // Names that differ only in case are one header, and one value would be lost.
    const problem = headers.has(name.toLowerCase()) ? "is given twice" : headerProblem(name, value);
    // A whole header line as the name contains the value, which may be a key.
    const shownName = JSON.stringify(name.replace(afterHeaderName, "…"));
    if (problem) issues.push({ code: "custom", message: `${shownName} ${problem}`, input: givenHeaders });
    else headers.set(name.toLowerCase(), value as string);
  }
  return Object.fromEntries(headers);
});

function headerProblem(name: string, value: unknown): string | undefined {
  if (name === "" || afterHeaderName.test(name)) return "is not a header name";
  if (framing.test(name)) return "is set or dropped by the runtime";
  if (keyHeaders.includes(asHeaderIsRead(name)))
    return "authenticates, and is no option: another key is another client, withOptions({ apiKey })";
  if (typeof value !== "string") return mustBe("a string", value);
  if (/[^\t\u0020-\u007e\u0080-\u00ff]/.test(value))
    return "holds a character that no HTTP header can carry, such as a line break";
  return undefined;
}

export const callOptionsSchema = z
  .strictObject({
    signal: optionTypes.signal,
    timeoutMs: optionTypes.durationMs,
    deadlineMs: optionTypes.durationMs,
    maxRetries: optionTypes.count,
    maxWaitMs: optionTypes.waitMs,
    priority: optionTypes.priority,
    headers: headersOption,
    repeatable: optionTypes.boolean,
  })
  .partial() satisfies z.ZodType<unknown, CallOptions>;

/** The options of calls that may add a contact to a list ("States and transitions"). */
export const addContactOptionsSchema = callOptionsSchema.extend({
  consent: z.literal("service-decides", { error: 'must be "service-decides", or left out' }).optional(),
}) satisfies z.ZodType<unknown, AddContactOptions>;

/** Parses the options of a call. Throws a `ConfigurationError` that names the option. */
export function parseCallOptions(
  options: unknown,
  defaults: CallSettings,
  schema: z.ZodObject = callOptionsSchema,
): CallSettings {
  if (options === undefined) return defaults;
  // Safe: an endpoint's schema is that of every call; it may add `consent`, or what lists read themselves.
  const given: Given<z.output<typeof addContactOptionsSchema>> = parseOptions(
    schema,
    options,
    "The call's options",
  );
  return withoutPrototype({ ...defaults, ...given, headers: { ...defaults.headers, ...given.headers } });
}

/** Throws where a given header is one that the family sends itself: the app id of v2. */
export function refuseHeader(familyHeader: string, headers: CallSettings["headers"]): void {
  for (const name of Object.keys(headers))
    if (asHeaderIsRead(name) === familyHeader)
      throw new ConfigurationError(
        `headers: "${name}" authenticates a v2 call: another app id is another client, withOptions({ appId }). ` +
          "For the v1 calls of a client with both families, give it to a withOptions({ headers }) of their own.",
      );
}
