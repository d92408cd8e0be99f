import { isUtf8 } from "node:buffer";
import { readFile } from "node:fs/promises";
import type { MockServiceOptions } from "../mock-options.ts";
import { DEFAULT_ORGANIZATION } from "../state/seed.ts";
import { readPeople } from "./people-csv.ts";
import { messageOf, UsageError } from "./usage-error.ts";

const SEED_KEYS = ["organizations", "rateLimits", "faults", "latencyMs", "seed", "variants", "webhooks"];

/**
 * Loads `--seed`: as JSON the options of `createMockService` that JSON can hold, or an array of organizations; as CSV the
 * people of the default organization.
 */
export async function loadSeed(file: string | undefined): Promise<MockServiceOptions> {
  if (file === undefined) return {};
  const text = await read(file);
  if (/\.(csv|tsv)$/i.test(file)) {
    const contacts = readPeople(file, text, DEFAULT_ORGANIZATION.lists ?? []);
    return { organizations: [{ ...DEFAULT_ORGANIZATION, contacts }] };
  }
  const content = parse(file, text);
  if (typeof content !== "object" || content === null)
    throw new UsageError(`--seed ${file}: must hold an object or an array`);
  const seed = Array.isArray(content) ? { organizations: content } : content;
  const unknown = Object.keys(seed).find((key) => !SEED_KEYS.includes(key));
  if (unknown !== undefined)
    throw new UsageError(`--seed ${file}: "${unknown}" is none of ${SEED_KEYS.join(", ")}`);
  return seed;
}

async function read(file: string): Promise<string> {
  try {
    return decoded(await readFile(file));
  } catch (error) {
    throw new UsageError(`--seed ${file}: ${messageOf(error)}`);
  }
}

/** As UTF-8. In another encoding a name would be stored with wrong letters. */
function decoded(bytes: Buffer): string {
  const remedy = "save it as UTF-8, in Excel as CSV UTF-8";
  if (/^(fffe|feff)/.test(bytes.toString("hex", 0, 2))) throw new Error(`the file is UTF-16: ${remedy}`);
  if (isUtf8(bytes)) return bytes.toString("utf8");
  const text = bytes.toString("utf8");
  const line = text.slice(0, text.indexOf("\uFFFD")).split(/\r\n?|\n/).length;
  throw new Error(`line ${line}: the file is not UTF-8: ${remedy}`);
}

function parse(file: string, text: string): unknown {
  try {
    // Notepad and PowerShell write a byte order mark, which JSON does not permit.
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    const hint = "; a table of people is a file whose name ends with .csv";
    throw new UsageError(`--seed ${file}: ${messageOf(error)}${hint}`);
  }
}
