import { isAudienceError } from "../errors.ts";
import { isObject } from "../values/predicates.ts";
import { showCaller } from "./api-promise.ts";

/** The longest substring of a key that is searched for. */
export const gramLength = 8;
const mask = "[redacted]";
/** Keys of requests in flight may still be echoed: enough for a hundred tokens of 1,500 characters. */
const rememberedGrams = 160_000;

/**
 * Redacts keys that the service or a runtime's error echoes: every substring of eight characters that is part of a key.
 * Eight, because that much of a key in a log is already a leak; a shorter key is redacted whole.
 */
export class Redactor {
  /** Substrings of the keys: one lookup for each position of a string, however many keys there are. */
  readonly #gramsForGood = new Set<string>();
  /** Substrings of rotated keys, the latest last. */
  readonly #grams = new Set<string>();
  readonly #lengths = new Set<number>();

  /** Remembers a key that is an option. */
  rememberForGood(key: string): string {
    for (const gram of this.#gramsOf(key)) this.#gramsForGood.add(gram);
    return key;
  }

  /** Remembers a key that a function gave: a service may echo one that was rotated a moment ago. */
  remember(key: string): string {
    for (const gram of this.#gramsOf(key)) {
      this.#grams.delete(gram);
      this.#grams.add(gram);
    }
    for (const oldest of this.#grams) {
      if (this.#grams.size <= rememberedGrams) break;
      this.#grams.delete(oldest);
    }
    return key;
  }

  /** The substrings of a key, in any case: plain, URL-encoded, and as in a JSON string. */
  #gramsOf(key: string): string[] {
    return [key, encodeURIComponent(key), JSON.stringify(key).slice(1, -1)].map(inOneCase).flatMap((form) => {
      const length = Math.min(gramLength, form.length);
      this.#lengths.add(length);
      return Array.from({ length: form.length - length + 1 }, (_, at) => form.slice(at, at + length));
    });
  }

  string(string: string): string {
    let redacted = "";
    let copied = 0;
    const searched = inOneCase(string);
    for (let at = 0; at < string.length; at++) {
      for (const length of this.#lengths) {
        const gram = searched.slice(at, at + length);
        if (!this.#grams.has(gram) && !this.#gramsForGood.has(gram)) continue;
        // Overlapping matches become one mask.
        if (at > copied || copied === 0) redacted += string.slice(copied, at) + mask;
        copied = Math.max(copied, at + length);
      }
    }
    return redacted + string.slice(copied);
  }

  /** Redacts parsed JSON, the names of keys too. */
  json(value: unknown): unknown {
    if (typeof value === "string") return this.string(value);
    if (typeof value === "number") {
      const redacted = this.string(String(value));
      return redacted === String(value) ? value : redacted;
    }
    if (Array.isArray(value)) return value.map((each) => this.json(each));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [this.string(key), this.json(each)]),
    );
  }

  /** Redacts the names of fields, options and headers in an error; a schema of the user may repeat them in its words. */
  error(error: unknown): void {
    if (!isAudienceError(error) || (error.code !== "validation" && error.code !== "configuration")) return;
    error.message = this.string(error.message);
    if (error.code === "validation")
      for (const issue of error.issues)
        Object.assign(issue, { path: this.json(issue.path), message: this.string(issue.message) });
  }

  /** Redacts the error that a function throws. */
  guard<Result>(act: () => Result): Result {
    try {
      return act();
    } catch (error) {
      this.error(error);
      throw showCaller(error);
    }
  }

  headers(headers: Headers): Headers {
    const redacted = new Headers();
    headers.forEach((value, name) => {
      // The mask is not a valid header name, so the header is dropped.
      if (this.string(name) === name) redacted.append(name, this.string(value));
    });
    return redacted;
  }
}

/** HTTP writes the names of headers in lower case. Only ASCII, as keys are: another letter may become two. */
function inOneCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Masks e-mail addresses, also encoded ones, and numbers of seven digits or more, as of a phone. */
export function maskAddresses(text: string): string {
  const masked = text.replace(/(?<!\S)\S*(@|%40)\S*/g, "…");
  return masked.replace(/\d[\d\s()./-]*\d/g, (number) =>
    number.replace(/\D/g, "").length < 7 ? number : "…",
  );
}
