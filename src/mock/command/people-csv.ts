import { Refusal } from "../refusal.ts";
import type { MockContactSeed, MockGroupSeed } from "../state/seed.ts";
import { checkV1Contact, V1_CONTACT_FIELDS } from "../v1/rules.ts";
import { type CsvRow, readCsv } from "./csv.ts";
import { messageOf, UsageError } from "./usage-error.ts";

const BOOLEANS: readonly string[] = ["is_suppressed", "double_opt_in"];
const PROPERTY = "custom_properties.";
/** Of a contact, each of one cell. */
const COLUMNS = [...V1_CONTACT_FIELDS.filter((name) => name !== "custom_properties"), "id", "lists"];

/**
 * The people of a table with a header: columns are the fields of a v1 contact, `id`, `lists` (ids, divided by spaces) and
 * `custom_properties.NAME`. An empty cell is an absent field.
 */
export function readPeople(file: string, text: string, lists: readonly MockGroupSeed[]): MockContactSeed[] {
  const refuse = (where: string, message: string): never => {
    throw new UsageError(`--seed ${file}: ${where}: ${message}`);
  };
  const [header, ...rows] = rowsOf(file, text);
  if (header === undefined)
    return refuse(
      "line 1",
      "the file is empty; its first line names the columns, such as email,email_opt_in",
    );
  const columns = header.cells.map((cell) => columnOf(cell, (message) => refuse("line 1", message)));
  const twice = columns.find((column, at) => columns.indexOf(column) !== at);
  if (twice !== undefined) return refuse("line 1", `two columns are "${twice}": remove one`);
  const seen = new Map<string, number>();
  return rows.map((row) => {
    const at = (column: string, message: string) => refuse(`line ${row.line}, column ${column}`, message);
    if (row.cells.length !== columns.length)
      refuse(
        `line ${row.line}`,
        `has ${row.cells.length} cells, the first line has ${columns.length}: put a cell with a delimiter in quotes`,
      );
    const person = checked(personOf(columns, row, at), lists, at);
    for (const [column, key] of keysOf(person)) {
      const before = seen.get(key);
      if (before !== undefined) at(column, `is that of line ${before}: a person has one line, so remove one`);
      seen.set(key, row.line);
    }
    return person;
  });
}

function rowsOf(file: string, text: string): CsvRow[] {
  try {
    return readCsv(text);
  } catch (error) {
    throw new UsageError(`--seed ${file}: ${messageOf(error)}`);
  }
}

/** "First name" is `first_name`. */
function columnOf(cell: string, refuse: (message: string) => never): string {
  const name = cell.trim();
  if (name.startsWith(PROPERTY) && name.length > PROPERTY.length) return name;
  const column = name.toLowerCase().replaceAll(/[\s-]+/g, "_");
  if (COLUMNS.includes(column)) return column;
  return refuse(
    `"${name}" is no column: remove it, or rename it to one of ${COLUMNS.join(", ")} or ${PROPERTY}NAME`,
  );
}

type RefuseAt = (column: string, message: string) => never;

/** `fields` are those of a request, not yet checked. */
interface Person {
  id?: string;
  lists: string[];
  fields: Record<string, unknown>;
}

function personOf(columns: readonly string[], { cells }: CsvRow, refuse: RefuseAt): Person {
  const fields: Record<string, unknown> = {};
  const person: Person = { lists: [], fields };
  const properties: [string, string][] = [];
  for (const [at, column] of columns.entries()) {
    const cell = (cells[at] ?? "").trim();
    if (cell === "") continue;
    if (column === "id") person.id = cell;
    else if (column === "lists") person.lists = cell.split(/\s+/);
    else if (column.startsWith(PROPERTY)) properties.push([column.slice(PROPERTY.length), cell]);
    else if (!BOOLEANS.includes(column)) fields[column] = cell;
    else if (/^(true|false)$/i.test(cell)) fields[column] = cell.toLowerCase() === "true";
    else refuse(column, `must be true or false, not "${cell}"`);
  }
  if (properties.length > 0) fields["custom_properties"] = Object.fromEntries(properties);
  return person;
}

/** The rules of a v1 contact, and lists that exist. */
function checked(
  { id, lists, fields }: Person,
  known: readonly MockGroupSeed[],
  refuse: RefuseAt,
): MockContactSeed {
  for (const list of lists) {
    if (!known.some((one) => one.id === list))
      refuse("lists", `there is no list "${list}"; there are ${known.map((one) => one.id).join(", ")}`);
  }
  try {
    const contact: unknown = fields;
    checkV1Contact(contact);
    // Safe: a property of a table is a string.
    const { custom_properties, ...others } = contact as MockContactSeed;
    return {
      ...(id !== undefined && { id }),
      ...others,
      ...(custom_properties && { custom_properties }),
      lists,
    };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const [problem] = error.details.problems ?? [];
    return refuse(problem?.path ?? "email", error.message);
  }
}

/** What no two people share. */
function keysOf({ id, email, phone }: MockContactSeed): [column: string, key: string][] {
  return Object.entries({ id, email: email?.toLowerCase(), phone }).flatMap(([column, value]) =>
    value === undefined ? [] : [[column, `${column} ${value}`]],
  );
}
