import {
  endpoint,
  keepRefusals,
  type RequestContext,
  type MockEndpoint,
  pageOf,
  type Reply,
} from "../mock-endpoint.ts";
import { Refusal } from "../refusal.ts";
import type { ContactFields } from "../state/contact-fields.ts";
import type { MockGroup } from "../state/organization-state.ts";
import type { Organization } from "../state/organization.ts";
import { countryCodeOf } from "../string-formats.ts";
import { storedCountry } from "../v1/rules.ts";
import type { MockVariants } from "../variants.ts";
import { checkV2Contact, type V2Contact, type V2Identifier } from "./rules.ts";

export const V2_ENDPOINTS: readonly MockEndpoint[] = [
  endpoint("v2.contacts.upsert", "POST /v2/contacts", upsertContact),
  endpoint("v2.lists.list", "GET /v2/lists", listLists),
];

/** "An email identifier is required to create a contact." */
function upsertContact(context: RequestContext): Reply {
  const { organization, variants } = context;
  const body = context.json();
  checkV2Contact(body, variants.v2MaxLength);
  const isKnownList = (id: string) => organization.group(id)?.type === "LIST";
  const unknown = body.listIds.find((id) => !isKnownList(id));
  if (unknown !== undefined) context.stance("v2UnknownList");
  if (unknown !== undefined && variants.v2UnknownList === "refused")
    throw new Refusal(400, `listIds: no list has the id "${unknown}"`, { section: "v2 contact" });

  const fields = fieldsOf(body, context);
  if (organization.find(fields) === undefined && fields.email === undefined)
    throw new Refusal(400, "identifiers: an email is required to create a contact");
  keepRefusals(fields, ["email_opt_in", "phone_opt_in"], "canV2Resubscribe", context);
  const created = body.createdAt === undefined ? undefined : timestampOf(body.createdAt);
  const { contact } = organization.write(fields, { by: context.operation, created });
  if (variants.v2ListIds === "replaced") organization.leaveAllBut(contact, body.listIds);
  for (const listId of body.listIds) if (isKnownList(listId)) organization.join(contact, listId);
  if (body.triggerWelcomeEmail === true) organization.welcome(contact);
  return { status: 200, body: { status: true }, applied: true };
}

/** Both families write the same contacts, which are stored under the v1 names. */
function fieldsOf(body: V2Contact, context: RequestContext): ContactFields {
  const { organization, variants } = context;
  const {
    firstName,
    lastName,
    birthDate,
    city,
    countryCode,
    country,
    state,
    postalCode,
    gender,
    identifiers,
    ...rest
  } = body;
  const { createdAt: _createdAt, triggerWelcomeEmail: _trigger, listIds: _listIds, ...passedOn } = rest;
  const code =
    countryCode?.toUpperCase() ??
    (country === undefined ? undefined : storedCountry(country, variants.unknownCountry));
  const hasOtherCountry =
    country !== undefined && countryCode !== undefined && countryCodeOf(country) !== code;
  const otherFields = hasOtherCountry ? { ...passedOn, country } : passedOn;
  const email = chosen(identifiers, "email", organization);
  const phone = chosen(identifiers, "phone", organization);
  const emailOptIn = optInOf("email", email, phone, context);
  const phoneOptIn = optInOf("phone", phone, email, context);
  return {
    first_name: firstName,
    ...(lastName !== undefined && { last_name: lastName }),
    ...(birthDate !== undefined && { dob: birthDate }),
    ...(city !== undefined && { city }),
    ...(code !== undefined && { country: code }),
    ...(state !== undefined && { state }),
    ...(postalCode !== undefined && { postal_code: postalCode }),
    ...(gender !== undefined && { gender: genderOf(gender) }),
    ...(email !== undefined && { email: String(email.id) }),
    ...(phone !== undefined && { phone: String(phone.id) }),
    ...(emailOptIn !== undefined && { email_opt_in: emailOptIn }),
    ...(phoneOptIn !== undefined && { phone_opt_in: phoneOptIn }),
    ...(Object.keys(otherFields).length > 0 && { other_fields: otherFields }),
    consents: identifiers.map(({ type, id, consent: { createdAt, ip, source } }) => ({
      type,
      id: String(id),
      createdAt,
      ip,
      source,
    })),
  };
}

/** Of several identifiers of one type, the one of a known contact, else the first. */
function chosen(
  identifiers: readonly V2Identifier[],
  type: "email" | "phone",
  organization: Organization,
): V2Identifier | undefined {
  const ofType = identifiers.filter((identifier) => identifier.type === type);
  return ofType.find(({ id }) => organization.find({ [type]: String(id) })) ?? ofType[0];
}

/** A channel's status from its own identifier, else from the other one. */
function optInOf(
  channel: "email" | "phone",
  own: V2Identifier | undefined,
  other: V2Identifier | undefined,
  { variants: { v2OtherStatus }, stance }: RequestContext,
): string | undefined {
  const status = own?.channels[channel]?.status ?? other?.channels[channel]?.status;
  if (status === undefined) return undefined;
  if (status === "subscribed" || status === "unsubscribed") return status.toUpperCase();
  stance("v2OtherStatus");
  if (v2OtherStatus === "stored") return status.toUpperCase();
  if (v2OtherStatus === "ignored") return undefined;
  throw new Refusal(400, `channels.${channel}.status must be subscribed or unsubscribed`, {
    section: "v2 identifier object",
  });
}

function genderOf(gender: string): string {
  const letter = gender.toLowerCase();
  return letter === "m" ? "MALE" : letter === "f" ? "FEMALE" : gender;
}

/** A day, or a date-time that may lack its offset (then UTC), as an ISO 8601 timestamp. */
function timestampOf(value: string): string {
  // `Date` parses only one form of ISO 8601. Without an offset the time is in UTC.
  const [day, time = ""] = value.replace(",", ".").split("T");
  // Safe: the pattern matches any string.
  const [, clock, hours, minutes = "00"] = /^(.*?)(?:([+-]\d{2}):?(\d{2})?)?$/.exec(time)!;
  if (!clock) return new Date(value).toISOString();
  const offset = clock.endsWith("Z") ? "" : hours === undefined ? "Z" : `${hours}:${minutes}`;
  return new Date(`${day}T${clock}${offset}`).toISOString();
}

/** "v2 list"; segments exist only in the v1 family. */
function listLists({ organization, variants, query }: RequestContext): Reply {
  const limits = { defaultLimit: variants.v2DefaultLimit, maxLimit: variants.v2MaxLimit };
  const { items, page, limit, total, pages } = pageOf(organization.groups("LIST"), query, limits);
  const lists = items.map(listOf);
  const data = { lists, current_page: page, total_pages: pages, total_items: total, items_per_page: limit };
  return { status: 200, body: { success: true, data }, applied: false };
}

function listOf({ id, name, created_at, description }: MockGroup): Record<string, unknown> {
  return { uuid: id, name, created_at, ...(description !== undefined && { description }) };
}

/** "Errors", v2: `status` is `error`. */
export function v2ErrorReply(_variants: MockVariants, status: number, message: string): Reply {
  return { status, body: { status: "error", message }, applied: false };
}
