import { type ParsePage, UnexpectedResponseError } from "audience-sdk";
import { describe, expect, it, vi } from "vitest";
import { clientOf, errorOf } from "./served-lists.ts";

const contacts = [
  { id: "a", email: "a@example.com" },
  { id: "b", email: "b@example.com" },
];
const other = { x: 1 };
const withId = { id: "x" };

const idsOf = async (body: unknown, operation: "customers" | "contactGroups" = "customers") => {
  const page = await clientOf(() => body).v1[operation].list();
  expect(page.raw).toEqual(body);
  return page.items.map(({ id }) => id);
};
const customers = (body: unknown) => idsOf(body);
const groups = (body: unknown) => idsOf(body, "contactGroups");

/** The message of the error that reading a body ends with. */
async function refusal(reading: Promise<unknown>): Promise<string> {
  const error = await errorOf(reading);
  expect(error).toBeInstanceOf(UnexpectedResponseError);
  return String(error);
}

describe("the items of a v1 list response", () => {
  it.each<[string, unknown]>([
    ["are the body", contacts],
    ["stand under data", { data: contacts }],
    ["stand under data, beside other arrays", { data: contacts, included: [withId], people: [withId] }],
    ["stand under one key of data", { data: { people: contacts, total: 2 } }],
    ["stand under one key of data, rather than of the body", { data: { people: contacts }, tags: [withId] }],
    ["stand under one key of the body", { people: contacts }],
    ["stand under one key of the body, beside other data", { data: { ok: true }, people: contacts }],
    ["stand under one key of the body, beside data that is null", { data: null, people: contacts }],
    ["are the only array of objects", { people: contacts, columns: ["id", "email"], matrix: [[1]] }],
    ["are the only array of objects with ids", { people: contacts, facets: [other], groups: [other] }],
    ["have a usual name, beside another array of objects with ids", { customers: contacts, tags: [withId] }],
    ["have a usual name in data", { data: { Contacts: contacts, lists: [withId], scores: [] } }],
    ["have a general name", { items: contacts, tags: [withId] }],
  ])("%s", async (_, body) => {
    expect(await customers(body)).toEqual(["a", "b"]);
  });

  it.each("errors warnings messages links meta included filters facets sort _links".split(" "))(
    "never stand under %s",
    async (name) => {
      expect(await customers({ people: contacts, [name]: [withId] })).toEqual(["a", "b"]);
      expect(await refusal(customers({ [name]: [withId] }))).toContain(`the keys ${name}`);
    },
  );

  it.each(["contact_groups", "contactGroups", "contact-groups", "groups", "lists", "segments"])(
    "have the usual name %s for lists and segments",
    async (name) => {
      expect(await groups({ [name]: contacts, contacts: [withId] })).toEqual(["a", "b"]);
    },
  );

  it.each<[string, unknown]>([
    ["an empty array", []],
    ["an empty array under data", { data: [] }],
    ["empty under one key of data", { data: { people: [] }, total: 0 }],
    ["empty under a usual name, beside other empty arrays", { customers: [], tags: [], notes: [] }],
    [
      "empty beside what a page has besides items",
      { people: [], meta: { page: [withId] }, included: [withId], filters: { by: [other] } },
    ],
  ])("are empty: %s", async (_, body) => {
    expect(await customers(body)).toEqual([]);
  });

  it.each<[string, unknown, string, string]>([
    ["null", null, "it is null", "body.data"],
    ["an object without keys", {}, "an object without keys", "body.data"],
    ["an object without arrays", { status: "ok", count: 2 }, "the keys status, count", "body.data"],
    ["an array of strings", ["a", "b"], "an array of 2", "body.data"],
    [
      "one resource",
      { data: { type: "profile", id: "a", attributes: {} } },
      "`data` is an object with the keys type, id, attributes",
      "body.data",
    ],
    ["a deeper place", { result: { people: contacts } }, "the keys result", "body.result.people"],
    ["a deeper place in data", { data: { "a b": { c: contacts } } }, "the keys a b", 'body.data["a b"].c'],
    ["arrays without ids", { people: [other], tags: [other] }, "the keys people, tags", "body.people"],
    ["a place deeper than four keys", { a: { b: { c: { d: { e: contacts } } } } }, "the keys a", "body.data"],
  ])(
    "are not found in %s: the error names the keys, and a parsePage to start from",
    async (_, body, keys, path) => {
      const message = await refusal(customers(body));
      expect(message).toContain(`200 on GET /api/v1/customer, but its body holds no list`);
      expect(message).toContain(keys);
      expect(message).toContain(`parsePage: (body) => ({ items: ${path} })`);
    },
  );

  it.each<[string, unknown, string]>([
    ["two keys", { people: contacts, companies: [withId] }, "people, companies"],
    ["two keys of data", { data: { people: contacts, companies: [] } }, "data.people, data.companies"],
    ["two usual names", { customers: contacts, contacts }, "customers, contacts"],
    ["an empty one with a usual name and another", { customers: [], people: contacts }, "customers, people"],
    ["two empty arrays", { people: [], companies: [] }, "people, companies"],
    ["empty data beside another list", { data: [], people: contacts }, "data, people"],
  ])("are not guessed among %s", async (_, body, names) => {
    const message = await refusal(customers(body));
    expect(message).toContain(`several arrays that could be the list: ${names}. Give`);
    expect(message).toContain("parsePage: (body) => ({ items: body.");
  });

  it("are not guessed where lists and segments are separate, because one of the two would be lost", async () => {
    expect(await refusal(groups({ lists: [withId], segments: [] }))).toContain("lists, segments");
  });

  it.each<[string, object]>([
    ["success is false", { success: false }],
    ["the status is false", { status: false }],
    ["the status is error", { status: "error", message: "no" }],
    ["there are errors", { errors: [{ detail: "no" }] }],
  ])("are not treated as empty where %s", async (_, failure) => {
    expect(await refusal(customers({ ...failure, data: [] }))).toContain("says that the call failed");
    expect(await customers({ ...failure, data: contacts })).toEqual(["a", "b"]);
  });

  it.each([[{ email: "c@example.com" }], [null], ["c"], [{ id: "" }], [{ id: null }]])(
    "need an id, unlike %j",
    async (item) => {
      const message = await refusal(customers({ data: [...contacts, item] }));
      expect(message).toContain("item 2 of its list has no usable `id`");
      expect(message).toContain("Let `parsePage` give each item an id");
    },
  );
});

describe("the place of a list", () => {
  const full = Array.from({ length: 100 }, (_, at) => ({ id: `c${at}` }));

  it("is found once: what another key of a later page holds is no item", async () => {
    const bodies = [
      { people: full, tags: ["new"] },
      { people: [], tags: [withId] },
    ];
    const all = await clientOf((page) => bodies[page - 1])
      .v1.customers.list()
      .toArray();
    expect(all).toHaveLength(100);
  });

  it.each<[string, unknown, unknown, string]>([
    ["no key", { data: { people: full } }, { data: { ok: true } }, "`data.people` of its body is no array"],
    ["null data", { data: { people: full } }, { data: null }, "`data.people` of its body is no array"],
    ["an object there", { data: full }, { data: { people: full } }, "`data` of its body is no array"],
    ["no array", full, { error: "no" }, "but its body is no array"],
  ])("is the same on each page: a later page with %s is an error", async (_, first, second, message) => {
    const { v1 } = clientOf((page) => (page === 1 ? first : second));
    const text = await refusal(v1.customers.list().toArray());
    expect(text).toContain(`${message}, as it was on the first page: the body is an object with the keys`);
  });
});

it("the error for an unknown shape is short, whatever the body holds", async () => {
  for (const value of [1, [withId], [other]]) {
    const body = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`a long key ${at}`, value]));
    expect((await refusal(customers(body))).length).toBeLessThan(1_500);
  }
});

describe("parsePage", () => {
  const body = { result: { people: contacts, size: 250 } };

  const read = async (parsePage: ParsePage, response: unknown = body) =>
    await clientOf(() => response, { parsePage }).v1.customers.list();
  const refusalOf = (parsePage: ParsePage) => refusal(read(parsePage));
  const another =
    "the client's parsePage returned another value than { items, totalItems?, totalPages?, hasNextPage? }";

  it("parses an unusual shape: it receives the body and the operation, and its items are decoded", async () => {
    const parsePage = vi.fn<ParsePage>(() => ({
      items: contacts,
      totalItems: 250,
      totalPages: 3,
      hasNextPage: true,
    }));
    expect(await read(parsePage)).toMatchObject({
      items: contacts.map(({ id, email }) => ({ type: "profile", id, attributes: { email } })),
      totalItems: 250,
      totalPages: 3,
      hasNextPage: true,
      raw: body,
    });
    expect(parsePage.mock.calls).toEqual([[body, { operation: "v1.customers.list" }]]);
  });

  it("replaces the client's own search, and may omit totals", async () => {
    const parsePage = () => ({ items: [], totalItems: null, totalPages: 0, hasNextPage: null });
    const page = await read(parsePage, { data: contacts, total: 9 });
    expect(page).toMatchObject({ items: [], totalPages: 0, hasNextPage: false });
    expect(page).not.toHaveProperty("totalItems");
  });

  it.each<[string, unknown, string]>([
    ["the array itself", contacts, `${another}: the value: must be an object, not an array`],
    ["no items", { totalItems: 3 }, "items: required: an array"],
    [
      "a missing item",
      { items: [withId, undefined] },
      "item 1 of its list has no usable `id`: it is nothing",
    ],
    ["a total that is no number", { items: [], totalPages: "3" }, "totalPages: must be a number"],
    ["a flag that is no boolean", { items: [], hasNextPage: "no" }, "hasNextPage: must be a boolean"],
  ])("that returns %s is named in the error", async (_, given, message) => {
    // A caller in JavaScript can pass this.
    expect(await refusalOf(() => given as ReturnType<ParsePage>)).toContain(message);
  });

  it("that returns a Promise is refused, and a rejection of it is handled", async () => {
    const asynchronous = async () => Promise.reject(new Error("late"));
    // A caller in JavaScript can pass this.
    expect(await refusalOf(asynchronous as unknown as ParsePage)).toContain(another);
  });

  it.each<[string, unknown, string]>([
    ["an Error", new TypeError("Cannot read properties of undefined"), "Cannot read properties of undefined"],
    ["a value that is no Error", "no reason", "no reason"],
  ])("that throws %s is named in the error, with the keys of the body", async (_, thrown, message) => {
    const text = await refusalOf(() => {
      throw thrown;
    });
    expect(text).toContain(`threw ${message}; the body is an object with the keys result`);
  });
});

/** The first page of the lists, from a service that responds with this body. */
const firstPage = async (body: unknown) => await clientOf(() => body).v2.lists.list();

const lists = [{ uuid: "u1", name: "News", created_at: 1_700_000_000, description: "" }, { uuid: "u2" }];

describe("GET /v2/lists", () => {
  it.each<[string, object]>([
    ["absent", {}],
    ["null", { current_page: null, total_pages: null, total_items: null, items_per_page: null }],
    ["no counts", { total_pages: -1, total_items: "many", items_per_page: {} }],
  ])("requires only the lists: totals may be %s", async (_, totals) => {
    const body = { data: { lists, ...totals } };
    const page = await firstPage(body);
    expect(page).toMatchObject({ items: lists, limit: 2, raw: body });
    expect(page).not.toHaveProperty("totalItems");
    expect(page).not.toHaveProperty("totalPages");
  });

  it("lists count although success is false, so does an empty list, and fields that the service adds are kept", async () => {
    const added = { uuid: "u1", name: null, colour: "red", nested: { a: [1] } };
    expect((await firstPage({ success: false, data: { lists: [added] } })).items).toEqual([added]);
    expect((await firstPage({ success: true, data: { lists: [] } })).items).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ["no object", null, "the value: must be an object, not null"],
    [
      "a list without uuid",
      { data: { lists: [{ uuid: "u1" }, { a: 1 }] } },
      "item 1 of its list has no usable `uuid`",
    ],
    [
      "an item that is no list",
      { data: { lists: [null] } },
      "item 0 of its list has no usable `uuid`: it is null",
    ],
    ["a blank uuid", { data: { lists: [{ uuid: " " }] } }, "item 0 of its list has no usable `uuid`"],
    ["success false, and no lists", { success: false, data: { lists: [] } }, "the call failed"],
  ])("is an UnexpectedResponseError with %s", async (_, body, message) => {
    const reading = firstPage(body);
    await expect(reading).rejects.toThrow(UnexpectedResponseError);
    await expect(reading).rejects.toThrow(message);
    // The remedy for an input would not help here.
    await expect(reading).rejects.not.toThrow("leave it out");
  });

  it("the error names the keys that it found where the lists are elsewhere", async () => {
    await expect(firstPage({ success: true, data: { items: lists } })).rejects.toThrow(
      "200 on GET /v2/lists, but its body is not the documented list but an object with the keys success, data, its " +
        "`data` is an object with the keys items: data",
    );
  });
});
