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
    return await readFile(file, "utf8");
  } catch (error) {
    throw new UsageError(`--seed ${file}: ${messageOf(error)}`);
  }
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
