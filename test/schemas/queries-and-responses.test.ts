import {
  v1AddContactResultSchema,
  v1ContactGroupListQuerySchema,
  v1CustomerListQuerySchema,
  v1ProfileSchema,
  v2ListPageSchema,
  v2ListQuerySchema,
} from "audience-sdk/schemas";
import { describe, expect, test } from "vitest";
import { v2UpsertResultSchema } from "../../src/v2/schemas/contact.ts";
import { messageAt, verdict } from "./issues.ts";

describe.each([
  ["customers", v1CustomerListQuerySchema],
  ["contact groups", v1ContactGroupListQuerySchema],
  ["v2 lists", v2ListQuerySchema],
])("A query for %s", (_, schema) => {
  test("may be empty", () => {
    expect(verdict(schema, {})).toEqual([]);
    expect(verdict(schema, { page: undefined, limit: undefined })).toEqual([]);
  });
  test.each(["page", "limit"])("accepts an integer %s from 1", (field) => {
    for (const value of [1, 2, 1_000_000]) expect(verdict(schema, { [field]: value })).toEqual([]);
    for (const value of [0, -1]) expect(verdict(schema, { [field]: value })).toEqual([`${field} too_small`]);
    for (const value of [1.5, NaN, Infinity, "1", null, true, 1n]) {
      expect(verdict(schema, { [field]: value })).toEqual([`${field} invalid_type`]);
    }
    expect(verdict(schema, { [field]: 2 ** 53 })).toEqual([`${field} too_big`]);
    expect(verdict(schema, { [field]: -(2 ** 53) })).toContain(`${field} too_small`);
    expect(messageAt(schema, { [field]: 0 }, field)).toBe("must be at least 1");
    expect(messageAt(schema, { [field]: 1.5 }, field)).toContain("integer");
  });
  test("accepts a limit over 100, which the service treats as 100", () => {
    expect(schema.parse({ limit: 101 })).toEqual({ limit: 101 });
  });
  test("refuses any other key", () => {
    expect(verdict(schema, { Page: 1, per_page: 5 })).toEqual([
      "Page unrecognized_keys",
      "per_page unrecognized_keys",
    ]);
    expect(messageAt(schema, { Page: 1 }, "Page")).toContain('write "page"');
  });
});

test("A query for contact groups accepts the type LIST, SEGMENT or ALL; case counts", () => {
  for (const type of ["LIST", "SEGMENT", "ALL"])
    expect(verdict(v1ContactGroupListQuerySchema, { type })).toEqual([]);
  expect(verdict(v1ContactGroupListQuerySchema, { type: "list" })).toEqual(["type invalid_value"]);
  expect(messageAt(v1ContactGroupListQuerySchema, { type: "list" }, "type")).toContain("write LIST");
  expect(verdict(v1CustomerListQuerySchema, { type: "LIST" })).toEqual(["type unrecognized_keys"]);
});

const responses = [
  ["a profile", v1ProfileSchema, { data: { id: "c1" } }, ["data", "data.id"]],
  [
    "an added contact",
    v1AddContactResultSchema,
    { contact: { contactUUID: "c1", action: "created" } },
    ["contact", "contact.contactUUID", "contact.action"],
  ],
  ["a page of v2 lists", v2ListPageSchema, { data: { lists: [{ uuid: "l1" }] } }, ["data", "data.lists"]],
  ["a v2 upsert", v2UpsertResultSchema, { status: true }, ["status"]],
] as const;

describe.each(responses)("The response of %s", (_, schema, least, needed) => {
  test("is accepted with only the required fields", () => {
    expect(schema.parse(least)).toEqual(least);
  });
  test.each(needed)("needs %s", (path) => {
    const response = structuredClone<unknown>(least);
    const keys = path.split(".");
    const last = keys.pop() ?? "";
    const holder = keys.reduce<unknown>((value, key) => Reflect.get(Object(value), key), response);
    Reflect.deleteProperty(holder as object, last);
    expect(verdict(schema, response)).toEqual([expect.stringMatching(new RegExp(`^${path} invalid_`))]);
    Reflect.set(holder as object, last, null);
    expect(verdict(schema, response)).toEqual([expect.stringMatching(new RegExp(`^${path} invalid_`))]);
  });
  test("keeps undocumented fields of any name", () => {
    const response = { ...least, extra: { a: [null, 1] } };
    expect(schema.parse(response)).toEqual(response);
    expect(verdict(schema, response)).toEqual([]);
    const unusual = JSON.parse(`{"__proto__":1,${JSON.stringify(least).slice(1)}`) as object;
    expect(verdict(schema, unusual)).toEqual([]);
  });
  test.each([null, "OK", 5, [], undefined])("%j is invalid", (response) => {
    expect(verdict(schema, response)).toEqual(["invalid_type"]);
  });
});

describe("A response is not refused for an optional field", () => {
  const nulls = { type: null, id: "c1", attributes: null, relationships: null };
  test.each([
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
  test("a page of lists", () => {
    const lists = [
      { uuid: "l1", name: null, created_at: null, description: null, color: "red" },
      { uuid: "l2", created_at: "x" },
    ];
    const response = {
      success: null,
      data: { lists, current_page: null, total_pages: "3", total_items: null },
    };
    expect(v2ListPageSchema.parse(response)).toEqual(response);
    expect(verdict(v2ListPageSchema, { data: { lists: [{ name: "x" }] } })).toEqual([
      "data.lists.0.uuid invalid_type",
    ]);
  });
  test("an added contact", () => {
    const response = { message: null, contact: { contactUUID: "c1", action: "merged", email: null } };
    expect(v1AddContactResultSchema.parse(response)).toEqual(response);
  });
  test("a v2 upsert has the status true, and no other truthy value", () => {
    for (const status of ["true", 1, "ok", false]) {
      expect(verdict(v2UpsertResultSchema, { status })).toEqual(["status invalid_value"]);
    }
  });
});
