import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import {
  v1ContactSchema,
  v1EventSchema,
  v1ListContactSchema,
  v2IdentifierSchema,
} from "audience-sdk/schemas";
import { describe, expect, it } from "vitest";
import { noEmailAddresses, notAlone } from "../document/formats.ts";
import { emailIdentifier, untyped, v2Contact } from "../document/service.ts";
import { messageAt, verdict } from "./issues.ts";

/** Every input with an e-mail address refuses it; gives the message, which is the same for all. */
async function refusalOf(address: string): Promise<string> {
  const identifier = emailIdentifier(address);
  expect(await verdict(v1ContactSchema, { email: address })).toEqual(["email invalid_format"]);
  expect(await verdict(v1ListContactSchema, { email: address })).toEqual(["email invalid_format"]);
  expect(await verdict(v1EventSchema, { eventName: "e", contact: { email: address } })).toEqual([
    "contact.email invalid_format",
  ]);
  expect(await verdict(v2IdentifierSchema, identifier)).toEqual(["id custom"]);
  const message = await messageAt(v2IdentifierSchema, identifier, "id");
  expect(await messageAt(v1ContactSchema, { email: address }, "email")).toBe(message);
  return message;
}

/** Characters that do not show: an address that holds one is another person's. */
const hidden = [
  "\u0000\u0008\u001b\u007f\u0085\u009f\u00ad\u034f\u061c\u115f\u180e\u200b\u200e\u200f\u202a\u202b\u202c",
  "\u202d\u202e\u2060\u2063\u2066\u2067\u2068\u2069\u206a\u2800\u3164\ufe0f\ufeff\ufffb\u{e0041}\ud800",
].join("");
const places = [...hidden].flatMap((one) => [`${one}a@b`, `a${one}a@b`, `a@b${one}b`]);
const joined = ["a\u200d@b", "\u200ca@b", "1\u200d1@b", "a\u200d\u200ca@b", "\u{1f469}\u200d\u{1f4bb}@b"];

describe("An e-mail address holds no character that does not show", () => {
  it.each([...places, ...joined])("%j is invalid", async (address) => {
    expect(await refusalOf(address)).toMatch(
      /^holds a character that does not show \(U\+[0-9A-F]{4,6}\), and would be/,
    );
  });

  it("sends nothing, wherever it is given", async () => {
    const mock = createMockService();
    const { v1, v2 } = new AudienceClient(mock.clientOptions);
    const email = "ada\u200b@example.com";
    const calls = [
      v1.customers.upsert({ email }),
      v1.contactGroups.addContact("mock-list", { email, email_opt_in: "UNSUBSCRIBED" }),
      v1.events.send({ eventName: "e", contact: { email } }),
      v2.contacts.upsert(v2Contact({ identifiers: [emailIdentifier(email)] })),
      v1.request({ method: "POST", path: "/api/v1/new", contact: { email } }),
    ];

    for (const call of calls) await expect(call).rejects.toThrow("does not show (U+200B)");
    expect(mock.requests).toEqual([]);
  });
});

describe("An e-mail address is alone", () => {
  it.each([...noEmailAddresses, ...notAlone])("%j is invalid", async (address) => {
    expect(await refusalOf(address)).toContain("strip a display name");
  });

  it.each(notAlone)("%j is accepted by the service", async (address) => {
    const { baseUrl, apiKey, fetch } = createMockService().clientOptions;
    const { status } = await fetch(`${baseUrl}/api/v1/customer/create`, {
      method: "POST",
      headers: { "x-api-key": apiKey, "content-type": "application/json" },
      body: JSON.stringify({ email: untyped(address) }),
    });

    expect(status).toBe(201);
  });
});
