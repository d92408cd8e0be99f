import { access, writeFile } from "node:fs/promises";
import { ColumnCells } from "../../examples/exports/column-cells.ts";
import { type ColumnMap, type ColumnRule, mapText, type Meaning } from "../../examples/exports/column-map.ts";
import { wordsToAsk } from "../../examples/exports/propose-map.ts";
import { parseArguments } from "../../examples/importer/arguments.ts";
import { openFiles } from "../../examples/importer/maps.ts";

/** The columns of a map, as a user writes them. */
export type Columns = Readonly<Record<string, ColumnRule | "email_opt_in" | "phone_opt_in">>;

/** Writes the map of a file. */
export async function mapOf(path: string, columns: Columns, everyone?: ColumnMap["everyone"]): Promise<void> {
  await writeFile(`${path}.map.json`, JSON.stringify({ version: 1, columns, everyone }));
}

/** A consent whose yes is an opt-in, and whose no an opt-out. */
export const newsletter: ColumnRule = {
  consent: "email",
  words: { yes: "SUBSCRIBED", no: "UNSUBSCRIBED", "": "none" },
};

const states: Readonly<Record<Exclude<Meaning, "hold">, RegExp>> = {
  SUBSCRIBED: /^(subscribed|opted[ _-]?in|opt-in)$/,
  NON_SUBSCRIBED: /^(never[ _]subscribed|non[ _]subscribed|pending|cleaned|bounced|suppressed|unconfirmed)$/,
  UNSUBSCRIBED: /^(unsubscribed|opted[ _]?out|optout|blacklisted|complained|do not (contact|email))$/,
  none: /^(none|unknown)?$/,
};
const yes = /^(yes|y|true|1|x|ja)$/;
const no = /^(no|n|false|0|nein)$/;

/** What a user says who knows English and who wrote the table; undefined for a word that nobody knows. */
function meaningOf(word: string, isRefusal: boolean): Meaning | undefined {
  if (word === "<date>") return isRefusal ? "UNSUBSCRIBED" : "none";
  if (yes.test(word)) return isRefusal ? "UNSUBSCRIBED" : "SUBSCRIBED";
  if (no.test(word)) return isRefusal ? "none" : "UNSUBSCRIBED";
  const own = Object.entries(states).find(([, pattern]) => pattern.test(word))?.[0];
  // An opt-out that says "subscribed" is no opt-in.
  if (own === "SUBSCRIBED" && isRefusal) return "none";
  return own as Meaning | undefined;
}

/** The answer of such a user: a consent by its heading, else a property. */
function answerOf(heading: string, cells: ColumnCells): ColumnRule {
  if (cells.areAddresses && /subscriber|recipient/i.test(heading)) return "email";
  if (!/subscri|status|consent|opt.?(in|out)|newsletter|marketing|do.?not|black|unsub/i.test(heading))
    return "property";
  const isRefusal = /unsub|opt.?out|black|do.?not/i.test(heading);
  const isPhone = /sms|phone|text/i.test(heading);
  const isEmail = /e.?mail|newsletter/i.test(heading);
  const isGeneral = isRefusal && !isPhone && !isEmail;
  const words: Record<string, Meaning> = { "": "none" };
  // Later files have these words too.
  const usual = "subscribed unsubscribed yes no true false 1 0 <date>".split(" ");
  for (const word of [...usual, ...wordsToAsk(cells).map((one) => one.word)]) {
    const meaning = meaningOf(word, isRefusal);
    if (meaning !== undefined) words[word] = meaning;
  }
  return { consent: isGeneral ? "both" : isPhone ? "phone" : "email", words };
}

/** Answers the questions of the files that have no map yet. */
export async function answerAll(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const options = parseArguments(args, env);
  if (options === "help") return;
  const isThere = await Promise.all(
    options.files.map((path) =>
      access(`${path}.map.json`).then(
        () => true,
        () => false,
      ),
    ),
  );
  const files = options.files.filter((_, index) => isThere[index] !== true);
  for (const { file, map, open, cells } of await openFiles(
    { ...options, files },
    new AbortController().signal,
  )) {
    const columns = new Map(map.columns);
    for (const name of open) columns.set(name, answerOf(name, cells.get(name) ?? new ColumnCells()));
    const everyone =
      map.everyone === "?" ? ({ email: "UNSUBSCRIBED", phone: "UNSUBSCRIBED" } as const) : map.everyone;
    await writeFile(`${file.path}.map.json`, mapText({ columns, everyone }));
  }
}
