import { AudienceClient, NotFoundError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { describe, expect, it } from "vitest";
import { entryPoints } from "../mock/entry-points.ts";
import { acme, errorOf, expectNotSent, untyped, useService } from "./service.ts";

describe("a contact group", () => {
  const service = useService();

  it("its other fields are not documented, and returned unchanged", async () => {
    const group = await service.audience.v1.contactGroups.get("news");

    expect(group).toEqual({
      id: "news",
      name: "Newsletter",
      type: "LIST",
      description: "Weekly",
      created_at: 1_700_000_000,
    });
  });
});

describe.each(entryPoints)("contactGroups.get, $name", (entryPoint) => {
  const service = useService({ entryPoint });

  it("sends no body, and returns the list", async () => {
    const group = await service.audience.v1.contactGroups.get("news");

    expect(group).toMatchObject({ id: "news", name: "Newsletter" });
    expect(service.mock.requests).toMatchObject([
      {
        operation: "v1.contactGroups.get",
        method: "GET",
        path: "/api/v1/contact-groups/news",
        query: {},
        headers: { "x-api-key": "acme-mock-key" },
        status: 200,
      },
    ]);
    expect(service.mock.requests[0]?.body).toBeUndefined();
  });

  it("returns a segment too", async () => {
    expect(await service.audience.v1.contactGroups.get("engaged")).toMatchObject({ id: "engaged" });
  });

  it("an unknown id is a NotFoundError", async () => {
    const error = await errorOf(service.audience.v1.contactGroups.get("a/b?c"));

    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({ status: 404, outcome: "not-applied" });
    expect(service.mock.requests).toMatchObject([
      { operation: "v1.contactGroups.get", path: "/api/v1/contact-groups/a%2Fb%3Fc" },
    ]);
  });

  it.each(["", "\t", ".", "..", null, undefined, 7])("the id %j is not sent", async (id) => {
    await expectNotSent(service, service.audience.v1.contactGroups.get(untyped(id)), "id");
  });
});

it("A response without a contact group is an UnexpectedResponseError", async () => {
  const audience = new AudienceClient({
    ...createMockService().clientOptions,
    fetch: async () => Response.json({ name: "Newsletter" }),
  });

  expect(await errorOf(audience.v1.contactGroups.get("news"))).toMatchObject({
    code: "unexpected_response",
    message: expect.stringContaining("its body holds no contact group with an id"),
    outcome: "not-applied",
    status: 200,
    body: { name: "Newsletter" },
  });
});

describe.each(["flat", "data", "resource"] as const)(
  "contactGroups.get where the response is %s",
  (v1Group) => {
    const service = useService({ variants: { v1Group } });

    it.each(["news", "engaged"])("%s yields its id", async (id) => {
      const group = await service.audience.v1.contactGroups.get(id);

      expect(group.id).toBe(id);
      expect(JSON.stringify(group)).toContain(id === "news" ? "Newsletter" : "Engaged");
    });
  },
);

const lists = Array.from({ length: 103 }, (_, at) => ({
  id: `g${at}`,
  name: `Group ${at}`,
  type: at % 50 === 0 ? ("SEGMENT" as const) : ("LIST" as const),
  created_at: 1_700_000_000 + at,
}));
const crowded = [{ ...acme, lists, contacts: [], automations: [] }];
const ids = lists.map(({ id }) => id);

describe.each(entryPoints)("contactGroups.list, $name", (entryPoint) => {
  const service = useService({ entryPoint, organizations: crowded });
  const list = (...query: Parameters<typeof service.audience.v1.contactGroups.list>) =>
    service.audience.v1.contactGroups.list(...query);

  it("sends no body, and type, page and limit as the query", async () => {
    await list({ type: "LIST", page: 2, limit: 20 });

    expect(service.mock.requests).toMatchObject([
      {
        operation: "v1.contactGroups.list",
        method: "GET",
        path: "/api/v1/contact-groups",
        query: { type: "LIST", page: "2", limit: "20" },
        headers: { "x-api-key": "acme-mock-key" },
        status: 200,
      },
    ]);
    expect(service.mock.requests[0]?.body).toBeUndefined();
  });

  it("every list and segment is yielded once", async () => {
    const groups = await list().toArray();

    expect(groups.map(({ id }) => id)).toEqual(ids);
  });

  it.each([
    ["LIST", 100],
    ["SEGMENT", 3],
    ["ALL", 103],
  ] as const)("type %s yields %i of them, over all pages", async (type, count) => {
    const groups = await list({ type, limit: 40 }).toArray();

    expect(groups).toHaveLength(count);
    expect(new Set(groups.map((group) => group["type"]))).toEqual(
      new Set(type === "ALL" ? ["LIST", "SEGMENT"] : [type]),
    );
    expect(service.mock.requests.every(({ query }) => query["type"] === type)).toBe(true);
  });

  it("without a type all are yielded", async () => {
    await list({ limit: 1 });

    expect(service.mock.requests[0]?.query).not.toHaveProperty("type");
    expect((await list({ limit: 1, type: "ALL" })).items).toEqual((await list({ limit: 1 })).items);
  });

  it.each([
    [1, 1],
    [100, 100],
    [101, 100],
    [500, 100],
  ])("limit %i returns %i groups", async (limit, count) => {
    expect((await list({ limit })).items).toHaveLength(count);
  });

  it("on the service the page is 1, the limit 10 and the type ALL where none is sent", async () => {
    const { body } = await service.send("GET", "/api/v1/contact-groups");

    expect(body).toMatchObject({ data: ids.slice(0, 10).map((id) => ({ id })) });
  });

  it.each([
    ["type", "list", "invalid_value"],
    ["type", "", "invalid_value"],
    ["type", null, "invalid_value"],
    ["page", 0, "too_small"],
    ["page", null, "invalid_type"],
    ["limit", -5, "too_small"],
    ["limit", null, "invalid_type"],
    ["Type", "LIST", "unrecognized_keys"],
  ])("%s = %j is not sent", async (name, value, code) => {
    await expectNotSent(service, list(untyped({ [name]: value })), `${name} ${code}`);
  });

  it.each(["type=list", "type=", "page=0", "limit=-5", "limit=ten"])(
    "%s is refused by the service",
    async (query) => {
      expect((await service.send("GET", `/api/v1/contact-groups?${query}`)).status).toBe(400);
    },
  );
});

describe.each(["data", "array", "data-key", "root-key"] as const)(
  "contactGroups.list where the response has the shape %s",
  (v1List) => {
    describe.each(["flat", "resource"] as const)("and a group is %s", (v1ListedGroup) => {
      const service = useService({
        organizations: crowded,
        variants: { v1List, v1ListedGroup },
      });

      it("every group is yielded once, with its id", async () => {
        const groups = await service.audience.v1.contactGroups.list().toArray();

        expect(groups.map(({ id }) => id)).toEqual(ids);
      });
    });
  },
);
