import { basename } from "node:path";
import { anyDate, type ColumnCells } from "./column-cells.ts";
import type { ColumnMap, ColumnRule, Everyone } from "./column-map.ts";
import { type ContactField, fieldOf, isOfAnother } from "./contact-columns.ts";
import { optIns } from "./contact.ts";
import type { CsvFile } from "./csv-file.ts";
import { isNamedAsRefusal } from "./floor.ts";
import { compactHeading } from "./heading.ts";
import { isOfReport } from "./report-note.ts";
import type { Vendor } from "./vendor.ts";
import { ruleOfVendor, sectionOf, vendorOf } from "./vendors.ts";
import { isBlank, partsOf, wordOf } from "./words.ts";

/** The names of a file's columns in a map: a second `Tag` is `Tag (2)`. */
export function mapNames(headings: readonly string[]): string[] {
  const used = new Set<string>(headings);
  const seen = new Set<string>();
  return headings.map((heading) => {
    if (!seen.has(heading)) {
      seen.add(heading);
      return heading;
    }
    let count = 2;
    while (used.has(`${heading} (${count})`)) count++;
    used.add(`${heading} (${count})`);
    return `${heading} (${count})`;
  });
}

/** Proposes the map of a file: what is not known exactly, and looks like a state, is `?`. */
export function proposeMap(
  { path, headings }: Pick<CsvFile, "path" | "headings">,
  cells: ReadonlyMap<number, ColumnCells>,
): ColumnMap {
  const vendor = vendorOf(headings);
  const names = mapNames(headings);
  const columns = new Map<string, ColumnRule>();
  const hasEmail = headings.some((heading) => plainField(heading, vendor) === "email");
  for (const [index, heading] of headings.entries()) {
    const own = cells.get(index);
    if (isOfReport(heading) || own === undefined) continue;
    const rule = proposeRule(heading, own, vendor, hasEmail);
    // Until a column has cells, nobody knows what it is.
    if (rule !== undefined) columns.set(names[index]!, rule);
  }
  return { columns, everyone: everyoneIn(path, vendor) };
}

function proposeRule(
  heading: string,
  cells: ColumnCells,
  vendor: Vendor | undefined,
  hasEmail: boolean,
): ColumnRule | undefined {
  const given = vendor && ruleOfVendor(vendor, heading);
  if (given !== undefined) return isAnswered(given, cells) ? given : "?";
  const own = serviceRule(heading);
  if (own !== undefined) return isAnswered(own, cells) ? own : "?";
  const field = fieldOf(heading)?.field;
  if (field !== undefined) return isFieldOf(field, cells) ? field : "?";
  if (cells.isBlank) return undefined;
  // The addresses of the people may stand under any heading.
  if (!hasEmail && cells.areAddresses && !isOfAnother(heading)) return "?";
  if (evidence.test(compactHeading(heading))) return "property";
  return cells.areStates || asks.test(heading) ? "?" : "property";
}

function plainField(heading: string, vendor: Vendor | undefined): ColumnRule | undefined {
  return (vendor && ruleOfVendor(vendor, heading)) ?? fieldOf(heading)?.field;
}

const evidence = /^consent(createdat|ip|source)$/;

// A column of days of everybody is data, unless its heading may be that of a refusal. It is then asked, never guessed.
const asks = new RegExp(
  "subscri|opt.?(in|out)|consent|complain|bounc|suppress|do.?not.?(contact|e.?mail|call|text)|black.?list|newsletter|" +
    "abmeld|abbestell|widerruf|sperr|désinscri|desinscri|désabonn|résili|baja|cancel|disiscri|revoca|descadastr|" +
    "uitgeschreven|afgemeld|avmeld|avregistr|frameld|afmeld|rezygn|wypis|odhl[aá]|leiratkoz|dezabon|iptal|" +
    "отпис|отказ|διαγραφ|退订|退訂|解除|停止|해지|거부|إلغاء|הסר",
  "i",
);

/** The service's own fields, with the service's own words. */
function serviceRule(heading: string): ColumnRule | undefined {
  if (heading === "is_suppressed") return "is_suppressed";
  if (heading !== "email_opt_in" && heading !== "phone_opt_in") return undefined;
  const words = Object.fromEntries(optIns.map((optIn) => [optIn, optIn]));
  return { consent: heading === "email_opt_in" ? "email" : "phone", words };
}

/** Whether each word of the cells is known exactly. */
function isAnswered(rule: ColumnRule, cells: ColumnCells): boolean {
  const words = [...cells.words.keys(), ...cells.parts].filter((word) => word !== "");
  if (rule === "is_suppressed") return words.every((word) => word === "true" || word === "false");
  if (typeof rule === "string") return true;
  const known = new Set(Object.keys(rule.words).map(wordOf));
  return words.every(
    (word) => known.has(word) || partsOf(word).every((part) => known.has(part) || isBlank(part)),
  );
}

// "State" is a part of a country, or a state of a consent; "SMS" is a number, or an answer.
function isFieldOf(field: ContactField, cells: ColumnCells): boolean {
  if (cells.isBlank) return true;
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
  const section = sectionOf(vendor, path);
  if (section !== undefined) return everyoneOf(section.optIn, name);
  return isNamedAsRefusal(basename(path)) ? "?" : undefined;
}

// "subscribed_sms_audience_export_…"; an audience without a channel in its name is one of e-mail.
function everyoneOf(optIn: (typeof optIns)[number], name: string): Everyone {
  if (!/(?<![a-z])(sms|mms|whatsapp|phone)(?![a-z])/.test(name)) return { email: optIn };
  // An opt-in to both channels may be one to either.
  if (/e-?mail/.test(name)) return optIn === "SUBSCRIBED" ? "?" : { email: optIn, phone: optIn };
  return { phone: optIn };
}

/** The words of a column that a question shows, with how many people have each. */
export function wordsToAsk(cells: ColumnCells): { word: string; people: number | undefined }[] {
  const parts = cells.parts;
  if (parts.length > 0) return parts.map((word) => ({ word, people: undefined }));
  return Array.from(cells.words, ([word, people]) => ({ word, people })).filter(
    ({ word }) => word !== "" || cells.words.has(anyDate),
  );
}
