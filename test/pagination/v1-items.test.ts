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
const none = { ...seven, attributes: {} };

const link = { self };
const empty = { relationships: [], links: [] };
const oddFields = { type: "vip", links: "none", relationships: ["x"], attributes: "a", data: { shoe: 43 } };

describe("a contact becomes a profile", () => {
  it.each<[string, unknown, object]>([
    ["a resource", { ...seven, attributes }, { ...seven, attributes }],
    [
      "the documented envelope, its links put on the resource",
      { data: { ...seven, attributes, relationships }, links: link },
      { ...seven, attributes, relationships, links: link },
    ],
    [
      "an envelope and a resource, each with links",
      {
        data: { ...seven, attributes, links: { self, edit: "/e" } },
        links: { self: "/contact", next: "/n" },
      },
      { ...seven, attributes, links: { self: "/contact", edit: "/e", next: "/n" } },
    ],
    ["a flat object", { id: "7", ...attributes }, { ...seven, attributes }],
    [
      "null links in an envelope with some",
      { data: { ...none, links: null }, links: link },
      { ...none, links: link },
    ],
    [
      "no links, as PHP has them, in an envelope with some",
      { data: { ...none, links: [] }, links: link },
      { ...none, links: link },
    ],
    ["another field of that name", { data: { ...none, links: "/7" }, links: link }, { ...none, links: "/7" }],
    [
      "a flat object in an envelope",
      { data: { id: "7", ...attributes }, links: link },
      { ...seven, attributes, links: link },
    ],
    [
      "a flat object with what JSON:API puts beside attributes",
      { ...seven, ...attributes, relationships, links: link },
      { ...seven, attributes, relationships, links: link },
    ],
    [
      "a flat object with fields of such names",
      { id: "7", ...oddFields },
      { ...seven, attributes: oddFields },
    ],
    ["empty arrays, as PHP has them", { ...seven, ...empty, attributes: [] }, { ...none, ...empty }],
    [
      "an envelope with an id of its own",
      { data: { ...seven, attributes }, links: link, id: "request-77" },
      { ...seven, attributes, links: link },
    ],
    ["a numeric id", { type: "profile", id: 7, attributes }, { ...seven, attributes }],
    ["the id 0", { id: 0 }, { ...none, id: "0" }],
    ["null type and attributes", { type: null, id: "7", attributes: null }, none],
    ["a type of its own", { type: "contact", id: "7", attributes }, { type: "contact", id: "7", attributes }],
    [
      "fields that the service adds at any level",
      { data: { ...seven, attributes, lock: 1 }, meta: { region: "eu" }, links: link },
      { ...seven, attributes, lock: 1, meta: { region: "eu" }, links: link },
    ],
  ])("from %s", async (_, value, profile) => {
    expect(await profileOf(value)).toEqual(profile);
  });

  it.each([
    [null],
    ["7"],
    [[]],
    [{ data: {} }],
    [{ data: { id: null, attributes }, id: "request-77" }],
    [{ type: "profile", attributes }],
    [{ id: "  " }],
    [{ id: {} }],
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
  const news = { id: "l1", name: "News" };
  const resource = { type: "LIST", id: "l1", attributes: { name: "News" } };
  it.each<[string, unknown, object]>([
    ["a flat object", { ...news, size: 3 }, { ...news, size: 3 }],
    ["an envelope with links", { data: news, links: link }, { ...news, links: link }],
    ["an envelope with an id of its own", { data: news, id: 77 }, news],
    ["a resource, as it is", resource, resource],
    ["a numeric id", { id: 12, name: null }, { id: "12", name: null }],
    ["a field named data", { ...news, data: { colour: "red" } }, { ...news, data: { colour: "red" } }],
  ])("from %s", async (_, value, group) => {
    expect(await groupOf(value)).toEqual(group);
  });

  it.each([[null], [{ name: "News" }], [{ data: { name: "News" } }], [{ id: "" }]])(
    "but not from %j, which has no id",
    async (value) => {
      await expect(groupOf(value)).rejects.toThrow(UnexpectedResponseError);
    },
  );
});
