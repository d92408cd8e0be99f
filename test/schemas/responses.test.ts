import { AudienceClient, UnexpectedResponseError } from "audience-sdk";
import { v1AddContactResultSchema, v1ProfileSchema, v2ListPageSchema } from "audience-sdk/schemas";
import { describe, expect, it } from "vitest";
import type * as z from "zod";
import { expectError, v2Contact } from "../document/service.ts";
import { failureOf } from "../transport/failure.ts";
import { offline } from "../transport/fixture.ts";
import { verdict } from "./issues.ts";

const email = "ada@example.com";
const answered = (body: unknown) =>
  new AudienceClient({ ...offline, fetch: async () => new Response(JSON.stringify(body)) });

const responses: [string, z.ZodType, object, string[], (audience: AudienceClient) => PromiseLike<unknown>][] =
  [
    [
      "a profile",
      v1ProfileSchema,
      { data: { id: "c1" } },
      ["data", "data.id"],
      ({ v1 }) => v1.customers.upsert({ email }),
    ],
    [
      "an added contact",
      v1AddContactResultSchema,
      { contact: { contactUUID: "c1", action: "created" } },
      ["contact", "contact.contactUUID", "contact.action"],
      ({ v1 }) => v1.contactGroups.addContact("l1", { email, email_opt_in: "SUBSCRIBED" }),
    ],
    [
      "a page of v2 lists",
      v2ListPageSchema,
      { data: { lists: [{ uuid: "l1" }] } },
      ["data", "data.lists"],
      ({ v2 }) => v2.lists.list(),
    ],
  ];

describe.each(responses)("The response of %s", (_, schema, least, needed, call) => {
  it.each(needed)("needs %s", async (path) => {
    const response = structuredClone<unknown>(least);
    const keys = path.split(".");
    const last = keys.pop() ?? "";
    const holder = keys.reduce<unknown>((value, key) => Reflect.get(Object(value), key), response);
    const expectRefused = async () => {
      expect(await verdict(schema, response)).toEqual([
        expect.stringMatching(new RegExp(`^${path} invalid_`)),
      ]);
      const error = await failureOf(call(answered(response)));
      expect(error).toBeInstanceOf(UnexpectedResponseError);
      expect(error.message).toContain(`${path}: `);
    };

    Reflect.deleteProperty(holder as object, last);
    await expectRefused();
    Reflect.set(holder as object, last, null);
    await expectRefused();
  });
  it("needs nothing else, and keeps undocumented fields of any name", async () => {
    const response = { ...least, extra: { a: [null, 1] } };
    expect(schema.parse(response)).toEqual(response);
    const unusual = JSON.parse(`{"__proto__":1,${JSON.stringify(least).slice(1)}`) as object;
    expect(await verdict(schema, unusual)).toEqual([]);
  });
  it.each([null, "OK", 5, [], undefined])("%j is invalid", async (response) => {
    expect(await verdict(schema, response)).toEqual(["invalid_type"]);
  });
});

describe("A response is not refused for an optional field", () => {
  const nulls = { type: null, id: "c1", attributes: null, relationships: null };
  it.each([
    [
      "documented in full",
      {
        data: { ...nulls, type: "profile", attributes: { email: "a@b", created: "x" } },
        links: { self: "/x" },
      },
    ],
    ["null", { data: nulls, links: null }],
    ["of another type", { data: { id: "c1", type: 5, attributes: [], relationships: "none" }, links: false }],
    ["unknown", { data: { id: "c1", attributes: { score: 5, tags: null } }, meta: {}, included: null }],
  ])("%s", (_, response) => {
    expect(v1ProfileSchema.parse(response)).toEqual(response);
  });
  it("nor a page of lists, or an added contact", async () => {
    const lists = [{ uuid: "l1", name: null, created_at: "x", color: "red" }];
    const page = { success: null, data: { lists, current_page: null, total_pages: "3" } };
    expect(v2ListPageSchema.parse(page)).toEqual(page);
    expect(await verdict(v2ListPageSchema, { data: { lists: [{ name: "x" }] } })).toEqual([
      "data.lists.0.uuid invalid_type",
    ]);
    const added = { message: null, contact: { contactUUID: "c1", action: "merged", email: null } };
    expect(v1AddContactResultSchema.parse(added)).toEqual(added);
  });
});

describe("The response of a v2 upsert", () => {
  it.each([{ status: true }, { status: true, extra: { a: [null, 1] } }])(
    "has the status true: %j",
    async (body) => {
      expect(await answered(body).v2.contacts.upsert(v2Contact())).toEqual(body);
    },
  );
  it.each([{ status: "true" }, { status: 1 }, { status: false }, { status: null }, {}, null, "OK", 5, []])(
    "%j is no success: the outcome of the write is unknown",
    async (body) => {
      await expectError(answered(body).v2.contacts.upsert(v2Contact()), UnexpectedResponseError, {
        outcome: "unknown",
      });
    },
  );
});
