import type { Json } from "./fields.ts";
import { knownPhones, type Payload, type Verdict } from "./payload.ts";

/** A request that the schemas and the mock treat differently on purpose. */
export interface NamedException {
  readonly name: string;
  readonly schemas: Verdict;
  readonly mock: Verdict;
  readonly covers: (payload: Payload) => boolean;
}

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * All exceptions, which `test/document` and `test/schemas` try each by itself. Any other difference is an error in the
 * schemas or in the mock.
 */
export const namedExceptions: readonly NamedException[] = [
  {
    name: "a nested custom property",
    // The service takes it and stores unusable text, so it is refused before it is sent.
    schemas: "refused",
    mock: "accepted",
    covers: ({ body }) =>
      isObject(body) && isObject(body["custom_properties"]) && hasNested(body["custom_properties"]),
  },
  {
    name: "a key named __proto__",
    // The service may take it, but objects in JavaScript lose or abuse it, so it is refused before it is sent.
    schemas: "refused",
    mock: "accepted",
    covers: ({ body }) => holdsProto(body),
  },
  {
    name: "an e-mail address that is not alone",
    // An opt-out for a display name or for two addresses would be nobody's, so it is refused before.
    schemas: "refused",
    mock: "accepted",
    covers: ({ body }) =>
      emailsIn(body).some((email) => /@.*@|[,;<>]|^mailto:|^["'“„‘«].*["'”“’»]$/is.test(email)),
  },
  {
    name: "a v2 status in the words of v1",
    // An opt-out in the words of v1 could be stored as an unknown status, so it is refused before.
    schemas: "refused",
    mock: "accepted",
    covers: ({ body }) => statusesIn(body).some((status) => /^(non_|un)?subscribed$/i.test(status)),
  },
  {
    name: "a blank contactUUID",
    // No contact has a blank id, so the event could only be lost.
    schemas: "refused",
    mock: "accepted",
    covers: ({ write, body }) =>
      write === "v1.events.send" &&
      isObject(body) &&
      (isBlank(body["contactUUID"]) ||
        (isObject(body["contact"]) && isBlank(body["contact"]["contactUUID"]))),
  },
  {
    name: "a phone that no contact has, and no e-mail",
    // Creating needs an e-mail, but only the service knows whether the contact exists, so it is sent.
    schemas: "accepted",
    mock: "refused",
    covers: ({ write, body }) =>
      write === "v2.contacts.upsert" && isObject(body) && isUnknownPhoneOnly(body["identifiers"]),
  },
  {
    name: "a date-time of more than 64 characters",
    // Twenty digits of a second's fraction fit in, and a text of megabytes is not to be matched.
    schemas: "refused",
    mock: "accepted",
    covers: ({ body }) => /T\d\d:\d\d:\d\d[.,]\d{40}/.test(JSON.stringify(body)),
  },
];

/** Every e-mail address, where each of the four writes has one. */
function emailsIn(body: unknown): string[] {
  if (!isObject(body)) return [];
  const contact = isObject(body["contact"]) ? body["contact"] : {};
  const ids = identifiersIn(body).map(({ id }) => id);
  return [body["email"], contact["email"], ...ids].filter((email) => typeof email === "string");
}

function statusesIn(body: unknown): string[] {
  return identifiersIn(body)
    .flatMap(({ channels }) => (isObject(channels) ? Object.values(channels) : []))
    .flatMap((channel) =>
      isObject(channel) && typeof channel["status"] === "string" ? channel["status"] : [],
    );
}

function identifiersIn(body: unknown): Json[] {
  if (!isObject(body) || !Array.isArray(body["identifiers"])) return [];
  return body["identifiers"].filter(isObject);
}

function hasNested(properties: Json): boolean {
  return Object.values(properties).some((value) => typeof value === "object" && value !== null);
}

function holdsProto(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsProto);
  return isObject(value) && (Object.hasOwn(value, "__proto__") || Object.values(value).some(holdsProto));
}

function isBlank(value: unknown): boolean {
  return typeof value === "string" && value !== "" && value.trim() === "";
}

function isUnknownPhoneOnly(identifiers: unknown): boolean {
  if (!Array.isArray(identifiers)) return false;
  const known: readonly string[] = knownPhones;
  return identifiers.every(
    (one) => isObject(one) && one["type"] === "phone" && !known.includes(String(one["id"])),
  );
}
