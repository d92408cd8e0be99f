import type { CsvRow, RowIssue } from "./csv-row.ts";
import { customProperties, snakeCase } from "./custom-properties.ts";
import type { Contact, MappedContact, OptIn } from "./mapped-contact.ts";
import { readPhone } from "./phone.ts";

/** A v1 contact's field, and what else its column may be called. A heading is read as snake_case: `E-Mail` is `e_mail`. */
const columns = {
  email: ["e_mail", "email_address"],
  phone: ["phone_number", "mobile"],
  first_name: [],
  last_name: [],
  external_id: [],
  source: [],
  dob: ["birthday", "birth_date", "date_of_birth"],
  gender: [],
  country: [],
  state: [],
  city: [],
  address1: ["address"],
  address2: [],
  postal_code: ["zip", "zip_code", "postcode"],
  email_opt_in: ["email_status", "status"],
  phone_opt_in: ["phone_status", "sms_opt_in"],
  is_suppressed: ["suppressed"],
  consent_created_at: [],
  consent_ip: [],
  consent_source: [],
} as const;

type Column = keyof typeof columns;

const texts = [
  "first_name",
  "last_name",
  "external_id",
  "source",
  "dob",
  "country",
  "state",
  "city",
  "address1",
  "address2",
  "postal_code",
] as const;

/** Whether there is a column that says who a row is. */
export function isPlainFile(headings: readonly string[]): boolean {
  const fields = headings.map(fieldOf);
  return fields.includes("email") || fields.includes("phone");
}

/** A row under plain headings as a contact. A channel whose column of consent is blank, or not there, has none. */
export function plainContact(row: CsvRow): MappedContact {
  const issues: RowIssue[] = [];
  const cell = (column: Column) =>
    row.cell(row.headings.find((heading) => fieldOf(heading) === column) ?? column);
  const email = cell("email")?.toLowerCase();
  const phone = read<string>(cell("phone"), "phone", issues, (text) => {
    const reading = readPhone(text);
    return "phone" in reading ? reading.phone : reading;
  });
  const emailOptIn = read(cell("email_opt_in"), "email_opt_in", issues, readOptIn) ?? "NON_SUBSCRIBED";
  const phoneOptIn = read(cell("phone_opt_in"), "phone_opt_in", issues, readOptIn) ?? "NON_SUBSCRIBED";
  const contact: Contact = {
    email,
    phone,
    ...Object.fromEntries(texts.map((field) => [field, cell(field)])),
    gender: read(cell("gender"), "gender", issues, readGender),
    is_suppressed: read(cell("is_suppressed"), "is_suppressed", issues, readYesOrNo),
    ...(email === undefined ? {} : { email_opt_in: emailOptIn }),
    phone_opt_in: phone === undefined ? undefined : phoneOptIn,
    custom_properties: customProperties(row, {
      prefix: "",
      except: row.headings.filter((heading) => fieldOf(heading) !== undefined),
    }),
  };
  return { contact, issues };
}

function fieldOf(heading: string): Column | undefined {
  const name = snakeCase(heading);
  // True: the names of an object's own properties.
  return (Object.keys(columns) as Column[]).find(
    (field) => field === name || (columns[field] as readonly string[]).includes(name),
  );
}

function read<T>(
  text: string | undefined,
  field: string,
  issues: RowIssue[],
  reader: (text: string) => T | { problem: string },
): T | undefined {
  if (text === undefined) return undefined;
  const value = reader(text);
  if (typeof value !== "object" || value === null || !("problem" in value)) return value;
  issues.push({ field, message: value.problem });
  return undefined;
}

// A word that is not one of the three could mean anything, and consent is not guessed.
function readOptIn(text: string): OptIn | { problem: string } {
  const word = text.toUpperCase().replaceAll(/[\s-]+/g, "_");
  if (word === "SUBSCRIBED" || word === "UNSUBSCRIBED" || word === "NON_SUBSCRIBED") return word;
  return { problem: `${JSON.stringify(text)} is none of subscribed, unsubscribed, non_subscribed` };
}

function readGender(text: string): "MALE" | "FEMALE" | "OTHER" | { problem: string } {
  const word = text.toUpperCase();
  if (word === "MALE" || word === "FEMALE" || word === "OTHER") return word;
  return { problem: `${JSON.stringify(text)} is none of male, female, other` };
}

function readYesOrNo(text: string): boolean | { problem: string } {
  if (/^(true|yes|1)$/i.test(text)) return true;
  if (/^(false|no|0)$/i.test(text)) return false;
  return { problem: `${JSON.stringify(text)} is none of true, false, yes, no, 1, 0` };
}
