import { ConfigurationError, TimeoutError } from "../errors.ts";
import { mustBe } from "../values/in-words.ts";
import { isObject, propertyOf } from "../values/predicates.ts";
import { unlessLate, untilAborted } from "./abort-signal.ts";
import type { Redactor } from "./redact.ts";

/** A key, or a function that returns the current one. It is called before every attempt, so that keys can be rotated. */
export type ApiKey = string | (() => string | Promise<string>);

/** One family of a client: its URL and its key show to which organization of the service the client belongs. */
export interface FamilyIdentity {
  readonly name: "v1" | "v2";
  readonly baseUrl: string;
  readonly key: KeySource;
}

/** The URL and the authentication of one family ("Authentication"). */
export interface FamilyAccess extends FamilyIdentity {
  /** The header that carries the key, and the other headers of the family. */
  readonly keyHeader: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Gives a family's key: before each attempt, after its permit, as a key may be rotated during an hour in the queue. */
export class KeySource {
  readonly #key: ApiKey;
  readonly #option: string;
  readonly #redactor: Redactor;
  #lastKey: string | undefined;

  /** The options' schema has judged the key; `option` is the name of its option. */
  constructor(key: ApiKey, option: string, redactor: Redactor) {
    this.#key = key;
    this.#option = option;
    this.#redactor = redactor;
    if (typeof key === "string") this.#lastKey = redactor.rememberForGood(key);
  }

  /** Gives the key of an attempt. A key function that never resolves must not block the call or its permit. */
  async request(timeoutMs: number, signal: AbortSignal): Promise<string> {
    if (typeof this.#key === "string") return this.#key;
    const noKeyInTime = (): never => {
      const message = `The key function returned no key within ${timeoutMs} ms; nothing was sent.`;
      throw new TimeoutError({ message, outcome: "not-sent", timeoutMs });
    };
    return await unlessLate(untilAborted(this.#callFunction(this.#key), signal), timeoutMs, noKeyInTime);
  }

  /** Whether the client was given this key, or this key function. */
  wasGiven(key: unknown): boolean {
    return key === this.#key;
  }

  /** The key, or the last one that the function gave. */
  lastKey(): string | undefined {
    return this.#lastKey;
  }

  /** Whether both families were given the same key or key function, or gave the same key last. */
  isSameAs(other: KeySource): boolean {
    return other.wasGiven(this.#key) || (this.#lastKey !== undefined && other.lastKey() === this.#lastKey);
  }

  async #callFunction(keyFunction: () => unknown): Promise<string> {
    let key: unknown;
    try {
      key = await keyFunction();
    } catch (error) {
      // Neither the message nor the cause of its error, which may contain the key (D40).
      const failure = this.#redactor.string(describeFailure(error));
      throw new ConfigurationError(`The ${this.#option} function failed: ${failure}`);
    }
    const problems = typeof key === "string" ? problemsOfSecret(key) : [mustBe("a string", key)];
    for (const problem of problems) throw new ConfigurationError(`${this.#option} ${problem}.`);
    // Safe: else there was a problem.
    return (this.#lastKey = this.#redactor.remember(key as string));
  }
}

/** The name and the code of what a key function threw, as far as they look like one. `fetch` has its code in the cause. */
function describeFailure(error: unknown): string {
  try {
    const name = propertyOf(error, "name");
    const code = [error, propertyOf(error, "cause")].map((each) => propertyOf(each, "code")).find(isCode);
    return (
      (isObject(error) && isErrorName(name) ? name : typeof error) + (code === undefined ? "" : ` (${code})`)
    );
  } catch {
    // A getter of the error may throw.
    return typeof error;
  }
}

function isCode(value: unknown): value is string | number {
  return isErrorName(value) || Number.isSafeInteger(value);
}

/** Words, each with one short number at most, as in `S3ServiceException` and `ERR_NON_2XX_3XX_RESPONSE`: no key. */
function isErrorName(value: unknown): value is string {
  if (typeof value !== "string" || value.length < 2 || value.length > 60) return false;
  return value.split(/[_./]/).every((word) => /^[a-z]*\d{0,6}[a-z]*$/i.test(word));
}

/** Why a text cannot be the value of a header, such as a key. The problems never hold the text. */
export function problemsOfSecret(value: string): readonly string[] {
  if (value.trim() === "") return ["is empty"];
  if (/^bearer /i.test(value))
    return ['begins with "Bearer": give the key alone, as each family has a header of its own'];
  if (value !== value.trim()) return ["begins or ends with white space, such as a line break: trim it"];
  const position = value.search(/[^\u0020-\u007e]/);
  return position < 0 ? [] : [`holds a character that no HTTP header can carry, at position ${position + 1}`];
}
