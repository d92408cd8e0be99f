import {
  endpoint,
  keepRefusals,
  type RequestContext,
  type MockEndpoint,
  type Reply,
} from "../mock-endpoint.ts";
import { Refusal, refusalOf } from "../refusal.ts";
import type { MockVariants } from "../variants.ts";
import { listResponse, listedCustomer, listedGroup, profileEnvelope, singleGroup } from "./responses.ts";
import {
  checkV1Contact,
  checkV1Event,
  checkV1ListContact,
  contactFieldsOf,
  eventNames,
  type V1Event,
} from "./rules.ts";

export const V1_ENDPOINTS: readonly MockEndpoint[] = [
  endpoint("v1.customers.upsert", "POST /api/v1/customer/create", upsertCustomer),
  endpoint("v1.customers.get", "GET /api/v1/customer/{id}", getCustomer),
  endpoint("v1.customers.list", "GET /api/v1/customer", listCustomers),
  endpoint("v1.contactGroups.list", "GET /api/v1/contact-groups", listGroups),
  endpoint("v1.contactGroups.get", "GET /api/v1/contact-groups/{id}", getGroup),
  endpoint("v1.contactGroups.addContact", "POST /api/v1/contact-groups/{listId}/contacts", addContact),
  endpoint("v1.events.send", "POST /api/v1/events", sendEvent),
];

function upsertCustomer(context: RequestContext): Reply {
  const { organization, variants } = context;
  const body = context.json();
  checkV1Contact(body);
  const fields = contactFieldsOf(body, variants);
  if (fields.email_opt_in === undefined && organization.find(fields)) context.stance("emailOptInOmitted");
  keepRefusals(fields, ["email_opt_in", "phone_opt_in"], "canV1Resubscribe", context);
  const { contact } = organization.write(fields, { ...variants, by: context.operation });
  return { status: 201, body: profileEnvelope(contact, context), applied: true };
}

function getCustomer(context: RequestContext): Reply {
  const contact = context.organization.contact(context.id);
  if (contact === undefined) throw new Refusal(404, "no contact has this id");
  return { status: 200, body: profileEnvelope(contact, context), applied: false };
}

function listCustomers(context: RequestContext): Reply {
  const { v1CustomerOrder } = context.variants;
  return listResponse(context, context.organization.contacts(v1CustomerOrder), {
    name: "customers",
    path: "/api/v1/customer",
    itemOf: (contact) => listedCustomer(contact, context),
  });
}

function listGroups(context: RequestContext): Reply {
  const type = context.query.get("type") ?? "ALL";
  if (type !== "LIST" && type !== "SEGMENT" && type !== "ALL")
    throw refusalOf("type", "type must be one of LIST, SEGMENT, ALL");
  return listResponse(context, context.organization.groups(type), {
    name: "contact_groups",
    path: "/api/v1/contact-groups",
    itemOf: (group) => listedGroup(group, context),
  });
}

function getGroup(context: RequestContext): Reply {
  const group = context.organization.group(context.id);
  if (group === undefined)
    throw new Refusal(context.variants.unknownGroupStatus, "no list or segment has this id", {
      variant: "unknownGroupStatus",
    });
  return { status: 200, body: singleGroup(group, context), applied: false };
}

/** "States and transitions": on an existing contact an omitted `email_opt_in` means `SUBSCRIBED`. */
function addContact(context: RequestContext): Reply {
  const { organization, variants, id } = context;
  const body = context.json();
  checkV1ListContact(body);
  const fields = contactFieldsOf(body, variants);
  const group = organization.group(id);
  const isList = group !== undefined && (group.type === "LIST" || variants.canAddToSegment);
  const decides = group === undefined ? "unknownListWritesContact" : "canAddToSegment";
  if (group?.type === "SEGMENT" && isList) context.stance("canAddToSegment");
  if (!isList && !variants.unknownListWritesContact) throw unknownList(false, decides);
  keepRefusals(fields, ["phone_opt_in"], "canV1Resubscribe", context);
  const { phoneOptInOmitted, suppressionOmitted } = variants;
  const { contact, action } = organization.write(fields, {
    by: context.operation,
    emailOptInOmitted: "SUBSCRIBED",
    phoneOptInOmitted,
    suppressionOmitted,
  });
  if (!isList) throw unknownList(true, decides);
  organization.join(contact, id);
  const result = { email: contact.email, contactUUID: contact.id, action };
  return { status: 200, body: { message: "Contact added to the list", contact: result }, applied: true };
}

function unknownList(isContactWritten: boolean, variant: keyof MockVariants): Refusal {
  return new Refusal(404, "no list has this id", { applied: isContactWritten, variant });
}

function sendEvent(context: RequestContext): Reply {
  const { organization, variants } = context;
  const event = context.json();
  checkV1Event(event, variants);
  const status = variants.eventStatus;
  const isKnown = organization.hasEvent(event.uniqueIdentifier);
  if (!isKnown) recordEvent(event, context);
  return { status, body: status === 204 ? undefined : variants.eventBody, applied: !isKnown };
}

function recordEvent(
  { contactUUID, ...event }: V1Event,
  { operation: by, organization, variants }: RequestContext,
): void {
  const inContact = variants.contactUuidPlace === "root" ? undefined : event.contact?.["contactUUID"];
  const uuid = typeof inContact === "string" ? inContact : contactUUID;
  const names = eventNames(event, variants);
  let contact = uuid === undefined ? undefined : organization.contact(uuid);
  contact ??= organization.find(names);
  if (names.external_id !== undefined)
    contact ??= organization.contacts().find(({ external_id }) => external_id === names.external_id);
  if (names.email !== undefined || names.phone !== undefined)
    contact ??= organization.write(names, { by }).contact;
  if (contact === undefined)
    throw new Refusal(
      variants.unknownContactUuidStatus,
      `no contact has this ${uuid === undefined ? "external_id" : "contactUUID"}`,
      {
        variant: "unknownContactUuidStatus",
      },
    );
  organization.record(contact, event);
}
