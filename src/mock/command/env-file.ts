import { existsSync, readFileSync } from "node:fs";
import { checkRegular } from "../../files/regular-file.ts";
import { replaceFile } from "../../files/replacement.ts";
import { hostsOf } from "../doors.ts";
import { type Addressed, variablesOf } from "../start-page.ts";
import { messageOf, UsageError } from "./usage-error.ts";

/** The variables of a client, as the file may have them already. A limit without a number is the user's. */
const OWN_LINE =
  /^\s*(export\s+)?(AUDIENCE_(BASE_URL(_V2)?|API_KEY(_V2)?|APP_ID)\s*=|AUDIENCE_RATE_LIMIT\s*=\s*\d+x)/;

/** The value of a base URL, without its quotes and a comment behind it. */
const BASE_URL = /BASE_URL(?:_V2)?\s*=\s*["'`]?([^\s"'`#]*)/;

/** The first line of a variable, a comment, or a blank line, the first of a file behind a byte-order mark. */
const ENVIRONMENT_LINE = /^(\xef\xbb\xbf)?\s*(#|(export\s+)?[\w.-]+\s*=|$)/;

/** A line whose value begins with a quote. */
const QUOTED = /^\s*(?:export\s+)?[\w.-]+\s*=\s*(["'`])(.*)$/s;

/**
 * Writes a client's environment into a file for `node --env-file`, dotenv and the like. Other lines of the file stay, and
 * so do those of another service, as comments (D307). Whether there were such.
 */
export function writeEnvFile(file: string, client: Addressed): boolean {
  const lines = Object.entries(variablesOf(client)).map(([name, value]) => `${name}=${quoted(value)}\n`);
  // Its bytes, each as a character, like those of the other lines.
  const own = Buffer.from(lines.join("")).toString("latin1");
  try {
    checkRegular(file);
    const entries = entriesOf(file);
    const replaced = entries.filter(isReplaced);
    const hasOthers = replaced.length > 0 && !areOfMock(replaced, client);
    const kept = entries.flatMap((entry) => {
      if (!isReplaced(entry)) return entry;
      return hasOthers ? entry.map((line) => `# ${line}`) : [];
    });
    const others = kept.join("").trim() === "" ? [] : kept.map((line) => `${line}\n`);
    replaceFile(file, [...others, own], { keepsMode: true, encoding: "latin1" });
    return hasOthers;
  } catch (error) {
    throw new UsageError(`--env ${file}: ${messageOf(error)}`);
  }
}

/** Variables, comments and blank lines, each with all lines of its value, byte for byte. Throws if the file has others. */
function entriesOf(file: string): string[][] {
  const lines = existsSync(file) ? readFileSync(file, "latin1").replace(/\n$/, "").split("\n") : [];
  const entries: string[][] = [];
  for (let number = 1; lines.length > 0;) {
    const entry = lines.splice(0, lengthOfFirst(lines));
    if (!ENVIRONMENT_LINE.test(entry[0]!))
      throw new Error(`line ${number} is no NAME=value and no comment: name a file of an environment`);
    number += entry.length;
    entries.push(entry);
  }
  return entries;
}

const isReplaced = ([first]: readonly string[]): boolean => OWN_LINE.test(first!);

/** Whether an earlier mock wrote them: all base URLs, of which there are some, lead to this machine or this mock's address. */
function areOfMock(replaced: readonly string[][], { baseUrl }: Addressed): boolean {
  const urls = replaced.flatMap(([first]) => BASE_URL.exec(first!)?.[1] ?? []);
  const hosts = hostsOf([new URL(baseUrl).host]);
  return urls.length > 0 && urls.every((url) => URL.canParse(url) && hosts.has(new URL(url).hostname));
}

/** How many lines the first value has: one in quotes ends with its quote, if there is one. */
function lengthOfFirst(lines: readonly string[]): number {
  const [, quote, beginning] = QUOTED.exec(lines[0]!) ?? [];
  if (quote === undefined) return 1;
  const isEnd = (line: string | undefined) => line?.replaceAll(`\\${quote}`, "").includes(quote) ?? false;
  if (isEnd(beginning)) return 1;
  return Math.max(1, lines.findIndex((line, at) => at > 0 && isEnd(line)) + 1);
}

/** Quoted only if necessary: Docker takes quotes for a part of the value. */
function quoted(value: string): string {
  if (/^[\w%+,./:=@-]*$/.test(value)) return value;
  const quote = ["'", '"', "`"].find((one) => !value.includes(one));
  return quote === undefined ? value : quote + value + quote;
}
