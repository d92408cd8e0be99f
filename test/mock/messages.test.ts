import type { MockVariants } from "audience-sdk/mock";
import { expect, it } from "vitest";
import { consent, emailIdentifier, phoneIdentifier, v2Contact } from "../document/service.ts";
import { inProcess } from "./entry-points.ts";

const email = "ada@example.com";
const CREATE = "/api/v1/customer/create";
const EVENTS = "/api/v1/events";
const V2 = "/v2/contacts";

const identified = (more: object) => v2Contact({ identifiers: [{ ...emailIdentifier(email), ...more }] });

it.each<[string, unknown, string, Partial<MockVariants>?]>([
  [CREATE, [], "the body must be an object, not an array"],
  [CREATE, { email: null }, "email must be a string, not null"],
  [CREATE, { email, is_suppressed: "no" }, "is_suppressed must be a boolean, not a string"],
  [CREATE, { first_name: "Ada" }, "email or phone is required"],
  [
    CREATE,
    { email: "ada", phone: "1" },
    "email must be an email address; phone must have at least 7 characters, has 1",
  ],
  [
    CREATE,
    { email, plan: "gold" },
    "plan is not a recognized field; there are email, phone, external_id, first_name, last_name, email_opt_in, phone_opt_in, is_suppressed, double_opt_in, source, dob, gender, country, state, city, address1, address2, postal_code, custom_properties",
  ],
  [CREATE, { email, country: "Atlantis" }, "country is not a known country", { unknownCountry: "refused" }],
  [
    EVENTS,
    { eventName: "", contactUUID: "" },
    "eventName must have at least 1 characters, has 0; contactUUID must have at least 1 characters, has 0",
  ],
  [
    EVENTS,
    { eventName: "x", contactUUID: "a", eventData: { items: [1, { sku: null }] } },
    "eventData.items.1.sku must not be null",
  ],
  [
    EVENTS,
    { eventName: "x", contact: { contactUUID: "a" } },
    "contact must have an email or a contactUUID",
    { contactUuidPlace: "root" },
  ],
  [V2, { ...v2Contact(), listIds: ["a", 7] }, "listIds[1] must be a string, not a number"],
  [
    V2,
    identified({ type: "fax", id: "1" }),
    "identifiers[0].type must be one of email, phone; identifiers[0].channels.phone is required",
  ],
  [V2, identified({ id: "ada" }), "identifiers[0].id must be an email address"],
  [
    V2,
    identified({ consent: { createdAt: "then", ip: "here", source: "x" } }),
    "identifiers[0].consent.createdAt must be an ISO 8601 date-time; identifiers[0].consent.ip must be an IPv4 or IPv6 address",
  ],
])("The mock reports all problems: %s %j", async (path, body, message, variants = {}) => {
  const { call, mock } = await inProcess.open({ variants });

  expect(await call(path, { body })).toMatchObject({ status: 400, body: { message } });
  expect(mock.organization("mock-organization").contacts).toEqual([]);
});

it.each<[unknown, object[]]>([
  [
    { email, custom_properties: { plan: null } },
    [{ field: "custom_properties.plan", message: "custom_properties.plan must not be null" }],
  ],
  [7, [{ field: "", message: "the body must be an object, not a number" }]],
])("The mock reports the field of each problem: %j", async (body, errors) => {
  const { call } = await inProcess.open({ variants: { v1Error: "errors" } });

  expect(await call(CREATE, { body })).toMatchObject({ status: 400, body: { errors } });
});

it("A consent replaces the one of the same identifier, and is stored beside those of other identifiers", async () => {
  const { call, mock } = await inProcess.open();
  const sourced = (one: object, source: string) => ({ ...one, consent: { ...consent, source } });
  const send = (...identifiers: object[]) => call(V2, { body: { ...v2Contact(), identifiers } });
  const [own, other] = [emailIdentifier(email), emailIdentifier("countess@example.com")];

  await send(
    sourced(own, "first"),
    sourced(phoneIdentifier("+390111111"), "second"),
    sourced(other, "third"),
  );
  await send(sourced(own, "fourth"));

  expect(mock.organization("mock-organization").contacts.map(({ consents }) => consents)).toMatchObject([
    [
      { id: "+390111111", source: "second" },
      { id: other.id, source: "third" },
      { id: email, source: "fourth" },
    ],
  ]);
});
