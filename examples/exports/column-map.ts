import { readFile } from "node:fs/promises";
import * as z from "zod";
import { contactFields } from "./contact-columns.ts";
import { optIns } from "./contact.ts";
import { wordOf } from "./words.ts";

/** What a word of a column means: a state, nothing, or that nobody knows, so that its rows are held back. */
export const meanings = [...optIns, "none", "hold"] as const;

const headingsOfMap = [...contactFields, "is_suppressed", "property", "ignore", "?"] as const;

const consentRule = z.strictObject({
  consent: z.enum(["email", "phone", "both"]),
  words: z.record(z.string(), z.enum(meanings)).superRefine((words, context) => {
    const seen = new Set<string>();
    for (const word of Object.keys(words)) {
      if (seen.has(wordOf(word)))
        context.addIssue({ code: "custom", path: [word], message: "is there twice, as case does not count" });
      seen.add(wordOf(word));
    }
  }),
});

// The service's own columns of consent, whose words are the service's own.
const ownRule = z.enum(["email_opt_in", "phone_opt_in"]).transform((field) => ({
  consent: field === "email_opt_in" ? ("email" as const) : ("phone" as const),
  words: Object.fromEntries(optIns.map((optIn) => [optIn, optIn])),
}));

const propertyRule = z.custom<`property:${string}`>(
  (value) => typeof value === "string" && /^property:./s.test(value),
);

const columnRule = z.union([z.enum(headingsOfMap), propertyRule, consentRule, ownRule], {
  error: ({ input }) =>
    typeof input === "object" && input !== null
      ? `is no consent: write { "consent": "email", "phone" or "both", "words": { WORD: ${meanings.join(", ")} } }`
      : `is no field of a contact (${contactFields.join(", ")}), and not "property", "property:NAME", "ignore", a consent or "?"`,
});

const mapSchema = z.strictObject({
  version: z.literal(1),
  columns: z.record(z.string(), columnRule),
  everyone: z
    .union([
      z.literal("?"),
      z.strictObject({ email: z.enum(optIns).optional(), phone: z.enum(optIns).optional() }),
    ])
    .optional(),
});

/** The use of one column: a field, `property`, `property:NAME`, `ignore`, a consent with the meaning of its words, or `?`. */
export type ColumnRule = z.output<typeof columnRule>;

/** A column of consent: its channels, and the meaning of each word. */
export type ConsentRule = z.output<typeof consentRule>;

/** What a word of a column means. */
export type Meaning = (typeof meanings)[number];

/** What a file means as a whole: `?` is not answered yet. */
export type Everyone = NonNullable<z.output<typeof mapSchema>["everyone"]>;

/** The map of a file: what each column becomes, by its heading. A second `Tag` is `Tag (2)`. */
export interface ColumnMap {
  readonly columns: ReadonlyMap<string, ColumnRule>;
  readonly everyone?: Everyone | undefined;
}

/** A map that cannot be used. The message names the file and the place. */
export class ColumnMapError extends Error {
  override readonly name = "ColumnMapError";
}

/** Parses the text of a map, or throws a `ColumnMapError` with every problem. */
export function parseMap(text: string, path: string): ColumnMap {
  let json: unknown;
  try {
    json = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (cause) {
    throw new ColumnMapError(`${path}: is no JSON: ${String(cause)}`, { cause });
  }
  const parsed = mapSchema.safeParse(json);
  if (!parsed.success) {
    const problems = parsed.error.issues.map(
      (issue) => `  ${issue.path.map((part) => JSON.stringify(part)).join(" ")} ${issue.message}`,
    );
    throw new ColumnMapError([`${path}: is no map of columns.`, ...problems].join("\n"), {
      cause: parsed.error,
    });
  }
  const { columns, everyone } = parsed.data;
  return { columns: new Map(Object.entries(columns)), everyone };
}

/** Reads a map; undefined if there is none. */
export async function readMap(path: string): Promise<ColumnMap | undefined> {
  try {
    return parseMap(await readFile(path, "utf8"), path);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** The text of a map: a column each line, so that a change is easy to read. */
export function mapText({ columns, everyone }: ColumnMap): string {
  const lines = Array.from(columns, ([heading, rule]) => `    ${JSON.stringify(heading)}: ${ruleText(rule)}`);
  const all = everyone === undefined ? "" : `,\n  "everyone": ${inOneLine(everyone)}`;
  return `{\n  "version": 1,\n  "columns": {\n${lines.join(",\n")}\n  }${all}\n}\n`;
}

const longestLine = 110;

function ruleText(rule: ColumnRule): string {
  const line = inOneLine(rule);
  if (line.length <= longestLine) return line;
  return JSON.stringify(rule, null, 2).replaceAll("\n", "\n    ");
}

// With spaces between the parts.
function inOneLine(value: ColumnRule | Everyone): string {
  return JSON.stringify(value, null, 1).replace(/\n\s*/g, " ");
}

/** The columns that are not answered yet. */
export function openColumns({ columns }: ColumnMap): string[] {
  return Array.from(columns).flatMap(([heading, rule]) => (rule === "?" ? [heading] : []));
}

/** Whether anything is not answered yet. */
export function isOpen(map: ColumnMap): boolean {
  return map.everyone === "?" || openColumns(map).length > 0;
}
