import { isAudienceError } from "../errors.ts";
import { isObject } from "../schema/kind-of.ts";

/** The longest substring of a key that is searched for. */
export const gramLength = 8;
const mask = "[redacted]";
/** Keys of requests in flight may still be echoed. More would be slow: a token of 1,500 characters has 1,500 substrings. */
const rememberedKeys = 100;

/**
 * Redacts keys that the service or a runtime's error echoes: every substring of eight characters that is part of a key.
 * Eight, because that much of a key in a log is already a leak; a shorter key is redacted whole.
 */
export class Redactor {
  readonly #keys = new Set<string>();
  /** Their substrings: one lookup for each position of a string, however many keys there are. */
  #grams = new Set<string>();
  /** The substrings of the hundred keys before. */
  #gramsBefore = new Set<string>();
  readonly #lengths = new Set<number>();

  /** Keeps the key: a service may echo a key that was rotated a moment ago. */
  remember(key: string): string {
    if (this.#keys.has(key)) return key;
    if (this.#keys.size === rememberedKeys) {
      this.#keys.clear();
      this.#gramsBefore = this.#grams;
      this.#grams = new Set();
    }
    this.#keys.add(key);
    for (const gram of gramsOf(key)) {
      this.#grams.add(gram);
      this.#lengths.add(gram.length);
    }
    return key;
  }

  string(string: string): string {
    let result = "";
    let copied = 0;
    for (let at = 0; at < string.length; at++) {
      for (const length of this.#lengths) {
        const gram = string.slice(at, at + length);
        if (!this.#grams.has(gram) && !this.#gramsBefore.has(gram)) continue;
        // Overlapping matches become one mask.
        if (at > copied || copied === 0) result += string.slice(copied, at) + mask;
        copied = Math.max(copied, at + length);
      }
    }
    return result + string.slice(copied);
  }

  /** Redacts parsed JSON, the names of keys too. */
  json(value: unknown): unknown {
    if (typeof value === "string") return this.string(value);
    if (typeof value === "number") {
      const text = String(value);
      return this.string(text) === text ? value : this.string(text);
    }
    if (Array.isArray(value)) return value.map((each) => this.json(each));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [this.string(key), this.json(each)]),
    );
  }

  /** Redacts the names of fields, options and headers in an error. */
  names(error: unknown): void {
    if (!isAudienceError(error) || (error.code !== "validation" && error.code !== "configuration")) return;
    error.message = this.string(error.message);
    if (error.code === "validation")
      for (const { path } of error.issues) path.splice(0, Infinity, ...(this.json(path) as typeof path));
  }

  headers(headers: Headers): Headers {
    const result = new Headers();
    headers.forEach((value, name) => {
      // The mask is not a valid header name, so the header is dropped.
      if (this.string(name) === name) result.append(name, this.string(value));
    });
    return result;
  }
}

/** Every substring of the key: plain, URL-encoded, and as in a JSON string. */
function gramsOf(secret: string): ReadonlySet<string> {
  const grams = new Set<string>();
  for (const form of [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]) {
    const length = Math.min(gramLength, form.length);
    for (let at = 0; at + length <= form.length; at++) grams.add(form.slice(at, at + length));
  }
  return grams;
}
