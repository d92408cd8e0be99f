const gramLength = 8;
const mask = "[redacted]";

/**
 * Takes keys out of what the service, or a runtime's error, echoes: every run of text that shares eight characters
 * in a row with a key. Eight, because that much of a key in a log is already a finding; a shorter key goes whole.
 */
export class Redactor {
  readonly #grams = new Map<string, ReadonlySet<string>>();

  /** Keys are kept once seen: a service may echo the key that was rotated away a moment ago. */
  learn(secret: string): void {
    if (!this.#grams.has(secret)) this.#grams.set(secret, gramsOf(secret));
  }

  text(text: string): string {
    let result = text;
    for (const grams of this.#grams.values()) result = withoutGrams(result, grams);
    return result;
  }

  /** Redacts parsed JSON in place, with a stack of its own: an answer may be nested deeper than calls can be. */
  json(value: unknown): unknown {
    const root = { value };
    const open: Record<string, unknown>[] = [root];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      for (const [key, child] of Object.entries(node)) {
        const name = this.text(key);
        const redacted = typeof child === "string" || typeof child === "number" ? this.#scalar(child) : child;
        if (name !== key) delete node[key];
        if (name !== key || redacted !== child) define(node, name, redacted);
        // Arrays too: what JSON.parse made of `[…]` is an object whose keys are its indices.
        if (typeof redacted === "object" && redacted !== null) open.push(redacted as Record<string, unknown>);
      }
    }
    return root.value;
  }

  headers(headers: Headers): Headers {
    const result = new Headers();
    headers.forEach((value, name) => result.append(name, this.text(value)));
    return result;
  }

  #scalar(value: string | number): string | number {
    const text = this.text(String(value));
    return text === String(value) ? value : text;
  }
}

/** A plain assignment to `__proto__` would set the prototype. */
function define(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
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

function withoutGrams(text: string, grams: ReadonlySet<string>): string {
  const lengths = new Set([...grams].map((gram) => gram.length));
  let result = "";
  let copied = 0;
  let maskedTo = 0;
  for (let at = 0; at < text.length; at++) {
    for (const length of lengths) {
      if (!grams.has(text.slice(at, at + length))) continue;
      if (at >= maskedTo) {
        result += text.slice(copied, at) + mask;
      }
      maskedTo = Math.max(maskedTo, at + length);
      copied = maskedTo;
    }
  }
  return copied === 0 ? text : result + text.slice(copied);
}
