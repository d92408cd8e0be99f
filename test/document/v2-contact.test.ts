import { BadRequestError } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { entryPoints } from "../mock/entry-points.ts";
import { anyStringField, booleanField, countryCode, day } from "../properties/payloads/fields.ts";
import { daysAndDateTimes } from "./formats.ts";
import {
  emailIdentifier,
  expectError,
  type FieldRow,
  now,
  phoneIdentifier,
  testFields,
  testRefused,
  untyped,
  useService,
  v2Contact,
} from "./service.ts";

interface Row extends FieldRow {
  /** The name of the same field in the v1 family, under which it is stored. */
  storedAs?: string;
}

const text = { rule: "any text", ...anyStringField() };

/** The table "v2 contact", row by row; `listIds` and `identifiers` follow below. */
const rows: readonly Row[] = [
  { field: "firstName", ...text, storedAs: "first_name" },
  { field: "lastName", ...text, storedAs: "last_name" },
  { field: "birthDate", rule: "a day of the calendar", ...day, code: "invalid_format", storedAs: "dob" },
  { field: "city", ...text, storedAs: "city" },
  { field: "countryCode", rule: "two letters", ...countryCode, code: "invalid_format" },
  { field: "country", ...text },
  { field: "provinceCode", ...text },
  { field: "state", ...text, storedAs: "state" },
  { field: "postalCode", ...text, storedAs: "postal_code" },
  { field: "gender", ...text, rule: "a text of an open set" },
  { field: "createdAt", rule: "a day or a date-time", ...daysAndDateTimes, code: "invalid_format" },
  { field: "triggerWelcomeEmail", rule: "true or false", ...booleanField },
];

describe("a v2 contact", () => {
  const service = useService();
  const upsert = (contact: unknown) => service.audience.v2.contacts.upsert(untyped(contact));
  const alan = () => service.contact("alan@example.com");

  const writing = { service, path: "/v2/contacts", call: upsert };
  testFields(writing, rows, (field, value) => ({ ...v2Contact(), [field]: value }), {
    expectStored({ storedAs }, value) {
      if (storedAs !== undefined) expect(alan()).toMatchObject({ [storedAs]: value });
    },
  });
  testRefused(writing, v2Contact(), [
    [{ firstName: undefined }, "firstName invalid_type"],
    [{ listIds: undefined }, "listIds invalid_type"],
    [{ identifiers: undefined }, "identifiers invalid_type"],
    [{ loyalty: { tiers: [null] } }, "loyalty.tiers.0 custom"],
    ...["news", null, {}].map((listIds) => [{ listIds }, "listIds invalid_type"] as const),
    [{ listIds: [7] }, "listIds.0 invalid_type"],
    [{ listIds: ["news", null] }, "listIds.1 invalid_type"],
    [{ identifiers: [] }, "identifiers too_small"],
    ...["news", null, {}].map((identifiers) => [{ identifiers }, "identifiers invalid_type"] as const),
    ...["news", null].map((one) => [{ identifiers: [one] }, "identifiers.0 invalid_type"] as const),
    ...["news", null, [v2Contact()]].map((whole) => [whole, ""] as const),
  ]);

  it("a field that is not in the table is passed on", async () => {
    const loyalty = { points: 3, tiers: ["gold"] };
    const contact = v2Contact({ provinceCode: "LND", last_name: "Turing", loyalty, score: undefined });
    const [identifier] = contact.identifiers;
    Object.assign(identifier ?? {}, {
      label: "work",
      channels: { email: { status: "subscribed", since: 1 } },
    });
    await upsert(contact);

    expect(service.mock.requests[0]?.body).toEqual(contact);
    expect(alan()?.other_fields).toEqual({ provinceCode: "LND", last_name: "Turing", loyalty });
  });

  it.each([
    ["gb", undefined, "GB"],
    [undefined, "United Kingdom", "GB"],
    ["GB", "United Kingdom", "GB"],
  ])("countryCode %j and country %j are stored as %s", async (code, country, stored) => {
    await upsert({ ...v2Contact(), countryCode: code, country });

    expect(alan()?.country).toBe(stored);
  });

  it.each([
    ["m", "MALE"],
    ["f", "FEMALE"],
    ["x", "x"],
  ])("gender %j is %j in the v1 family", async (gender, stored) => {
    await upsert(v2Contact({ gender }));

    expect(alan()?.gender).toBe(stored);
  });

  it.each([
    ["2020-01-01T10:00:00Z", "2020-01-01T10:00:00Z", "2020-01-01T10:00:00.000Z"],
    ["2020-01-01T10:00", "2020-01-01T10:00", "2020-01-01T10:00:00.000Z"],
    [new Date("2020-01-01T10:00:00Z"), "2020-01-01T10:00:00.000Z", "2020-01-01T10:00:00.000Z"],
    [undefined, undefined, now],
  ])(
    "createdAt %j is sent as %j, and is the creation time of a new contact: %s",
    async (createdAt, sent, created) => {
      await upsert({ ...v2Contact(), createdAt });

      expect(service.mock.requests[0]?.body).toEqual({ ...v2Contact(), ...(sent && { createdAt: sent }) });
      expect(alan()?.created).toBe(created);
    },
  );

  it.each([
    [true, ["alan@example.com"]],
    [false, []],
    [undefined, []],
  ])("triggerWelcomeEmail %j starts the welcome flow for %j", async (triggerWelcomeEmail, emails) => {
    await upsert({ ...v2Contact(), triggerWelcomeEmail });

    expect(service.state().welcomeEmails.map(({ email }) => email)).toEqual(emails);
  });

  it("where no welcome flow is configured triggerWelcomeEmail starts nothing", async () => {
    const globex = service.clientWith({
      apiKey: "globex-mock-key",
      apiKeyV2: "globex-mock-key",
      appId: "globex-mock-app",
    });
    await globex.v2.contacts.upsert(v2Contact({ triggerWelcomeEmail: true }));

    expect(service.mock.organization("globex")).toMatchObject({
      contacts: [{ email: "alan@example.com" }],
      welcomeEmails: [],
    });
  });
});

describe("listIds", () => {
  const service = useService();

  it.each([
    ["each list", ["news", "offers"], ["news", "offers"]],
    ["none of no list", [], []],
    ["one list once", ["news", "news"], ["news"]],
    ["no unknown list", ["nothing"], []],
    ["no segment", ["engaged"], []],
  ])("make the contact a member of %s, and fire the trigger: %j", async (_, listIds, joined) => {
    await service.audience.v2.contacts.upsert(v2Contact({ listIds }));
    const { automationRuns, memberships, triggers } = service.state();
    const id = service.contact("alan@example.com")?.id;

    expect(memberships.filter(({ contactId }) => contactId === id).map(({ listId }) => listId)).toEqual(
      joined,
    );
    expect(triggers.map(({ listId }) => listId)).toEqual(joined);
    expect(automationRuns.map(({ automation }) => automation)).toEqual(
      joined.includes("news") ? ["Hello"] : [],
    );
  });
});

describe.each(entryPoints)("v2.contacts.upsert, $name", (entryPoint) => {
  const service = useService({ entryPoint });
  const upsert = (...args: Parameters<typeof service.audience.v2.contacts.upsert>) =>
    service.audience.v2.contacts.upsert(...args);

  it("succeeds with 200 and status true", async () => {
    const { data, response } = await upsert(v2Contact()).withResponse();

    expect(response.status).toBe(200);
    expect(data).toEqual({ status: true });
  });

  it("creates a contact where no identifier matches, without any optional field, which the v1 family returns too", async () => {
    await upsert(v2Contact());
    const { id = "" } = service.contact("alan@example.com") ?? {};
    expect((await service.audience.v1.customers.get(id)).attributes.first_name).toBe("Alan");

    expect(service.state().contacts).toHaveLength(3);
    expect(service.contact("alan@example.com")).toMatchObject({
      first_name: "Alan",
      email_opt_in: "SUBSCRIBED",
    });
  });

  it.each([
    ["e-mail", [emailIdentifier("ada@example.com")]],
    ["e-mail in another case", [emailIdentifier("ADA@example.com")]],
    ["phone", [phoneIdentifier("+390111111")]],
    ["e-mail and phone", [emailIdentifier("ada@example.com"), phoneIdentifier("+390111111")]],
    ["second identifier", [emailIdentifier("augusta@example.com"), phoneIdentifier("+390111111")]],
    ["second e-mail", [emailIdentifier("augusta@example.com"), emailIdentifier("ada@example.com")]],
  ])("updates the contact that matches by %s", async (_, identifiers) => {
    await upsert(v2Contact({ identifiers }));

    expect(service.state().contacts).toHaveLength(2);
    expect(service.state().contacts[0]).toMatchObject({ id: "ada", first_name: "Alan" });
  });

  it("a new contact needs an e-mail: an unknown phone alone is sent, and is a BadRequestError", async () => {
    await expectError(upsert(v2Contact({ identifiers: [phoneIdentifier("7654321")] })), BadRequestError, {
      status: 400,
      outcome: "not-applied",
      body: { status: "error", message: expect.stringContaining("email") },
    });
    expect(service.mock.requests).toMatchObject([{ status: 400, applied: false }]);
    expect(service.state().contacts).toHaveLength(2);
  });
});
