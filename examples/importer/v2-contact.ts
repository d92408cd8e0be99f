import { v2ContactSchema } from "audience-sdk/schemas";
import type * as z from "zod";
import type { Channel, ConsentEvidence, Contact, OptIn, RowIssue } from "../exports/contact.ts";
import type { ReadRow } from "../exports/read-row.ts";

/** The input of `v2.contacts.upsert`. */
export type V2Contact = z.input<typeof v2ContactSchema>;

/**
 * A row as a v2 contact, and its issues.
 *
 * v2 requires the time, address and source of a consent ("v2 identifier object"). They are never invented: without them
 * the row is not sent. v2 has only two states, so NON_SUBSCRIBED becomes unsubscribed.
 */
export function v2Contact(
  contact: Contact,
  { evidence }: Pick<ReadRow, "evidence">,
  listId: string | undefined,
): { contact: unknown; issues: readonly RowIssue[] } {
  const { email, phone, country, dob } = contact;
  const isCode = country !== undefined && /^[a-z]{2}$/i.test(country);
  const mapped = {
    firstName: contact.first_name,
    lastName: contact.last_name,
    birthDate: dob,
    city: contact.city,
    ...(isCode ? { countryCode: country } : { country }),
    state: contact.state,
    postalCode: contact.postal_code,
    gender: contact.gender?.charAt(0).toLowerCase(),
    listIds: listId === undefined ? [] : [listId],
    identifiers: [
      ...(email === undefined ? [] : [identifier("email", email, contact, evidence.email)]),
      ...(phone === undefined ? [] : [identifier("phone", phone, contact, evidence.phone)]),
    ],
  };
  return { contact: mapped, issues: [...unstatedIssues(contact), ...issuesOf(mapped)] };
}

function identifier(
  type: Channel,
  id: string,
  { email, phone, email_opt_in, phone_opt_in }: Contact,
  evidence: ConsentEvidence = {},
) {
  const status = (optIn: OptIn | undefined) => ({
    status: optIn === "SUBSCRIBED" ? "subscribed" : "unsubscribed",
  });
  // An opt-out of the other channel, whose address or number is not in the file.
  const channels = {
    ...(type === "email" || (email === undefined && email_opt_in) ? { email: status(email_opt_in) } : {}),
    ...(type === "phone" || (phone === undefined && phone_opt_in) ? { phone: status(phone_opt_in) } : {}),
  };
  return { type, id, channels, consent: evidence };
}

// v2 requires a status, and any status would change an existing contact.
function unstatedIssues({ email, phone, email_opt_in, phone_opt_in }: Contact): RowIssue[] {
  const message = "is unstated, and v2 requires a status: add a column, or state it with --consent";
  return [
    ...(email !== undefined && email_opt_in === undefined ? [{ field: "email consent", message }] : []),
    ...(phone !== undefined && phone_opt_in === undefined ? [{ field: "phone consent", message }] : []),
  ];
}

function issuesOf(mapped: { identifiers: readonly { type: string }[] }): RowIssue[] {
  const checked = v2ContactSchema.safeParse(mapped);
  if (checked.success) return [];
  return checked.error.issues.map(({ path, message }) => {
    const [, at, ...rest] = path;
    const owner =
      path[0] === "identifiers" && typeof at === "number" ? mapped.identifiers[at]?.type : undefined;
    const field = owner === undefined ? path.join(".") || "row" : `${owner} ${rest.join(".")}`;
    const remedy = path.includes("consent")
      ? `; v2 needs it: add the column consent_${consentColumns[String(path.at(-1))] ?? "…"}`
      : "";
    return { field, message: message + remedy };
  });
}

const consentColumns: Readonly<Record<string, string>> = {
  createdAt: "created_at",
  ip: "ip",
  source: "source",
};
