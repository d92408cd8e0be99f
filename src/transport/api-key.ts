import { ConfigurationError, TimeoutError } from "../errors.ts";
import { mustBe } from "../values/kind-of.ts";
import { isObject, propertyOf } from "../values/predicates.ts";
import { unlessLate, untilAborted } from "./abort.ts";
import type { Call, KeySource } from "./call.ts";
import type { Redactor } from "./redact.ts";

/** A key, or a function that returns the current one. It is called before every attempt, so that keys can be rotated. */
export type ApiKey = string | (() => string | Promise<string>);

/**
 * After a 401: the key, if it is another one now; undefined otherwise. A key is requested before each attempt, after its
 * permit, as it may be rotated during an hour in the queue.
 */
export async function changedKey(call: Call, refusedKey: string): Promise<string | undefined> {
  const { stopWaiting } = call;
  if (stopWaiting.signal.aborted) return undefined;
  try {
    const newKey = await currentKey(call);
    return newKey === refusedKey ? undefined : newKey;
  } catch {
    stopWaiting.signal.throwIfAborted();
    // If the function fails, the 401 is the result.
    return undefined;
  }
}

/** The key of the next attempt. */
export async function currentKey({ access, options, stopWaiting }: Call): Promise<string> {
  return await requestKey(access.key, options.timeoutMs, stopWaiting.signal);
}

/** A key function that never resolves must not block the call or its permit. */
export async function requestKey(source: KeySource, timeoutMs: number, signal: AbortSignal): Promise<string> {
  const key = source.request();
  if (typeof key === "string") return key;
  const late = (): never => {
    const message = `The key function returned no key within ${timeoutMs} ms; nothing was sent.`;
    throw new TimeoutError({ message, outcome: "not-sent", timeoutMs });
  };
  return await unlessLate(untilAborted(key, signal), timeoutMs, late);
}

/** The source of one family's key, which the options' schema has judged. */
export function keySource(key: ApiKey, option: string, redactor: Redactor): KeySource {
  let last = typeof key === "string" ? key : undefined;
  const identity = {
    wasGiven: (other: unknown) => other === key,
    last: () => last,
    isSameAs: (other: KeySource) => other.wasGiven(key) || (last !== undefined && other.last() === last),
  };
  if (typeof key === "function") {
    const request = async () => {
      last = redactor.remember(checkSecret(await callKeyFunction(key, option, redactor), option));
      return last;
    };
    return { request, ...identity };
  }
  redactor.remember(key);
  // Before every attempt, so that the redactor does not forget a key in use.
  return { request: () => redactor.remember(key), ...identity };
}

async function callKeyFunction(key: () => unknown, option: string, redactor: Redactor): Promise<unknown> {
  try {
    return await key();
  } catch (error) {
    // Neither its message nor its cause, which may contain the key (D40).
    throw new ConfigurationError(`The ${option} function failed: ${redactor.string(describeFailure(error))}`);
  }
}

/** The name and the code of what was thrown, as far as they look like one. `fetch` has its code in the cause. */
function describeFailure(error: unknown): string {
  try {
    const name = propertyOf(error, "name");
    const code = [error, propertyOf(error, "cause")].map((each) => propertyOf(each, "code")).find(isCode);
    const isName = isObject(error) && typeof name === "string" && /^[A-Z][A-Za-z]{1,40}$/.test(name);
    return (isName ? name : typeof error) + (code === undefined ? "" : ` (${code})`);
  } catch {
    // A getter that throws.
    return typeof error;
  }
}

function isCode(value: unknown): value is string | number {
  if (typeof value !== "string") return Number.isSafeInteger(value);
  return /^([A-Z][A-Z\d_]{1,40}|[a-z][a-z_]{1,40})$/.test(value);
}

function checkSecret(value: unknown, option: string): string {
  if (typeof value !== "string") throw new ConfigurationError(`${option} ${mustBe("a string", value)}.`);
  for (const problem of problemsOfSecret(value)) throw new ConfigurationError(`${option} ${problem}.`);
  return value;
}

/** Why a text cannot be the value of a header, such as a key. Never with the text. */
export function problemsOfSecret(value: string): readonly string[] {
  if (value.trim() === "") return ["is empty"];
  // Node accepts 16 KiB for all headers of a request.
  if (value.length > 16_384) return ["is longer than 16,384 characters"];
  if (/^bearer /i.test(value))
    return ['begins with "Bearer": give the key alone, as each family has a header of its own'];
  if (value !== value.trim()) return ["begins or ends with white space, such as a line break: trim it"];
  const position = value.search(/[^\u0020-\u007e]/);
  return position < 0 ? [] : [`holds a character that no HTTP header can carry, at position ${position + 1}`];
}
