import { describe, expect, it } from "vitest";
import { anyStringField, ipAddress } from "../properties/payloads/fields.ts";
import { dateTimes, emailAddresses, hiddenInAddresses, notAlone, words } from "./formats.ts";
import {
  consent,
  emailIdentifier,
  expectNotSent,
  type FieldRow,
  phoneIdentifier,
  type Service,
  testFields,
  testRefused,
  untyped,
  useService,
  v2Contact,
} from "./service.ts";

/** The tables "identifier" and "consent", row by row, for an e-mail identifier. */
const rows: readonly FieldRow[] = [
  {
    field: "id",
    rule: "an e-mail address",
    ...emailAddresses,
    ofClient: [...notAlone, ...hiddenInAddresses],
    code: (id) => (typeof id === "string" || typeof id === "number" ? "custom" : "invalid_type"),
  },
  {
    field: "channels.email.status",
    rule: "any text",
    ...anyStringField(),
    allowed: words("subscribed unsubscribed pending un-subscribed resubscribed", "", "subscribed "),
  },
  { field: "consent.createdAt", rule: "a date-time", ...dateTimes, code: "invalid_format" },
  { field: "consent.ip", rule: "an IPv4 or IPv6 address", ...ipAddress, code: "invalid_format" },
  { field: "consent.source", rule: "any text", ...anyStringField() },
  { field: "channels.email", rule: "an object", allowed: [], forbidden: ["subscribed", true, [], null] },
];

/** An e-mail identifier with another value, or without a value, at one path. */
function changed(path: string, value: unknown): object {
  const identifier: object = structuredClone(emailIdentifier("alan@example.com"));
  const keys = path.split(".");
  let place: unknown = identifier;
  for (const key of keys.slice(0, -1)) place = Reflect.get(Object(place), key);
  Reflect.set(Object(place), keys.at(-1) ?? "", value);
  return identifier;
}

const contactWith = (...identifiers: object[]) => ({ ...v2Contact(), identifiers });

const callsOf = (service: Service) => {
  const call = (contact: unknown) => service.audience.v2.contacts.upsert(untyped(contact));
  return {
    writing: { service, path: "/v2/contacts", call },
    upsert: (...identifiers: object[]) => call(contactWith(...identifiers)),
  };
};

describe("a v2 identifier", () => {
  const service = useService();
  const { writing, upsert } = callsOf(service);

  testFields(writing, rows, (field, value) => contactWith(changed(field, value)), { at: "identifiers.0." });
  const refused = (field: string, value: unknown, code: string) =>
    [{ identifiers: [changed(field, value)] }, `identifiers.0.${field} ${code}`] as const;
  testRefused(writing, v2Contact(), [
    ...[undefined, "EMAIL", "Phone", "fax", "", 1, null].map((type) =>
      refused("type", type, "invalid_value"),
    ),
    ...words("id channels channels.email.status consent consent.createdAt consent.ip consent.source").map(
      (field) => refused(field, undefined, "invalid_type"),
    ),
  ]);

  it.each(["+390111111", 390_111_111, "call me"])(
    "the id of a phone is a string or a number: %j",
    async (id) => {
      await upsert(emailIdentifier("alan@example.com"), phoneIdentifier(id));

      expect(service.contact("alan@example.com")?.phone).toBe(String(id));
    },
  );

  it.each([true, {}, ["+390111111"], null, Number.NaN, Number.POSITIVE_INFINITY])(
    "the id of a phone is a string or a number: %j is not sent",
    async (id) => {
      const phone = { ...phoneIdentifier("+390111111"), id };
      const email = emailIdentifier("alan@example.com");
      await expectNotSent(service, upsert(email, phone), "identifiers.1.id invalid_type");
    },
  );

  it.each(["Subscribed", "SUBSCRIBED", "UNSUBSCRIBED", "NON_SUBSCRIBED", "non_subscribed"])(
    "a status is no known one in another case, and no word of v1: %s is not sent",
    async (status) => {
      for (const channel of ["email", "phone"]) {
        const channels = { email: { status: "subscribed" }, [channel]: { status } };
        await expectNotSent(
          service,
          upsert({ ...emailIdentifier("alan@example.com"), channels }),
          `identifiers.0.channels.${channel}.status invalid_value`,
        );
      }
    },
  );

  it("consent is stored with its identifier", async () => {
    const phone = { ...phoneIdentifier("7654321"), consent: { ...consent, source: "call centre" } };
    await upsert(emailIdentifier("alan@example.com"), phone);

    expect(service.contact("alan@example.com")?.consents).toEqual([
      { type: "email", id: "alan@example.com", ...consent },
      { type: "phone", id: "7654321", ...consent, source: "call centre" },
    ]);
  });

  it("consent.createdAt may be a Date, which is sent as ISO 8601", async () => {
    await upsert(changed("consent.createdAt", new Date("2026-01-31T09:30:00Z")));

    expect(service.mock.requests[0]?.body).toMatchObject({
      identifiers: [{ consent: { createdAt: "2026-01-31T09:30:00.000Z" } }],
    });
  });
});

describe("the channels of v2 identifiers", () => {
  const service = useService();
  const email = (channels: object) => ({ ...emailIdentifier("ada@example.com"), channels });
  const phone = (channels: object) => ({ ...phoneIdentifier("+390111111"), channels });
  const on = { status: "subscribed" };
  const { writing, upsert } = callsOf(service);

  it("empty channels keep the statuses", async () => {
    await upsert(email({}), phone({}));

    expect(service.contact("ada@example.com")).toMatchObject({
      first_name: "Alan",
      email_opt_in: "UNSUBSCRIBED",
      phone_opt_in: "NON_SUBSCRIBED",
    });
  });

  it("the rule is checked beside other problems", async () => {
    const identifier = { ...email({}), consent: { ...consent, ip: "x" } };
    await expectNotSent(
      service,
      writing.call({ identifiers: [identifier] }),
      "firstName invalid_type",
      "identifiers.0.channels.email custom",
      "identifiers.0.consent.ip invalid_format",
      "listIds invalid_type",
    );
  });

  // If all identifiers have one type, each needs the channel of that type.
  testRefused(writing, v2Contact(), [
    [{ identifiers: [email({ phone: on })] }, "identifiers.0.channels.email"],
    [{ identifiers: [email({})] }, "identifiers.0.channels.email"],
    [{ identifiers: [phone({ email: on })] }, "identifiers.0.channels.phone"],
    [{ identifiers: [phone({})] }, "identifiers.0.channels.phone"],
    [{ identifiers: [email({ email: on }), email({})] }, "identifiers.1.channels.email"],
    [{ identifiers: [phone({}), phone({})] }, "identifiers.0.channels.phone", "identifiers.1.channels.phone"],
  ]);

  it.each([
    ["email", "email_opt_in", "subscribed", "SUBSCRIBED"],
    ["email", "email_opt_in", "unsubscribed", "UNSUBSCRIBED"],
    ["phone", "phone_opt_in", "subscribed", "SUBSCRIBED"],
    ["phone", "phone_opt_in", "unsubscribed", "UNSUBSCRIBED"],
  ] as const)("the %s channel is the v1 %s: %s is %s", async (channel, field, status, state) => {
    await upsert(email({ email: on, [channel]: { status } }));

    expect(service.contact("ada@example.com")?.[field]).toBe(state);
  });
});
