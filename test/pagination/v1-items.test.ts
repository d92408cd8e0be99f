import { UnexpectedResponseError } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { clientOf } from "./served-lists.ts";

const profilesIn = (body: string) =>
  clientOf(() => new Response(body))
    .v1.customers.list()
    .toArray();
const profileOf = async (item: unknown) => (await profilesIn(JSON.stringify([item])))[0];
const groupOf = async (item: unknown) =>
  (
    await clientOf(() => [item])
      .v1.contactGroups.list()
      .toArray()
  )[0];

const self = "/api/v1/customer/7";
const related = "/api/v1/customer/7/lists";
const attributes = { email: "ada@example.com", first_name: "Ada", loyalty: { tier: 3 } };
const relationships = { lists: { links: { related } } };
const seven = { type: "profile", id: "7" };

describe("a contact becomes a profile", () => {
  it.each<[string, unknown, object]>([
    ["a resource", { ...seven, attributes }, { ...seven, attributes }],
    [
      "the documented envelope, its links put on the resource",
      { data: { ...seven, attributes, relationships }, links: { self } },
      { ...seven, attributes, relationships, links: { self } },
    ],
    [
      "an envelope and a resource, each with links",
      {
        data: { ...seven, attributes, links: { self, edit: "/e" } },
        links: { self: "/list", next: "/n" },
      },
      { ...seven, attributes, links: { self, edit: "/e", next: "/n" } },
    ],
    ["a flat object", { id: "7", ...attributes }, { ...seven, attributes }],
    [
      "an envelope with links, its resource with null",
      { data: { id: "7", attributes, links: null }, links: { self } },
      { ...seven, attributes, links: { self } },
    ],
    [
      "an envelope with links, its resource with another field of that name",
      { data: { id: "7", attributes, links: "/7" }, links: { self } },
      { ...seven, attributes, links: "/7" },
    ],
    [
      "a flat object in one",
      { data: { id: "7", ...attributes }, links: { self } },
      { ...seven, attributes, links: { self } },
    ],
    [
      "a flat object with what JSON:API puts beside attributes",
      { ...seven, ...attributes, relationships, links: { self } },
      { ...seven, attributes, relationships, links: { self } },
    ],
    [
      "a flat object with fields of such names",
      { id: "7", type: "vip", links: "none", relationships: ["x"], attributes: "a", data: { shoe: 43 } },
      {
        ...seven,
        attributes: { type: "vip", links: "none", relationships: ["x"], attributes: "a", data: { shoe: 43 } },
      },
    ],
    ["a numeric id", { type: "profile", id: 7, attributes }, { ...seven, attributes }],
    ["the id 0", { id: 0 }, { type: "profile", id: "0", attributes: {} }],
    ["null attributes", { ...seven, attributes: null }, { ...seven, attributes: {} }],
    [
      "neither type nor attributes but null",
      { type: null, id: "7", attributes: null },
      { ...seven, attributes: {} },
    ],
    ["no type, or null", { type: null, id: "7", attributes }, { ...seven, attributes }],
    ["a type of its own", { type: "contact", id: "7", attributes }, { type: "contact", id: "7", attributes }],
    [
      "fields that the service adds at any level",
      { data: { ...seven, attributes, lock: 1 }, meta: { region: "eu" }, links: { self } },
      { ...seven, attributes, lock: 1, meta: { region: "eu" }, links: { self } },
    ],
    [
      "null links and relationships",
      { id: "7", links: null, relationships: null },
      { ...seven, attributes: {}, links: null, relationships: null },
    ],
  ])("from %s", async (_, value, profile) => {
    expect(await profileOf(value)).toEqual(profile);
  });

  it.each([
    [null],
    ["7"],
    [7],
    [[]],
    [{}],
    [{ data: {} }],
    [{ data: null }],
    [{ type: "profile", attributes }],
    [{ id: null }],
    [{ id: "" }],
    [{ id: "  " }],
    [{ id: {} }],
    [{ id: true }],
    [{ id: 1.5 }],
    [{ id: 2 ** 53 }],
    [{ data: [{ id: "7" }] }],
  ])("but not from %j, which has no id", async (value) => {
    await expect(profileOf(value)).rejects.toThrow(UnexpectedResponseError);
  });

  it("whose fields cannot reach the prototype", async () => {
    const [profile] = await profilesIn('[{"id":"7","__proto__":{"email":"x"}}]');
    expect(profile?.attributes.email).toBeUndefined();
    expect(Object.getPrototypeOf(profile?.attributes)).toBe(Object.prototype);
  });
});

describe("a list or segment becomes a contact group", () => {
  it.each<[string, unknown, object]>([
    [
      "a flat object",
      { id: "l1", name: "News", type: "LIST", size: 3 },
      { id: "l1", name: "News", type: "LIST", size: 3 },
    ],
    ["an envelope", { data: { id: "l1", name: "News" } }, { id: "l1", name: "News" }],
    [
      "an envelope with links",
      { data: { id: "l1" }, links: { self: "/l1" } },
      { id: "l1", links: { self: "/l1" } },
    ],
    [
      "a resource, as it is",
      { type: "LIST", id: "l1", attributes: { name: "News" } },
      { type: "LIST", id: "l1", attributes: { name: "News" } },
    ],
    ["a numeric id", { id: 12, name: null }, { id: "12", name: null }],
    ["a field named data", { id: "l1", data: { colour: "red" } }, { id: "l1", data: { colour: "red" } }],
  ])("from %s", async (_, value, group) => {
    expect(await groupOf(value)).toEqual(group);
  });

  it.each([
    [null],
    ["l1"],
    [[]],
    [{}],
    [{ name: "News" }],
    [{ data: { name: "News" } }],
    [{ id: "" }],
    [{ id: 2 ** 60 }],
  ])("but not from %j, which has no id", async (value) => {
    await expect(groupOf(value)).rejects.toThrow(UnexpectedResponseError);
  });
});
