import type { Paginator } from "audience-sdk";
import { v2ListPageSchema } from "audience-sdk/schemas";
import { describe, expect, it } from "vitest";
import { entryPoints } from "../mock/entry-points.ts";
import { acme, expectNotSent, untyped, useService, type Service } from "./service.ts";

const contacts = Array.from({ length: 205 }, (_, at) => ({ id: `c${at}`, email: `c${at}@example.com` }));
const groups = Array.from({ length: 105 }, (_, at) => ({
  id: `g${at}`,
  name: `Group ${at}`,
  type: at % 21 === 0 ? ("SEGMENT" as const) : ("LIST" as const),
  created_at: 1_700_000_000 + at,
}));
const crowded = [{ ...acme, contacts, lists: groups, automations: [] }];

const idsOf = (items: readonly { readonly id: string }[]) => items.map(({ id }) => id);
const lists = groups.filter(({ type }) => type === "LIST");

interface Item {
  readonly id?: unknown;
  readonly uuid?: unknown;
}

/** An endpoint that lists, and the ids of all that it lists. */
interface Listing {
  readonly operation: string;
  readonly path: string;
  readonly ids: readonly string[];
  readonly list: (service: Service, query?: object) => Paginator<Item>;
}

const v1Listings: readonly Listing[] = [
  {
    operation: "v1.customers.list",
    path: "/api/v1/customer",
    ids: idsOf(contacts),
    list: ({ audience }, query) => audience.v1.customers.list(query),
  },
  {
    operation: "v1.contactGroups.list",
    path: "/api/v1/contact-groups",
    ids: idsOf(groups),
    list: ({ audience }, query) => audience.v1.contactGroups.list(query),
  },
];
const v2Listing: Listing = {
  operation: "v2.lists.list",
  path: "/v2/lists",
  ids: idsOf(lists),
  list: ({ audience }, query) => audience.v2.lists.list(query),
};
const listings = [...v1Listings, v2Listing];

const given = (items: readonly Item[]) => items.map(({ id, uuid = id }) => uuid);
const pairs = <Value>(listed: readonly Listing[], values: readonly Value[]) =>
  listed.flatMap((listing) => values.map((value) => ({ ...listing, value })));

describe.each(entryPoints)("each list, $name", (entryPoint) => {
  const service = useService({ entryPoint, organizations: crowded });

  it.each(listings)("$operation yields every item once", async ({ list, ids }) => {
    expect(given(await list(service).toArray())).toEqual(ids);
  });

  it.each(listings)("$operation begins with page 1, and gives any other page", async ({ list, ids }) => {
    expect(given((await list(service, { limit: 3 })).items)).toEqual(ids.slice(0, 3));
    expect(await list(service, { limit: 3 })).toMatchObject({ page: 1, hasNextPage: true });
    expect(given((await list(service, { page: 2, limit: 3 })).items)).toEqual(ids.slice(3, 6));
  });

  it.each(listings)("$operation has no next page after the last", async ({ list, ids }) => {
    const page = Math.ceil(ids.length / 20);
    const last = await list(service, { page, limit: 20 });

    expect(given(last.items)).toEqual(ids.slice((page - 1) * 20));
    expect(last.hasNextPage).toBe(false);
    expect(await list(service, { page: 30, limit: 20 })).toMatchObject({ items: [], hasNextPage: false });
  });

  it.each(v1Listings)("$operation asks for pages of 100", async ({ list, ids }) => {
    await list(service).toArray();

    expect(service.mock.requests.map(({ query }) => query)).toEqual(
      Array.from({ length: Math.ceil(ids.length / 100) }, (_, at) =>
        at === 0 ? { limit: "100" } : { limit: "100", page: String(at + 1) },
      ),
    );
  });

  it.each(pairs(v1Listings, [1, 99, 100, 101, 1_000]))(
    "$operation sends the limit $value, and gets at most 100 items",
    async ({ list, value }) => {
      const page = await list(service, { limit: value });

      expect(service.mock.requests[0]?.query).toMatchObject({ limit: String(value) });
      expect(page.items).toHaveLength(Math.min(value, 100));
    },
  );

  it.each(v1Listings)("$operation with a limit over 100 misses no item", async ({ list, ids }) => {
    expect(given(await list(service, { limit: 1_000 }).toArray())).toEqual(ids);
  });

  it.each(v1Listings)("on the service $path has page 1, limit 10 and type ALL by default", async (one) => {
    const { body } = await service.send("GET", one.path);

    expect(body).toMatchObject({ data: one.ids.slice(0, 10).map((id) => ({ id })) });
  });

  const wrong = [
    ...[0, -1].map((page) => [page, "too_small"]),
    ...[1.5, Number.NaN, Number.POSITIVE_INFINITY, "1", true, null].map((page) => [page, "invalid_type"]),
    [2 ** 53, "too_big"],
  ];
  it.each(pairs(listings, wrong))(
    "$operation takes integers from 1: page and limit $value.0 are not sent",
    async ({ list, value: [value, code] }) => {
      const query = { page: value, limit: value };
      await expectNotSent(service, list(service, query), `page ${code}`, `limit ${code}`);
    },
  );

  it.each(listings)("$operation sends no other parameter", async ({ list }) => {
    await expectNotSent(service, list(service, { offset: 10 }), "offset unrecognized_keys");
  });

  it.each(pairs(listings, ["0", "-1", "x", "1.5", ""]))(
    "$path refuses the page and the limit $value",
    async ({ path, value }) => {
      for (const name of ["page", "limit"])
        expect(await service.send("GET", `${path}?${name}=${value}`)).toMatchObject({
          status: 400,
          ...(path === "/v2/lists" && { body: { status: "error", message: expect.any(String) } }),
        });
    },
  );
});

describe("the type of contact groups", () => {
  const service = useService({ organizations: crowded });
  const list = (query?: object) => service.audience.v1.contactGroups.list(query);

  it.each([
    ["LIST", lists],
    ["SEGMENT", groups.filter(({ type }) => type === "SEGMENT")],
    ["ALL", groups],
    [undefined, groups],
  ] as const)("%s yields these alone, over all pages", async (type, expected) => {
    const found = await list({ type, limit: 40 }).toArray();

    expect(found.map(({ id }) => id)).toEqual(idsOf(expected));
    expect(new Set(service.mock.requests.map(({ query }) => query["type"]))).toEqual(new Set([type]));
  });

  it.each(["list", "", null])("%j is not sent, and refused by the service", async (type) => {
    await expectNotSent(service, list({ type }), "type invalid_value");
    expect((await service.send("GET", `/api/v1/contact-groups?type=${type}`)).status).toBe(400);
  });
});

describe("the lists of v2", () => {
  const service = useService({ organizations: crowded });
  const list = (query?: object) => service.audience.v2.lists.list(untyped(query));

  it("have pages of the service's size, which is 20 on the mock", async () => {
    expect(await list()).toMatchObject({ limit: 20, totalPages: 5, totalItems: 100 });
    expect(service.mock.requests.map(({ query }) => query)).toEqual([{}]);
  });

  it("come in a body with the documented fields, which fits its schema and is kept", async () => {
    const { body } = await service.send("GET", "/v2/lists?page=2&limit=10");
    const page = await list({ page: 2, limit: 10 });

    expect(body).toMatchObject({
      success: true,
      data: { current_page: 2, total_pages: 10, total_items: 100, items_per_page: 10 },
    });
    expect(v2ListPageSchema.safeParse(body)).toMatchObject({ success: true, data: body });
    expect(page).toMatchObject({ page: 2, limit: 10, totalPages: 10, totalItems: 100, hasNextPage: true });
    expect(page.raw).toEqual(body);
  });

  it.each([
    [1, 100],
    [99, 2],
    [100, 1],
    [101, 1],
  ])("have total_pages for the limit %i: %i", async (limit, totalPages) => {
    expect(await list({ limit })).toMatchObject({ totalPages, totalItems: 100 });
  });
});

describe("a v2 list", () => {
  const service = useService();

  it("has the documented fields; its description may be absent, and created_at counts seconds", async () => {
    const found = await service.audience.v2.lists.list().toArray();

    expect(found).toEqual([
      { uuid: "news", name: "Newsletter", created_at: 1_700_000_000, description: "Weekly" },
      { uuid: "offers", name: "Offers", created_at: 1_700_000_001 },
    ]);
    expect(new Date(1_000 * Number(found[0]?.created_at)).getUTCFullYear()).toBe(2023);
  });
});
