import { readFile } from "node:fs/promises";
import * as z from "zod";
import { InputError } from "../console/program.ts";
import { contactFields } from "./contact-columns.ts";
import { type Channel, optIns } from "./contact.ts";
import { anyOther, wordOf } from "./words.ts";

const meanings = [...optIns, "none", "hold"] as const;

/** What a word means for a channel: a state, nothing, or that nobody knows, so that its rows are held back. */
export type Meaning = (typeof meanings)[number];

/** What a word means for each channel; a channel that is left out says nothing. */
export type ChannelMeanings = Readonly<Partial<Record<Channel, Meaning | undefined>>>;

const wordMeaning = z.union([
  z.enum([...meanings, "?"]),
  z.strictObject({ email: z.enum(meanings).optional(), phone: z.enum(meanings).optional() }),
]);

const propertyRule = z.templateLiteral(["property:", z.string().min(1)]);

const flags = ["is_suppressed", "double_opt_in"] as const;

/** Whether it is one of the fields that are true or false. */
export const isFlag = (use: unknown): use is (typeof flags)[number] => flags.some((flag) => flag === use);

const plainRule = z.union([z.enum([...contactFields, ...flags, "property", "ignore", "?"]), propertyRule]);

const consentRule = z.strictObject({
  consent: z.enum(["email", "phone", "both", "?"]),
  words: z.record(z.string(), wordMeaning).superRefine((words, context) => {
    const seen = new Set<string>();
    for (const word of Object.keys(words)) {
      if (seen.has(wordOf(word)))
        context.addIssue({ code: "custom", path: [word], message: "is there twice, as case does not count" });
      seen.add(wordOf(word));
    }
    if (JSON.stringify(words[anyOther] ?? "").includes('"SUBSCRIBED"'))
      context.addIssue({ code: "custom", path: [anyOther], message: "subscribes nobody: name the words" });
  }),
});

// A skeleton of words whose column turned out to be no consent.
const answeredSkeleton = z
  .strictObject({
    consent: plainRule.refine((rule) => rule !== "email" && rule !== "phone" && rule !== "?"),
    words: z.unknown(),
  })
  .transform(({ consent }) => consent);

// The service's own columns of consent, whose words are the service's own.
const ownRule = z.enum(["email_opt_in", "phone_opt_in"]).transform((field) => serviceRule(field));

const columnRule = z.union([plainRule, consentRule, answeredSkeleton, ownRule], {
  error: ({ input }) =>
    typeof input === "object" && input !== null
      ? `is no consent: write { "consent": "email", "phone" or "both", "words": { WORD: ${meanings.join(", ")} } }`
      : `is no field of a contact (${contactFields.join(", ")}, email_opt_in, phone_opt_in, is_suppressed, double_opt_in), and not "property", "property:NAME", "ignore", a consent or "?"`,
});

const everyoneMeaning = z.enum([...optIns, "none", "?"]).optional();

const mapSchema = z.strictObject({
  version: z.literal(1),
  columns: z.record(z.string(), columnRule),
  everyone: z.strictObject({ email: everyoneMeaning, phone: everyoneMeaning }).optional(),
  unnamed: z.literal("ignore").optional(),
});

/** The use of one column: a field, `property`, `property:NAME`, `ignore`, a consent with the meaning of its words, or `?`. */
export type ColumnRule = z.output<typeof columnRule>;

/** A column of consent: its channels, and the meaning of each word. */
export type ConsentRule = z.output<typeof consentRule>;

/** What a file means as a whole, for each channel: `?` is not answered yet. */
export type Everyone = NonNullable<z.output<typeof mapSchema>["everyone"]>;

/** The map of a file: what each column becomes, by its heading. A second `Tag` is `Tag (2)`. */
export interface ColumnMap {
  readonly columns: ReadonlyMap<string, ColumnRule>;
  readonly everyone?: Everyone | undefined;
  /** Refusals of rows that name nobody do not stop the file. */
  readonly unnamed?: "ignore" | undefined;
}

/** The rule of one of the service's own columns of consent. */
export function serviceRule(field: "email_opt_in" | "phone_opt_in"): ConsentRule {
  const words = Object.fromEntries(optIns.map((optIn) => [optIn, optIn]));
  return { consent: field === "email_opt_in" ? "email" : "phone", words };
}

/** Reads a map, or throws an `InputError` with every problem; undefined if there is none. */
export async function readMap(path: string): Promise<ColumnMap | undefined> {
  let json: unknown;
  try {
    const text = (await readFile(path, "utf8")).replace(/^\uFEFF/, "");
    json = JSON.parse(text);
    // Of two lines with one name JSON keeps the last.
    if (stringsIn(text) !== stringsIn(JSON.stringify(json)))
      throw new TypeError("a column or a word is there twice, and only its last line would count");
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined;
    throw new InputError(`${path}: cannot be read as JSON: ${String(cause)}`, { cause });
  }
  const { data, error } = mapSchema.safeParse(json);
  if (data !== undefined) return { ...data, columns: new Map(Object.entries(data.columns)) };
  const problems = error.issues.map(
    (issue) => `  ${issue.path.map((part) => JSON.stringify(part)).join(" ")} ${issue.message}`,
  );
  throw new InputError([`${path}: is no map of columns.`, ...problems].join("\n"), { cause: error });
}

const stringsIn = (json: string) => json.match(/"(?:[^"\\]|\\.)*"/g)?.length;

export function mapText({ columns, ...whole }: ColumnMap): string {
  return `${JSON.stringify({ version: 1, columns: Object.fromEntries(columns), ...whole }, null, 2)}\n`;
}

/** JSON in one line, with spaces between the parts. */
export function inOneLine(value: object | string): string {
  return JSON.stringify(value, null, 1).replace(/\n\s*/g, " ");
}

/** The columns that are not answered yet: they or a word of theirs are `?`. */
export function openColumns({ columns }: ColumnMap): string[] {
  const isOpen = (rule: ColumnRule) =>
    typeof rule === "string" ? rule === "?" : [rule.consent, ...Object.values(rule.words)].includes("?");
  return Array.from(columns).flatMap(([heading, rule]) => (isOpen(rule) ? [heading] : []));
}

/** Whether it is not answered yet what the file means as a whole. */
export const isEveryoneOpen = ({ everyone }: ColumnMap) => Object.values(everyone ?? {}).includes("?");
