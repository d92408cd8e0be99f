import { describe, expect, test, vi } from "vitest";
import { UndecodableResponse } from "../../src/schema/parse-response.ts";
import { decodeContactGroup, decodeProfile } from "../../src/v1/envelope.ts";
import type { ParsePage } from "../../src/v1/parse-page.ts";
import { parseV1Page } from "../../src/v1/v1-list.ts";

const contacts = [
  { id: "a", email: "a@example.com" },
  { id: "b", email: "b@example.com" },
];
const more = { x: 1 };

const customers = (body: unknown, parsePage?: ParsePage) =>
  parseV1Page(body, { operation: "v1.customers.list", decodeItem: decodeProfile, parsePage });
const groups = (body: unknown) =>
  parseV1Page(body, { operation: "v1.contactGroups.list", decodeItem: decodeContactGroup });

/** The error that parsing a body throws. */
function refusal(read: () => unknown): UndecodableResponse {
  try {
    read();
  } catch (error) {
    if (error instanceof UndecodableResponse) return error;
    throw error;
  }
  throw new Error("it was read");
}

describe("the items of a v1 list response", () => {
  test.each<[string, unknown]>([
    ["are the body", contacts],
    ["stand under data", { data: contacts }],
    ["stand under data, beside their totals", { data: contacts, included: [more], links: {}, meta: more }],
    ["stand under a general name", { items: contacts }],
    ["stand under a general name in data", { data: { results: contacts } }],
    ["stand in result, beside their totals", { result: { items: contacts, pagination: { total: 3 } } }],
    ["stand under the resource's name", { customers: contacts }],
    ["stand under the resource's name in data", { data: { contacts } }],
    ["stand under data in data", { data: { data: contacts, total: 2 } }],
    [
      "stand under the resource's name, although a general name has a value too",
      { customers: contacts, items: [more] },
    ],
    [
      "stand under a known name, although an unknown one has objects too",
      { data: { people: [more], items: contacts } },
    ],
    [
      "stand under a known name in the body, although data has objects under an unknown one",
      { data: { tags: [more] }, items: contacts },
    ],
    ["stand under an unknown name, the only array there", { people: contacts }],
    ["stand under an unknown name in data", { data: { people: contacts, total: 2 } }],
    [
      "stand under an unknown name, the only array of objects",
      { people: contacts, columns: ["id", "email"], notes: [] },
    ],
    [
      "stand under an unknown name beside errors and links",
      { people: contacts, errors: [], links: [more], facets: [more] },
    ],
  ])("%s", (_, body) => {
    const page = customers(body);
    expect(page.items).toEqual([
      { type: "profile", id: "a", attributes: { email: "a@example.com" } },
      { type: "profile", id: "b", attributes: { email: "b@example.com" } },
    ]);
    expect(page.raw).toBe(body);
  });

  test.each(["contact_groups", "contactGroups", "contact-groups", "groups", "lists", "segments", "data"])(
    "stand under %s for lists and segments",
    (name) => {
      const body = { [name]: [{ id: 1, name: "News", type: "LIST" }] };
      expect(groups(body).items).toEqual([{ id: "1", name: "News", type: "LIST" }]);
      expect(groups({ data: body }).items).toHaveLength(1);
    },
  );

  test.each<[string, unknown]>([
    ["an empty array", []],
    ["an empty array under data", { data: [] }],
    ["empty under a known name", { data: { customers: [] }, total: 0 }],
    ["empty under an unknown name", { people: [] }],
    ["empty under two names of the resource", { customers: [], contacts: [] }],
    ["empty under any of several unknown names", { data: { people: [], warnings: [], tags: [] } }],
    [
      "empty under an unknown name, beside what a page has besides items",
      {
        people: [],
        meta: { page: { id: 3 } },
        links: [more],
        included: [{ id: 1 }],
        filters: { by: [more] },
      },
    ],
    ["null, where the total is 0", { customers: null, total: 0 }],
    ["null in data, where the total is 0", { data: { customers: null }, meta: { total_pages: 0 } }],
  ])("are empty: %s", (_, body) => {
    expect(customers(body).items).toEqual([]);
  });

  test("are kept although the total is 0", () => {
    expect(customers({ customers: contacts, next: null, total: 0 }).items).toHaveLength(2);
    expect(customers({ data: contacts, next: null, total: 0 }).items).toHaveLength(2);
    expect(customers({ data: { people: contacts, note: null }, total_pages: 0 }).items).toHaveLength(2);
  });

  test("are kept although the response contains errors", () => {
    expect(customers({ success: false, customers: contacts, errors: [more] }).items).toHaveLength(2);
    expect(customers({ customers: [], errors: [] }).items).toEqual([]);
  });

  test.each("data items results records content rows entries elements nodes list values".split(" "))(
    "stand under the general name %s, rather than under an unknown one",
    (name) => {
      expect(customers({ [name]: contacts, companies: [more] }).items).toHaveLength(2);
    },
  );

  test.each("errors warnings links included facets filters sort".split(" "))(
    "never stand under %s",
    (name) => {
      expect(customers({ people: contacts, [name]: [more] }).items).toHaveLength(2);
      expect(refusal(() => customers({ [name]: [more] })).message).toContain(`the keys ${name}`);
    },
  );

  test.each<[string, unknown, string]>([
    ["null", null, "it is null"],
    ["a text", "hello", "it is a string"],
    ["nothing", undefined, "it is nothing"],
    ["nothing but a total of 0", { ok: true, total: 0 }, "the keys ok, total"],
    [
      "null where totals disagree",
      { customers: null, total: 3, total_pages: 0 },
      "the keys customers, total",
    ],
    ["an object without keys", {}, "an object without keys"],
    ["an object without arrays", { status: "ok", count: 2 }, "the keys status, count"],
    ["null without a total of 0", { customers: null, ok: true }, "the keys customers, ok"],
    [
      "one resource",
      { data: { type: "profile", id: "a", attributes: {} } },
      "`data` is an object with the keys type, id, attributes",
    ],
    ["only an array of strings", { names: ["a", "b"] }, "the keys names"],
    ["only errors", { errors: [{ id: "e1", detail: "no" }] }, "the keys errors"],
    ["only an empty array of the page's own data", { ok: true, meta: [] }, "the keys ok, meta"],
    ...[
      { response: { customers: contacts } },
      { payload: { customers: contacts }, total: 1 },
      { _embedded: { customers: contacts } },
      { result: { list: { items: contacts } }, success: true },
      { data: { a: contacts[0], b: contacts[1] } },
      { groups: { data: contacts, total: 2 } },
    ].map((body): [string, unknown, string] => [
      `another place than the empty array beside them: ${Object.keys(body).join(", ")}`,
      { ...body, messages: [] },
      "messages",
    ]),
    ["deeper than is usual", { result: { response: { people: contacts } } }, "the keys result"],
  ])("are not found in %s: the message names the keys and parsePage", (_, body, part) => {
    const { message } = refusal(() => customers(body));
    expect(message).toContain(part);
    expect(message).toContain("parsePage");
  });

  test.each<[string, unknown, string]>([
    ["two unknown names", { people: contacts, companies: [more] }, "people, companies"],
    ["two general names", { items: contacts, results: contacts }, "items, results"],
    ["two names of the resource", { data: { customers: contacts, contacts } }, "customers, contacts"],
  ])("are not guessed among %s", (_, body, names) => {
    const { message } = refusal(() => customers(body));
    expect(message).toContain(names);
    expect(message).toContain("parsePage");
  });

  test("are not guessed where lists and segments are separate, because one of the two would be lost", () => {
    expect(refusal(() => groups({ lists: [{ id: 1 }], segments: [] })).message).toContain("lists, segments");
  });

  test.each<[string, unknown]>([
    ["success is false", { success: false, data: [] }],
    ["the status is false", { status: false, data: [] }],
    ["the status is error", { status: "error", message: "no", data: [] }],
    ["there are errors", { data: [], errors: [{ detail: "no" }] }],
  ])("are not treated as empty where %s", (_, body) => {
    expect(refusal(() => customers(body)).message).toContain("says that the call failed");
  });

  test.each([[{ email: "c@example.com" }], [null], ["c"], [{ id: "" }], [{ id: null }]])(
    "need an id, unlike %j",
    (item) => {
      const { message } = refusal(() => customers({ data: [...contacts, item] }));
      expect(message).toContain("item 2");
      expect(message).toContain("Let `parsePage` give each item an id");
    },
  );

  test("a message names a limited number of keys, and marks the omission", () => {
    const [longest, cut] = ["k".repeat(198), "k".repeat(199)];
    expect(refusal(() => customers({ [longest]: 1 })).message).toContain(`${longest}. Give`);
    expect(refusal(() => customers({ [longest.slice(3)]: 1, a: 1 })).message).toContain("kk, a. Give");
    expect(refusal(() => customers({ [cut]: 1, a: 1 })).message).toContain(`${cut},…. Give`);
  });

  test("a message is short for any number of keys", () => {
    const body = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, at) => [`${at}-${"k".repeat(1_000)}`, at]),
    );
    expect(refusal(() => customers(body)).message.length).toBeLessThan(1_500);
  });
});

/** The hints of a response beside its items. */
function hintsOf(around: object): object {
  const { items: _, raw: __, ...rest } = customers({ data: contacts, ...around });
  return rest;
}

describe("the totals and hints of a v1 list response", () => {
  test.each<[string, object, object]>([
    ["nothing", {}, {}],
    ["total", { total: 250 }, { totalItems: 250 }],
    ["a total as a string", { total: "250" }, { totalItems: 250 }],
    ["total_count and per_page", { total_count: 250, per_page: 50 }, { totalItems: 250, limit: 50 }],
    ["totalItems and totalPages", { totalItems: 250, totalPages: 5 }, { totalItems: 250, totalPages: 5 }],
    ["meta", { meta: { total: 250, page: 1, limit: 100 } }, { totalItems: 250, limit: 100 }],
    [
      "meta.pagination",
      { meta: { pagination: { total_pages: 3, page_size: 100 } } },
      { totalPages: 3, limit: 100 },
    ],
    ["meta.page", { meta: { page: { totalElements: 250, size: 100 } } }, { totalItems: 250, limit: 100 }],
    [
      "pagination",
      { pagination: { current_page: 1, total_pages: 3, total_items: 250 } },
      { totalPages: 3, totalItems: 250 },
    ],
    ["pageInfo", { pageInfo: { hasNextPage: true } }, { hasNextPage: true }],
    ["has_more", { has_more: false }, { hasNextPage: false }],
    ["paging.next_page", { paging: { next_page: 2 } }, { hasNextPage: true }],
    ["next_page null", { next_page: null }, { hasNextPage: false }],
    [
      "last_page",
      { last_page: 3, total: 250, next_page_url: null },
      { totalPages: 3, totalItems: 250, hasNextPage: false },
    ],
    ["last", { last: false, totalElements: 250 }, { totalItems: 250, hasNextPage: true }],
    ["a next link", { links: { self: "/a?page=1", next: "/a?page=2" } }, { hasNextPage: true }],
    ["a next link with href", { links: { next: { href: "/a?page=2" } } }, { hasNextPage: true }],
    ["a next link that is null", { links: { next: null } }, { hasNextPage: false }],
    ["a next link that is empty", { links: { next: "" } }, { hasNextPage: false }],
    ["a next link whose href is null", { _links: { next: { href: null } } }, { hasNextPage: false }],
    [
      "links to other pages, without a next link",
      { links: { first: "/a", prev: "/a?page=2" } },
      { hasNextPage: false },
    ],
    ["a self link alone", { links: { self: "/a" } }, {}],
    [
      "a link to the last page",
      { links: { last: "/a?limit=100&page=17" } },
      { totalPages: 17, hasNextPage: false },
    ],
    [
      "a link to the last page, as JSON:API writes it",
      { links: { next: "/b", last: { href: "/a?page%5Bnumber%5D=7" } } },
      { totalPages: 7, hasNextPage: true },
    ],
    [
      "a next link that is an object without href",
      { links: { next: { cursor: "c" } } },
      { hasNextPage: true },
    ],
    ["a next link that is an array", { links: { next: ["/a?page=2"] } }, {}],
    [
      "a link to the last page without a page number",
      { links: { last: "/a?after=c" } },
      { hasNextPage: false },
    ],
    ["links that are an array", { links: [{ url: null, label: "next" }] }, {}],
    ["a count beyond this page", { count: 250, next: null }, { totalItems: 250, hasNextPage: false }],
    ["a count of this page", { count: 2, next: "/a?page=2" }, { hasNextPage: true }],
    ["an empty cursor", { next_cursor: "" }, { hasNextPage: false }],
  ])("%s", (_, around, expected) => {
    expect(hintsOf(around)).toEqual(expected);
  });

  test.each<[string, object, object]>([
    ["the greater total", { total: 2, meta: { total: 250 } }, { totalItems: 250 }],
    ["the more pages", { pages: 1, meta: { total_pages: 3 } }, { totalPages: 3 }],
    ["the smaller page size", { limit: 100, meta: { per_page: 50 } }, { limit: 50 }],
    [
      "the next page that one of them names",
      { has_more: false, links: { next: "/a?page=2" } },
      { hasNextPage: true },
    ],
  ])("of two different values, %s counts", (_, around, expected) => {
    expect(hintsOf(around)).toEqual(expected);
  });

  test.each(
    "items count results records elements rows entries customers contacts profiles lists groups".split(" "),
  )("a total of %s", (name) => {
    expect(hintsOf({ [`total_${name}`]: 250 })).toEqual({ totalItems: 250 });
  });

  test.each<[string, string[], unknown, object]>([
    ["page size", ["limit", "per_page", "perPage", "page_size", "items_per_page", "size"], 50, { limit: 50 }],
    [
      "number of pages",
      ["total_pages", "pageCount", "pages_count", "pages", "last_page", "num_pages"],
      3,
      { totalPages: 3 },
    ],
    ["count of the list", ["count", "item_count", "items_count", "record_count"], 250, { totalItems: 250 }],
    ["flag for more pages", ["has_more", "hasNext", "has_next_page", "more"], true, { hasNextPage: true }],
    ["flag for the end", ["last", "isLast", "is_last_page"], true, { hasNextPage: false }],
    [
      "next page",
      ["next", "next_page", "nextPageUrl", "next_url", "next_link", "next_cursor", "nextPageToken"],
      "x",
      { hasNextPage: true },
    ],
  ])("a %s, under each of its names and in each holder", (_, names, value, expected) => {
    for (const name of names) {
      expect(hintsOf({ [name]: value }), name).toEqual(expected);
      for (const holder of ["meta", "pagination", "paging", "page", "pageInfo", "paginator", "pager"]) {
        expect(hintsOf({ [holder]: { [name]: value } }), `${holder}.${name}`).toEqual(expected);
      }
    }
  });

  test("is ignored where it is no count or flag", () => {
    expect(
      hintsOf({
        total: -1,
        limit: 0,
        per_page: 1.5,
        total_pages: "3 of 9",
        page_count: "page 3",
        has_more: "yes",
        meta: null,
        pagination: [],
        last: 3,
      }),
    ).toEqual({});
    expect(hintsOf({ total: { value: 250, relation: "eq" }, pages: [1, 2], page: { size: null } })).toEqual(
      {},
    );
  });

  test("is also found beside the items in data", () => {
    const {
      raw: _,
      items: __,
      ...expected
    } = customers({ success: true, data: { customers: contacts, total_items: 250, total_pages: 3 } });
    expect(expected).toEqual({ totalItems: 250, totalPages: 3 });
  });
});

test("The totals and links of a list in result are read there", () => {
  const result = { items: contacts, pagination: { total: 250, has_more: true } };

  expect(customers({ result })).toMatchObject({ totalItems: 250, hasNextPage: true });
});

describe("parsePage", () => {
  const body = { result: { people: contacts, size: 250 } };

  test("parses an unusual shape: it receives the body and the operation, and its items are decoded", () => {
    const parsePage = vi.fn<ParsePage>(() => ({
      items: contacts,
      totalItems: 250,
      totalPages: 3,
      hasNextPage: true,
    }));
    expect(customers(body, parsePage)).toEqual({
      items: contacts.map(({ id, email }) => ({ type: "profile", id, attributes: { email } })),
      totalItems: 250,
      totalPages: 3,
      hasNextPage: true,
      raw: body,
    });
    expect(parsePage.mock.calls).toEqual([[body, { operation: "v1.customers.list" }]]);
  });

  test("replaces the usual parsing, and may omit totals", () => {
    expect(
      customers({ data: contacts, total: 9 }, () => ({
        items: [],
        totalItems: null,
        totalPages: 0,
        hasNextPage: null,
      })),
    ).toEqual({ items: [], totalPages: 0, raw: { data: contacts, total: 9 } });
  });

  test.each<[string, unknown, string]>([
    ["nothing", undefined, "the value: required: an object"],
    ["the array itself", contacts, "the value: must be an object, not an array"],
    ["no items", { totalItems: 3 }, "items: required: an array"],
    ["items that are no array", { items: { a: 1 } }, "items: must be an array, not an object"],
    ["a negative total", { items: [], totalItems: -1 }, "totalItems: must be at least 0"],
    [
      "a number of pages that is no number",
      { items: [], totalPages: "3" },
      "totalPages: must be a number, not a string",
    ],
    [
      "a flag that is no boolean",
      { items: [], hasNextPage: "no" },
      "hasNextPage: must be a boolean, not a string",
    ],
  ])("that returns %s is named in the error", (_, given, message) => {
    // A caller in JavaScript can pass this.
    const error = refusal(() => customers(body, () => given as ReturnType<ParsePage>));
    expect(error.message).toBe(
      `the client's parsePage returned another value than { items, totalItems?, totalPages?, hasNextPage? }: ${message}`,
    );
  });

  test("that returns a Promise is refused, and a rejection of it is handled", () => {
    const promise = Promise.reject(new Error("late"));
    // A caller in JavaScript can pass this.
    const error = refusal(() => customers(body, () => promise as unknown as ReturnType<ParsePage>));
    expect(error.message).toContain("returned another value than { items");
  });

  test("that throws is named in the error, with the message thrown and the keys of the body", () => {
    const thrown = new TypeError("Cannot read properties of undefined");
    const error = refusal(() =>
      customers(body, () => {
        throw thrown;
      }),
    );
    expect(error.message).toContain(
      "threw Cannot read properties of undefined; the body is an object with the keys result",
    );
  });

  test("that throws a value that is no Error is named in the error", () => {
    const error = refusal(() =>
      customers(body, () => {
        // oxlint-disable-next-line typescript/only-throw-error -- as a caller's own code may.
        throw "no reason";
      }),
    );
    expect(error.message).toContain("threw no reason; the body is");
  });

  test("that returns items without an id is named in the error", () => {
    expect(refusal(() => customers(body, () => ({ items: [{ email: "c@example.com" }] }))).message).toContain(
      "item 0",
    );
  });
});
