// How values, names, errors and texts of others are said in words, for a message.
import { hasMethods, isDate, isObject, isPlain, isRecord } from "./predicates.ts";

/** The way out where a Promise was given in place of its value: it follows the message. */
export function awaitIt(value: unknown): string {
  return hasMethods(value, "then") ? ": await it" : "";
}

/** "must be a string, not an array". Where a number is expected it shows the number. */
export function mustBe(expected: string, value: unknown): string {
  const isNumber = typeof value === "number" && /^an? (integer|number)/.test(expected);
  return `must be ${expected}, not ${isNumber ? value : kindOf(value)}${awaitIt(value)}`;
}

const kindsByName: Readonly<Record<string, string>> = {
  int: "an integer",
  record: "an object",
  date: "a Date",
  undefined: "undefined",
  bigint: "a BigInt",
};

/** The words for a type in a message, from its name in JavaScript or zod. */
export function kindNamed(name: string): string {
  return kindsByName[name] ?? withArticle(name);
}

/** The type of a value, for a message. Never the value: it may be a key, personal data, or ten megabytes. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (value === "") return "an empty string";
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  if (Array.isArray(value)) return "an array";
  if (isDate(value) && Number.isNaN(value.getTime())) return "an invalid Date";
  return isObject(value) ? (contentLost(value) ?? withArticle(className(value))) : kindNamed(typeof value);
}

/** The type of an object whose content `JSON.stringify` would lose: `a Map`. */
export function contentLost(value: object): string | undefined {
  const name = className(value);
  if (ArrayBuffer.isView(value) || keptElsewhere.test(name)) return withArticle(name);
  if (Object.keys(value).length > 0 || isPlain(value)) return undefined;
  return name === "object" ? "an instance of a class without properties" : withArticle(name);
}

// The content of these classes is not in properties, even if the user added some.
const keptElsewhere = /^(Map|Set|Date|Error|Promise|String)$/;

/** `Map`, also of another realm; `object` for all classes of the user. */
function className(value: object): string {
  const name = Object.prototype.toString.call(value).slice(8, -1);
  return name === "Object" ? "object" : name;
}

function withArticle(name: string): string {
  return /^[aeio]/i.test(name) ? `an ${name}` : `a ${name}`;
}

/** The type and the keys of a response's value. */
export function describeShape(value: unknown): string {
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (!isRecord(value)) return value === undefined ? "nothing" : kindOf(value);
  const keys = Object.keys(value);
  if (keys.length === 0) return "an object without keys";
  return `an object with the keys ${describeKeys(keys)}`;
}

/** The type and the keys of a response's body, and the same of its `data`. */
export function describeBody(body: unknown): string {
  const data = isRecord(body) && "data" in body ? `, its \`data\` is ${describeShape(body["data"])}` : "";
  return `${describeShape(body)}${data}`;
}

/** The keys for a message, cut after 200 characters. */
export function describeKeys(keys: readonly string[]): string {
  return shortened(keys.join(", "), shownLength);
}

const shownLength = 200;

/** The text for a message, cut after so many characters. */
export function shortened(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…` : text;
}

/** `total_pages`, `totalPages` and `total-pages` are one name; so are `_links` and `links`. */
export function plainName(key: string): string {
  return key.replace(/[\s_-]/g, "").toLowerCase();
}

/** The one of `names` that differs from `name` only in case and separators: `first_name` for `firstName`. */
export function sameName(name: string, names: readonly string[]): string | undefined {
  const plain = plainName(name);
  return names.find((other) => plainName(other) === plain);
}

/** The end of a message on a key that is missing, where another spelling of it was given. */
export function givenInstead(given: string | undefined, meant: string): string {
  return given === undefined ? "" : `; "${given}" was given: write "${meant}"`;
}

export function errorMessage(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  return isObject(thrown) ? kindOf(thrown) : String(thrown);
}

/** The class of what a function of the user has thrown, where its message may hold a secret. */
export function errorType(thrown: unknown): string {
  return thrown instanceof Error ? thrown.name : typeof thrown;
}

/**
 * Handles the rejection of a promise that a function of the user returns instead of a value: unhandled, it would end the
 * process. The promise may be of another realm. A lazy one, such as a list of this package, is not started.
 */
export function ignoreRejection(
  result: unknown,
  onRejection: (error: unknown) => void = () => undefined,
): void {
  if (Object.prototype.toString.call(result) === "[object Promise]")
    Promise.resolve(result).catch(onRejection);
}

const shownIssues = 10;

/** The message of a `ValidationError`: a line for each issue. */
export function describeIssues(
  issues: readonly { readonly path: readonly (string | number)[]; readonly message: string }[],
): string {
  const lines = issues.slice(0, shownIssues).map(({ path, message }) => `${formatPath(path)}: ${message}`);
  const rest = issues.length - lines.length;
  if (rest > 0) lines.push(`and ${rest} more, see \`issues\``);
  return `Not sent, ${issues.length === 1 ? "1 problem" : `${issues.length} problems`} in the input:\n  ${lines.join("\n  ")}`;
}

function formatPath(path: readonly (string | number)[]): string {
  if (path.length === 0) return "(input)";
  return path
    .map((key, index) =>
      typeof key === "number" ? `[${key}]` : `${index === 0 ? "" : "."}${printable(key)}`,
    )
    .join("");
}

/** Controls and format characters could move a cursor, start a log line, turn the direction of text, or hide in it. */
const invisibleCharacter = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]/gu;

/** Writes out the characters of a text that do not show, as `\u001b` and `\u{e0041}`. */
export function printable(text: string): string {
  return text.replace(invisibleCharacter, (character) => {
    if (character === "\n") return "\\n";
    // Safe: the pattern matches one character.
    const code = character.codePointAt(0)!.toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
  });
}

/** As `printable`, but for line breaks: a message may quote text of the service, a name, or a function of the user. */
export function printableLines(message: string): string {
  return message.split("\n").map(printable).join("\n");
}
