import { describe, expect, it } from "vitest";
import { entryPoints } from "../mock/entry-points.ts";
import { acme, expectNotSent, untyped, useService } from "./service.ts";

const contacts = Array.from({ length: 205 }, (_, at) => ({ id: `c${at}`, email: `c${at}@example.com` }));
const crowded = [{ ...acme, contacts }];
const idsFrom = (start: number, end: number) => contacts.slice(start, end).map(({ id }) => id);

describe.each(entryPoints)("customers.list, $name", (entryPoint) => {
  const service = useService({ entryPoint, organizations: crowded });
  const list = (...query: Parameters<typeof service.audience.v1.customers.list>) =>
    service.audience.v1.customers.list(...query);

  it("sends no body, and page and limit as the query", async () => {
    await list({ page: 2, limit: 20 });

    expect(service.mock.requests).toMatchObject([
      {
        operation: "v1.customers.list",
        method: "GET",
        path: "/api/v1/customer",
        query: { page: "2", limit: "20" },
        headers: { "x-api-key": "acme-mock-key" },
        status: 200,
      },
    ]);
    expect(service.mock.requests[0]?.body).toBeUndefined();
  });

  it("every contact is yielded once, in pages of 100", async () => {
    const profiles = await list().toArray();

    expect(profiles.map(({ id }) => id)).toEqual(idsFrom(0, 205));
    expect(service.mock.requests.map(({ query }) => query)).toEqual([
      { limit: "100" },
      { limit: "100", page: "2" },
      { limit: "100", page: "3" },
    ]);
  });

  it("the page is 1 by default", async () => {
    const first = await list({ limit: 3 });
    const second = await list({ page: 2, limit: 3 });

    expect(first.items.map(({ id }) => id)).toEqual(idsFrom(0, 3));
    expect(second.items.map(({ id }) => id)).toEqual(idsFrom(3, 6));
  });

  it.each([
    [1, 1],
    [99, 99],
    [100, 100],
    [101, 100],
    [1_000, 100],
  ])("limit %i is sent, and returns %i contacts", async (limit, count) => {
    const page = await list({ limit });

    expect(service.mock.requests[0]?.query).toMatchObject({ limit: String(limit) });
    expect(page.items).toHaveLength(count);
  });

  it("a limit over 100 misses no contact", async () => {
    const profiles = await list({ limit: 1_000 }).toArray();

    expect(profiles.map(({ id }) => id)).toEqual(idsFrom(0, 205));
  });

  it("a page after the last is empty", async () => {
    const page = await list({ page: 9, limit: 100 });

    expect(page).toMatchObject({ items: [], hasNextPage: false });
  });

  it("on the service the page is 1 and the limit 10 where none is sent", async () => {
    const { body } = await service.send("GET", "/api/v1/customer");

    expect(body).toMatchObject({ data: idsFrom(0, 10).map((id) => ({ id })) });
  });

  const wrong = [
    ...[0, -1].map((value) => [value, "too_small"] as const),
    ...[1.5, Number.NaN, Number.POSITIVE_INFINITY, "1", true, null].map(
      (value) => [value, "invalid_type"] as const,
    ),
    [2 ** 53, "too_big"] as const,
  ];
  it.each(["page", "limit"].flatMap((name) => wrong.map(([value, code]) => ({ name, value, code }))))(
    "$name is an integer from 1: $value is not sent",
    async ({ name, value, code }) => {
      await expectNotSent(service, list(untyped({ [name]: value })), `${name} ${code}`);
    },
  );

  it.each([
    "page=0",
    "page=-1",
    "page=x",
    "page=1.5",
    "page=",
    "limit=0",
    "limit=-5",
    "limit=1.5",
    "limit=ten",
  ])("%s is refused by the service", async (query) => {
    const { status } = await service.send("GET", `/api/v1/customer?${query}`);

    expect(status).toBe(400);
  });

  it("any other parameter is not sent", async () => {
    await expectNotSent(
      service,
      list(untyped({ offset: 10, type: "LIST" })),
      "offset unrecognized_keys",
      "type unrecognized_keys",
    );
  });
});

describe.each(["data", "array", "data-key", "root-key"] as const)(
  "customers.list where the response has the shape %s",
  (v1List) => {
    describe.each(["links", "meta", "pagination", "totals", "none"] as const)(
      "and its pages are given by %s",
      (v1Paging) => {
        describe.each(["resource", "envelope", "flat"] as const)(
          "and a contact is %s",
          (v1ListedCustomer) => {
            const service = useService({
              organizations: [{ ...acme, contacts: contacts.slice(0, 120) }],
              variants: { v1List, v1Paging, v1ListedCustomer },
            });

            it("every contact is yielded once, as a profile; a limit over 100 counts as 100", async () => {
              const { customers } = service.audience.v1;
              for (const query of [{}, { limit: 150 }]) {
                const profiles = await customers.list(query).toArray();

                expect(profiles.map(({ id }) => id)).toEqual(idsFrom(0, 120));
                expect(profiles[0]).toMatchObject({ id: "c0", attributes: { email: "c0@example.com" } });
              }
            });
          },
        );
      },
    );
  },
);
