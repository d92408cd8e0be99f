import { type RequestContext, type MockEndpoint, parsePageQuery, type Reply } from "./endpoint.ts";
import { Refusal } from "./refusal.ts";
import { listResponse, listedCustomer, listedGroup, profileEnvelope, singleGroup } from "./responses-v1.ts";
import {
  contactFieldsOf,
  checkV1Contact,
  checkV1Event,
  checkV1ListContact,
  type V1Event,
} from "./rules-v1.ts";

/** "Limits": the page size of both v1 lists. */
const PAGE_SIZE = { default: 10, max: 100 };

export const V1_ENDPOINTS: readonly MockEndpoint[] = [
  {
    operation: "v1.customers.upsert",
    method: "POST",
    path: /^\/api\/v1\/customer\/create$/,
    respond: upsertCustomer,
  },
  { operation: "v1.customers.list", method: "GET", path: /^\/api\/v1\/customer$/, respond: listCustomers },
  {
    operation: "v1.customers.get",
    method: "GET",
    path: /^\/api\/v1\/customer\/([^/]+)$/,
    respond: getCustomer,
  },
  {
    operation: "v1.contactGroups.list",
    method: "GET",
    path: /^\/api\/v1\/contact-groups$/,
    respond: listGroups,
  },
  {
    operation: "v1.contactGroups.get",
    method: "GET",
    path: /^\/api\/v1\/contact-groups\/([^/]+)$/,
    respond: getGroup,
  },
  {
    operation: "v1.contactGroups.addContact",
    method: "POST",
    path: /^\/api\/v1\/contact-groups\/([^/]+)\/contacts$/,
    respond: addContact,
  },
  { operation: "v1.events.send", method: "POST", path: /^\/api\/v1\/events$/, respond: sendEvent },
];

function upsertCustomer(context: RequestContext): Reply {
  const { organization, variants } = context;
  const body = context.json();
  checkV1Contact(body);
  const fields = contactFieldsOf(body, variants);
  const { emailOptInOmitted, phoneOptInOmitted } = variants;
  const { contact } = organization.write({ fields, emailOptInOmitted, phoneOptInOmitted });
  return { status: 201, body: profileEnvelope(contact, context), applied: true };
}

function getCustomer(context: RequestContext): Reply {
  const contact = context.organization.contact(context.id);
  if (contact === undefined) throw new Refusal(404, "no contact has this id");
  return { status: 200, body: profileEnvelope(contact, context), applied: false };
}

function listCustomers(context: RequestContext): Reply {
  const page = parsePageQuery(context.query, PAGE_SIZE.default, PAGE_SIZE.max);
  const shape = { name: "customers", path: "/api/v1/customer" };
  return listResponse(context, context.organization.contacts(), {
    ...page,
    ...shape,
    itemOf: (contact) => listedCustomer(contact, context),
  });
}

function listGroups(context: RequestContext): Reply {
  const page = parsePageQuery(context.query, PAGE_SIZE.default, PAGE_SIZE.max);
  const type = context.query.get("type") ?? "ALL";
  if (type !== "LIST" && type !== "SEGMENT" && type !== "ALL") {
    const message = "type must be one of LIST, SEGMENT, ALL";
    throw new Refusal(400, message, [{ path: "type", message }]);
  }
  const shape = { name: "contact_groups", path: "/api/v1/contact-groups" };
  return listResponse(context, context.organization.groups(type), {
    ...page,
    ...shape,
    itemOf: (group) => listedGroup(group, context),
  });
}

function getGroup(context: RequestContext): Reply {
  const group = context.organization.group(context.id);
  if (group === undefined)
    throw new Refusal(context.variants.unknownGroupStatus, "no list or segment has this id");
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
  if (!isList && !variants.unknownListWritesContact) throw unknownList(false);
  const { phoneOptInOmitted } = variants;
  const { contact, action } = organization.write({
    fields,
    emailOptInOmitted: "SUBSCRIBED",
    phoneOptInOmitted,
  });
  if (!isList) throw unknownList(true);
  organization.join(contact, id);
  const result = { email: contact.email, contactUUID: contact.id, action };
  return { status: 200, body: { message: "Contact added to the list", contact: result }, applied: true };
}

function unknownList(isContactWritten: boolean): Refusal {
  return new Refusal(404, "no list has this id", [], isContactWritten);
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
  { eventName, uniqueIdentifier, contact: sent, contactUUID, eventData }: V1Event,
  context: RequestContext,
): void {
  const { organization, variants } = context;
  const inContact = variants.contactUuidPlace === "root" ? undefined : sent?.["contactUUID"];
  const uuid = typeof inContact === "string" ? inContact : contactUUID;
  const email = sent?.email;
  let contact = uuid === undefined ? undefined : organization.contact(uuid);
  if (contact === undefined && email !== undefined) {
    contact =
      organization.find({ email }) ??
      organization.write({ fields: { email }, emailOptInOmitted: "kept", phoneOptInOmitted: "kept" }).contact;
  }
  if (contact === undefined)
    throw new Refusal(variants.unknownContactUuidStatus, "no contact has this contactUUID");
  organization.record({
    contact,
    eventName,
    ...(uniqueIdentifier !== undefined && { uniqueIdentifier }),
    ...(sent !== undefined && { sentContact: sent }),
    ...(eventData !== undefined && { eventData }),
  });
}
