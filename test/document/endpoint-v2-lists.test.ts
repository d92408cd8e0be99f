import { ServerError } from "audience-sdk";
import { v2ListPageSchema } from "audience-sdk/schemas";
import { describe, expect, it } from "vitest";
import { entryPoints } from "../mock/entry-points.ts";
import { acme, errorOf, expectNotSent, untyped, useService } from "./service.ts";

describe("a v2 list", () => {
  const service = useService();
  const lists = () => service.audience.v2.lists.list().toArray();

  it("has the documented fields; its description may be absent", async () => {
    expect(await lists()).toEqual([
      { uuid: "news", name: "Newsletter", created_at: 1_700_000_000, description: "Weekly" },
      { uuid: "offers", name: "Offers", created_at: 1_700_000_001 },
    ]);
  });

  it("created_at counts seconds, not milliseconds", async () => {
    const [news] = await lists();

    expect(new Date(1_000 * Number(news?.created_at)).getUTCFullYear()).toBe(2023);
  });

  it("has the same id in the v1 family", async () => {
    const v1 = await service.audience.v1.contactGroups.list({ type: "LIST" }).toArray();

    expect((await lists()).map(({ uuid }) => uuid)).toEqual(v1.map(({ id }) => id));
  });

  it("has fields in snake_case, and fits its schema", async () => {
    const { body } = await service.send("GET", "/v2/lists");

    expect(v2ListPageSchema.safeParse(body)).toMatchObject({ success: true, data: body });
  });
});

const lists = Array.from({ length: 45 }, (_, at) => ({
  id: `l${at}`,
  name: `List ${at}`,
  created_at: 1_700_000_000 + at,
}));
const crowded = [
  {
    ...acme,
    lists: [...lists, { id: "engaged", name: "Engaged", type: "SEGMENT" as const }],
    contacts: [],
    automations: [],
  },
];
const uuids = lists.map(({ id }) => id);

describe.each(entryPoints)("v2.lists.list, $name", (entryPoint) => {
  const service = useService({ entryPoint, organizations: crowded });
  const list = (...query: Parameters<typeof service.audience.v2.lists.list>) =>
    service.audience.v2.lists.list(...query);

  it("sends no body, page and limit as the query, and the v2 key with the app id", async () => {
    await list({ page: 2, limit: 5 });

    expect(service.mock.requests).toMatchObject([
      {
        operation: "v2.lists.list",
        method: "GET",
        path: "/v2/lists",
        query: { page: "2", limit: "5" },
        headers: { "service-api-key": "acme-mock-key-v2", "service-app-id": "acme-mock-app" },
        status: 200,
      },
    ]);
    expect(service.mock.requests[0]?.body).toBeUndefined();
  });

  it("every list is yielded once; the page size is the service's default where none is given", async () => {
    const all = await list().toArray();

    expect(all.map(({ uuid }) => uuid)).toEqual(uuids);
    expect(service.mock.requests.map(({ query }) => query["limit"])).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("the default of the mock is 20 lists a page", async () => {
    expect(await list()).toMatchObject({ limit: 20, totalPages: 3, totalItems: 45 });
  });

  it("the page is 1 where none is given", async () => {
    const page = await list({ limit: 10 });

    expect(page.items.map(({ uuid }) => uuid)).toEqual(uuids.slice(0, 10));
    expect(page.page).toBe(1);
  });

  it.each([
    ["success", true],
    ["data.current_page", 2],
    ["data.total_pages", 5],
    ["data.total_items", 45],
    ["data.items_per_page", 10],
  ])("the response has %s: %j", async (keys, value) => {
    const { body } = await service.send("GET", "/v2/lists?page=2&limit=10");

    expect(keys.split(".").reduce<unknown>((at, key) => Reflect.get(Object(at), key), body)).toBe(value);
  });

  it("the client's page has the same totals, and the unchanged response", async () => {
    const { body } = await service.send("GET", "/v2/lists?page=2&limit=10");
    const page = await list({ page: 2, limit: 10 });

    expect(page).toMatchObject({ page: 2, limit: 10, totalPages: 5, totalItems: 45, hasNextPage: true });
    expect(page.items.map(({ uuid }) => uuid)).toEqual(uuids.slice(10, 20));
    expect(page.raw).toEqual(body);
  });

  it.each([
    [1, 45],
    [44, 2],
    [45, 1],
    [46, 1],
  ])("total_pages depends on the limit: with %i it is %i", async (limit, totalPages) => {
    expect(await list({ limit })).toMatchObject({ totalPages, totalItems: 45 });
  });

  it("the last page has no next page", async () => {
    const page = await list({ page: 5, limit: 10 });

    expect(page.items.map(({ uuid }) => uuid)).toEqual(uuids.slice(40));
    expect(page.hasNextPage).toBe(false);
  });

  it.each([
    ["page", -1, "too_small"],
    ["page", 1.5, "invalid_type"],
    ["page", "1", "invalid_type"],
    ["page", null, "invalid_type"],
    ["page", 2 ** 53, "too_big"],
    ["limit", 0, "too_small"],
    ["limit", 2 ** 53, "too_big"],
    ["limit", null, "invalid_type"],
    ["per_page", 5, "unrecognized_keys"],
  ])("an invalid %s (%j) is not sent", async (name, value, code) => {
    await expectNotSent(service, list(untyped({ [name]: value })), `${name} ${code}`);
  });

  it.each(["page=-1", "page=0", "page=x", "limit=-1", "limit=1.5", "limit=x"])(
    "%s is a 400 of the service, with the v2 error body",
    async (query) => {
      const { status, body } = await service.send("GET", `/v2/lists?${query}`);

      expect(status).toBe(400);
      expect(body).toEqual({ status: "error", message: expect.any(String) });
    },
  );

  it("a 500 is a ServerError, whose outcome is never unknown, because the call is a read", async () => {
    service.mock.addFault({ kind: "500-before", operation: "v2.lists.list" });
    const error = await errorOf(list({}, { maxRetries: 0 }));

    expect(error).toBeInstanceOf(ServerError);
    expect(error).toMatchObject({ status: 500, outcome: "not-applied" });
  });
});
