import { isAudienceError } from "../errors.ts";
import { isObject } from "../schema/kind-of.ts";
import { setOwn } from "../schema/response.ts";

/** The longest stretch of a key that is looked for. */
export const gramLength = 8;
const mask = "[redacted]";
/** What is on its way may still be echoed. More than these would be felt: a token of 1,500 letters has as many stretches. */
const rememberedKeys = 100;

/**
 * Takes keys out of what the service, or a runtime's error, echoes: every run of text that shares eight characters
 * in a row with a key. Eight, because that much of a key in a log is already a finding; a shorter key goes whole.
 */
export class Redactor {
  /** The newest keys seen. */
  readonly #keys = new Set<string>();
  /** Their stretches: one look per place in a text, however many keys there are. */
  #grams = new Set<string>();
  /** Those of the hundred keys before them. */
  #gramsBefore = new Set<string>();
  readonly #lengths = new Set<number>();

  /** Keys are kept once seen: a service may echo the key that was rotated away a moment ago. */
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
        // Stretches that overlap are one mask.
        if (at > copied || copied === 0) result += string.slice(copied, at) + mask;
        copied = Math.max(copied, at + length);
      }
    }
    return result + string.slice(copied);
  }

  /** Redacts parsed JSON in place, with a stack of its own: an answer may be nested deeper than calls can be. */
  json(value: unknown): unknown {
    const root = { value };
    const open: Record<string, unknown>[] = [root];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      for (const [key, child] of Object.entries(node)) {
        const name = this.string(key);
        const redacted = typeof child === "string" || typeof child === "number" ? this.#scalar(child) : child;
        if (name !== key) delete node[key];
        if (name !== key || redacted !== child) setOwn(node, name, redacted);
        // Arrays too: what JSON.parse made of `[…]` is an object whose keys are its indices.
        if (isObject(redacted)) open.push(redacted as Record<string, unknown>);
      }
    }
    return root.value;
  }

  /** Takes keys out of what an error shows of the caller's own: the names of fields, options and headers. */
  names(error: unknown): void {
    if (!isAudienceError(error) || (error.code !== "validation" && error.code !== "configuration")) return;
    error.message = this.string(error.message);
    if (error.code === "validation") for (const { path } of error.issues) this.json(path);
  }

  headers(headers: Headers): Headers {
    const result = new Headers();
    headers.forEach((value, name) => {
      // A mask is no header's name, so that one goes whole.
      if (this.string(name) === name) result.append(name, this.string(value));
    });
    return result;
  }

  #scalar(value: string | number): string | number {
    const string = this.string(String(value));
    return string === String(value) ? value : string;
  }
}

/** Every stretch of the key, as it is and as it looks inside a URL or a JSON text. */
function gramsOf(secret: string): ReadonlySet<string> {
  const grams = new Set<string>();
  for (const form of [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]) {
    const length = Math.min(gramLength, form.length);
    for (let at = 0; at + length <= form.length; at++) grams.add(form.slice(at, at + length));
  }
  return grams;
}
