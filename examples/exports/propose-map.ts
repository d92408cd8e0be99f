import { basename } from "node:path";
import { type ColumnCells, mostWords } from "./column-cells.ts";
import {
  type ColumnMap,
  type ColumnRule,
  type ConsentRule,
  type Everyone,
  isFlag,
  serviceRule,
} from "./column-map.ts";
import { type ContactField, fieldOf, isOfAnother, isOfData } from "./contact-columns.ts";
import type { CsvFile } from "./csv-file.ts";
import { isNamedAsRefusal } from "./floor.ts";
import { isOfOwnWords, ruleOfVendor, sectionOf, type Vendor, vendorOf } from "./vendors.ts";
import { anyDate, anyOther, isBlank, partsOf, wordOf } from "./words.ts";

/** Proposes the map of a file: what is not known exactly, and looks like a state, is open. */
export function proposeMap(
  { path, headings, names }: CsvFile,
  cells: ReadonlyMap<string, ColumnCells>,
): ColumnMap {
  const vendor = vendorOf(headings);
  const columns = new Map<string, ColumnRule>();
  const hasEmail = headings.some((heading) => knownRule(heading, vendor) === "email");
  for (const [index, heading] of headings.entries()) {
    const own = cells.get(names[index]!);
    const rule = own && proposeRule(heading, own, vendor, hasEmail);
    // Until a column has cells, nobody knows what it is.
    if (rule !== undefined) columns.set(names[index]!, rule);
  }
  return { columns, everyone: everyoneIn(path, vendor) };
}

/** The rule of a heading that is known exactly. */
function knownRule(heading: string, vendor: Vendor | undefined): ColumnRule | undefined {
  const given = ruleOfVendor(vendor, heading);
  if (given !== undefined) return given;
  if (heading === "email_opt_in" || heading === "phone_opt_in") return serviceRule(heading);
  if (isOfData(heading)) return "property";
  return isFlag(heading) ? heading : fieldOf(heading)?.field;
}

function proposeRule(
  heading: string,
  cells: ColumnCells,
  vendor: Vendor | undefined,
  hasEmail: boolean,
): ColumnRule | undefined {
  const known = knownRule(heading, vendor);
  if (typeof known === "object") return withOpenWords(known, cells);
  if (known !== undefined)
    return isFieldOf(known, cells) || ruleOfVendor(vendor, heading) ? known : skeletonOf(cells);
  if (cells.isBlank) return undefined;
  // The addresses of the people may stand under any heading.
  if (!hasEmail && cells.areAddresses && !isOfAnother(heading)) return "?";
  return looksLikeState(heading, cells) ? skeletonOf(cells) : "property";
}

// A column of days of everybody is data, unless its heading may be that of a refusal. It is then asked, never guessed.
const asks = new RegExp(
  "subscri|unsub|opt(ed)?.?(in|out)|consent|complain|bounc|suppress|do.?not.?(contact|e.?mail|call|text)|black.?list|" +
    "deactivat|left.?(at|on|date)|newsletter|abmeld|abbestell|widerruf|sperr|désinscri|desinscri|désabonn|résili|" +
    "baja|cancel|disiscri|revoca|descadastr|uitgeschreven|afgemeld|avmeld|avregistr|frameld|afmeld|rezygn|wypis|odhl[aá]|leiratkoz|" +
    "dezabon|iptal|отпис|отказ|διαγραφ|退订|退訂|解除|停止|해지|거부|إلغاء|הסר",
  "i",
);

/** Whether a column that is not known exactly may be about a consent. */
function looksLikeState(heading: string, cells: ColumnCells): boolean {
  return cells.areStates || asks.test(heading);
}

/** A column that somebody takes for data, and that may be about a consent. */
export interface DoubtfulColumn {
  readonly index: number;
  readonly name: string;
  /** Whether it looks like a state; else it has days of everybody, who may all have left. */
  readonly isState: boolean;
}

export function doubtfulColumns(
  { headings, names }: CsvFile,
  { columns }: ColumnMap,
  cells: ReadonlyMap<string, ColumnCells>,
): DoubtfulColumn[] {
  const vendor = vendorOf(headings);
  return headings.flatMap((heading, index) => {
    const name = names[index]!;
    const [rule, own] = [columns.get(name), cells.get(name)];
    const isData = typeof rule === "string" && !isFlag(rule);
    if (!isData || own === undefined || own.isBlank) return [];
    const known = knownRule(heading, vendor);
    const isConsent = typeof known === "object" || isFlag(known);
    const isOfVendor = ruleOfVendor(vendor, heading) !== undefined;
    const areFlags = known === "property" && !isOfVendor && own.areFlags;
    const isSure = !isConsent && !isOfOwnWords(heading) && !areFlags;
    if (known && isSure && (isFieldOf(known, own) || isOfVendor)) return [];
    const isState = isConsent || looksLikeState(heading, own);
    return isState || own.words.has(anyDate) ? [{ index, name, isState }] : [];
  });
}

/** A column whose words are to be answered. */
function skeletonOf(cells: ColumnCells): ColumnRule {
  return { consent: "?", words: unanswered(wordsToAsk(cells).filter(([word]) => word !== "")) };
}

const unanswered = (words: readonly WordToAsk[]) =>
  Object.fromEntries(words.map(([word]) => [word, "?" as const]));

/** A known column of consent, with a `?` for each word that is not known exactly. */
function withOpenWords(rule: ConsentRule, cells: ColumnCells): ColumnRule {
  const known = new Set(Object.keys(rule.words).map(wordOf));
  const isKnown = (word: string) => known.has(word) || isBlank(word);
  const open = [...cells.words, ...cells.parts].filter(
    ([word]) => !isKnown(word) && !partsOf(word).every(isKnown),
  );
  return { ...rule, words: { ...rule.words, ...unanswered(ofMostRows(open)) } };
}

// "State" is a part of a country, or a state of a consent; "SMS" is a number, or an answer.
function isFieldOf(field: ContactField | ColumnRule, cells: ColumnCells): boolean {
  if (cells.isBlank) return true;
  if (isFlag(field)) return [...cells.words.keys()].every((word) => ["", "true", "false"].includes(word));
  if (field === "email") return areLike(/@|\(at\)|\.\p{L}{2,}$/u, cells);
  // A number may be written in any script, or rounded by a spreadsheet.
  if (field === "phone") return areLike(/(\p{Nd}\P{L}?){6}|^(\P{L}?\p{Nd}){4}\P{L}*$|e\+\d/u, cells);
  return field !== "state" || !cells.areStates;
}

/** Whether the cells are like the pattern: at least half of those that were kept. */
function areLike(pattern: RegExp, cells: ColumnCells): boolean {
  const words = [...cells.words.keys()].filter((word) => word !== "" && word !== anyDate);
  if (words.length === 0) return !cells.areStates;
  return words.filter((word) => pattern.test(word)).length * 2 >= words.length;
}

function everyoneIn(path: string, vendor: Vendor | undefined): Everyone | undefined {
  const name = basename(path).toLowerCase();
  const optIn = sectionOf(vendor, path);
  if (optIn === undefined) return isNamedAsRefusal(basename(path)) ? { email: "?", phone: "?" } : undefined;
  // "subscribed_sms_audience_export_…"; an audience without a channel in its name is one of e-mail.
  if (!/(?<![a-z])(sms|mms|whatsapp|phone)(?![a-z])/.test(name)) return { email: optIn };
  if (!/e-?mail/.test(name)) return { phone: optIn };
  // An opt-in to both channels may be one to either.
  return optIn === "SUBSCRIBED" ? { email: "?", phone: "?" } : { email: optIn, phone: optIn };
}

/** A word of a column, and how many rows have it; `*` stands for all others. */
export type WordToAsk = readonly [word: string, rows: number | undefined];

/** The words of a column that a question shows. */
export function wordsToAsk({ parts, words }: ColumnCells): readonly WordToAsk[] {
  return ofMostRows([...(parts.size > 0 ? parts : words)]);
}

function ofMostRows(words: readonly WordToAsk[]): readonly WordToAsk[] {
  const [blank, own] = [words.filter(([word]) => word === ""), words.filter(([word]) => word !== "")];
  if (own.length <= mostWords) return words;
  const byRows = own.toSorted(([, one = 0], [, other = 0]) => other - one);
  return [...blank, ...byRows.slice(0, mostWords), [anyOther, undefined]];
}
