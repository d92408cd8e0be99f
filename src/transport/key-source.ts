import { ConfigurationError } from "../errors.ts";
import { kindOf } from "../schema/kind-of.ts";
import type { Redactor } from "./redact.ts";

/** A key, or a function that gives the current one, asked before every attempt so that keys can be rotated. */
export type ApiKey = string | (() => string | Promise<string>);

/** Gives the key for the attempt at hand. Rejects with a `ConfigurationError` if the function fails or gives no key. */
export type KeySource = () => string | Promise<string>;

/** Where one family's key comes from. Held where no `inspect` can see it. */
export function keySource(key: ApiKey, option: string, redactor: Redactor): KeySource {
  // Before every attempt: a key that others were learnt after is not to be forgotten while it is used.
  const heed = (given: unknown): string => {
    const checked = checkSecret(given, option);
    redactor.learn(checked);
    return checked;
  };
  if (typeof key === "function") return async () => heed(await ask(key, option));
  heed(key);
  return () => heed(key);
}

async function ask(key: () => unknown, option: string): Promise<unknown> {
  try {
    return await key();
  } catch (error) {
    throw new ConfigurationError(`The ${option} function failed: ${describe(error)}`);
  }
}

/** A text that can go into a header as it is. Says what is wrong without showing the text. */
export function checkSecret(value: unknown, option: string): string {
  const problem = problemOf(value);
  if (problem) throw new ConfigurationError(`${option} ${problem}.`);
  // problemOf has found it to be a text.
  return value as string;
}

function problemOf(value: unknown): string | undefined {
  if (typeof value !== "string") return `must be a string, not ${kindOf(value)}`;
  if (value.trim() === "") return "is empty";
  // Node takes 16 KiB for all headers of a request together.
  if (value.length > 16_384) return "is longer than 16,384 characters";
  if (/[^\u0020-\u007e]/.test(value))
    return "holds a character that no HTTP header can carry, such as a line break";
  if (value !== value.trim()) return "begins or ends with a space";
  return undefined;
}

/** Only the kind of the failure: its message could hold the key. */
function describe(error: unknown): string {
  try {
    return error instanceof Error ? error.name : typeof error;
  } catch {
    return "a proxy that throws";
  }
}
