import type { AudienceClient, Profile, ProfileAttributes } from "audience-sdk";
import { table } from "../console/table.ts";

/** Lists at most `max` contacts of the service. */
export async function readContacts(
  audience: AudienceClient,
  options: { max: number; signal: AbortSignal },
): Promise<Profile[]> {
  const contacts: Profile[] = [];
  for await (const profile of audience.v1.customers.list({}, { signal: options.signal })) {
    contacts.push(profile);
    if (contacts.length === options.max) break;
  }
  return contacts;
}

/** The contacts as a table, with the name last, because it may be written from right to left. */
export function contactTable(contacts: readonly Profile[], width: number): string[] {
  return table(
    ["E-mail", "Phone", "E-mail consent", "Source", "Name"],
    contacts.map((contact) => [
      attribute(contact, "email"),
      attribute(contact, "phone"),
      attribute(contact, "email_opt_in"),
      attribute(contact, "source"),
      `${attribute(contact, "first_name")} ${attribute(contact, "last_name")}`.trim(),
    ]),
    width,
  );
}

/** The number of contacts for each consent, the most frequent first, with a bar each. */
export function consentSummary(contacts: readonly Profile[]): string[] {
  const counts = new Map<string, number>();
  for (const contact of contacts) {
    const consent = attribute(contact, "email_opt_in") || "(not told)";
    counts.set(consent, (counts.get(consent) ?? 0) + 1);
  }
  const most = Math.max(...counts.values());
  return [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .map(
      ([consent, count]) =>
        `${consent.padEnd(15)} ${String(count).padStart(4)}  ${"█".repeat(Math.ceil((30 * count) / most))}`,
    );
}

// A service may send any value ("v1 contact (profile) response envelope").
function attribute(profile: Profile, name: keyof ProfileAttributes): string {
  const value: unknown = profile.attributes[name];
  return typeof value === "string" ? value : "";
}
