import { v2ContactSchema } from "audience-sdk/schemas";
import type * as z from "zod";
import type { Channel, ConsentEvidence, Contact, OptIn, RowIssue } from "../exports/contact.ts";
import type { ReadRow } from "../exports/read-row.ts";

/** A contact as `v2.contacts.upsert` takes it. */
export type V2Contact = z.input<typeof v2ContactSchema>;

/**
 * A row as a v2 contact, and what keeps it from being one.
 *
 * v2 wants to know when, from where and how consent was given ("v2 identifier object"). What the file does not say is
 * not made up: the row is not sent. v2 has no state between the two, so who has not subscribed is unsubscribed.
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
  // A refusal of the other channel, whose address or number the file does not give.
  const channels = {
    ...(type === "email" || (email === undefined && email_opt_in) ? { email: status(email_opt_in) } : {}),
    ...(type === "phone" || (phone === undefined && phone_opt_in) ? { phone: status(phone_opt_in) } : {}),
  };
  return { type, id, channels, consent: evidence };
}

// A status is required there, and any would change what an existing contact has.
function unstatedIssues({ email, phone, email_opt_in, phone_opt_in }: Contact): RowIssue[] {
  const message =
    "is unstated, and v2 wants a status: say it in a column, or leave the column out with --without";
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
