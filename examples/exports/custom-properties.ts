import type { CsvRow } from "./csv-row.ts";

/**
 * Every column that is no field of the contact, as custom properties: so an export loses nothing on its way.
 *
 * The name is the heading in snake_case behind the prefix, if there is one (`MEMBER_RATING` → `mailchimp_member_rating`), the value the
 * cell's text. Blank cells are left out, as the service drops them ("Custom property value rules").
 */
export function customProperties(
  row: CsvRow,
  options: { prefix: string; except: readonly string[] },
): Record<string, string> {
  const entries = row.headings.flatMap((heading, index): [string, string][] => {
    const value = row.cells[index] ?? "";
    if (options.except.includes(heading) || value.trim() === "") return [];
    const name = snakeCase(heading) || `column_${index + 1}`;
    const isNamed = options.prefix === "" || name.startsWith(`${options.prefix}_`);
    return [[isNamed ? name : `${options.prefix}_${name}`, value.trim()]];
  });
  return Object.fromEntries(entries);
}

/** A heading as a field is named: `First Name` is `first_name`. */
export function snakeCase(heading: string): string {
  return heading
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, "_")
    .replace(/^_|_$/g, "");
}
