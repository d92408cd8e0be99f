import { inspect } from "node:util";
import { AudienceClient, ConfigurationError, type ListOptions, type Page } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { describe, expect, it, vi } from "vitest";
import { collect, errorOf, type Item, items, servedListOf, settled, unsizedList } from "./served-lists.ts";

const threePages = [items(0, 100), items(100, 200), items(200, 250)];

describe("a paginator", () => {
  it("sends nothing until it is awaited or iterated, and says what to do with it where it is logged", async () => {
    const { paginator, log } = servedListOf(threePages);
    paginator[Symbol.asyncIterator]();
    paginator.pages()[Symbol.asyncIterator]();
    expect(inspect(paginator)).toMatch(/^Paginator: .*await.*for await/);
    await settled();
    expect(log).toEqual([]);
  });

  it("is one page when it is awaited, and one request, however often it is", async () => {
    const { paginator, log } = servedListOf(threePages);
    const ended = vi.fn();
    const [page, other] = await Promise.all([paginator, paginator]);
    expect(page).toMatchObject({ items: items(0, 100), page: 1, limit: 100, hasNextPage: true });
    for (const same of [other, await paginator, await paginator.finally(ended)]) expect(same).toBe(page);
    expect(ended).toHaveBeenCalledOnce();
    await settled();
    expect(log).toEqual([1]);
  });

  it("yields every item in order, and each iteration, also beside another, sends its own requests", async () => {
    const { paginator, log } = servedListOf(threePages);
    expect(await Promise.all([collect(paginator), collect(paginator)])).toEqual(Array(2).fill(items(0, 250)));
    expect(log).toEqual([1, 1, 2, 2, 3, 3]);
  });

  it("names no page where none is given, and then each by its number", async () => {
    const { paginator, log } = unsizedList((page) => (page > 2 ? [] : items(page, page + 1)));
    await collect(paginator);
    expect(log).toEqual(["", "?page=2", "?page=3"]);
  });

  it("rejects with the error of its first page: awaited, caught, iterated", async () => {
    const { paginator, log } = servedListOf(threePages, { page: -1 });
    const errors = [
      await errorOf(paginator),
      await paginator.catch((error: unknown) => error),
      await errorOf(paginator.finally(() => {})),
      await errorOf(collect(paginator)),
      await errorOf(collect(paginator.pages())),
      await errorOf(paginator.toArray()),
    ];
    for (const error of errors) {
      expect(error).toMatchObject({ code: "validation", issues: [{ path: ["page"] }] });
    }
    expect(log).toEqual([]);
  });
});

it.each([
  [0, []],
  [1, [1]],
  [100, [1]],
  [101, [1, 2]],
  [200, [1, 2]],
  [201, [1, 2, 3]],
  [500, [1, 2, 3]],
  [undefined, [1, 2, 3]],
])("toArray with max %s requests no page beyond, and none before it is needed", async (max, asked) => {
  const { paginator, log } = servedListOf(threePages, { readAhead: 3 });
  expect(await paginator.toArray({ max })).toEqual(items(0, Math.min(max ?? 250, 250)));
  await settled();
  expect(log).toEqual(asked);
});

describe("a page", () => {
  it("leads to the next page, and the last page to none", async () => {
    const { paginator, log } = servedListOf(threePages);
    let page: Page<Item> = await paginator;
    const seen = [...page.items];
    while (page.hasNextPage) {
      page = await page.nextPage();
      seen.push(...page.items);
    }
    expect(seen).toEqual(items(0, 250));
    expect(log).toEqual([1, 2, 3]);
    const error = await errorOf(page.nextPage());
    expect(error).toMatchObject({
      code: "validation",
      outcome: "not-sent",
      issues: [{ path: ["page"], code: "no_next_page" }],
    });
    expect(String(error)).toContain("page 3 is the last one");
    expect(log).toEqual([1, 2, 3]);
  });

  it("yields its items and all following ones, with read-ahead from the first item on", async () => {
    const { paginator, log } = servedListOf(threePages);
    const page = await paginator;
    const iterator = page[Symbol.asyncIterator]();
    expect(await iterator.next()).toEqual({ done: false, value: { id: "0" } });
    await settled();
    expect(log).toEqual([1, 2]);
    expect(await collect(page)).toEqual(items(0, 250));
    expect(await collect(await page.nextPage())).toEqual(items(100, 250));
    const lastOf = servedListOf(threePages, { page: 3 });
    expect(await collect(await lastOf.paginator)).toEqual(items(200, 250));
    expect(lastOf.log).toEqual([3]);
  });

  it("has the totals of the response, and no totals otherwise", async () => {
    const hints = await servedListOf([{ items: items(0, 20), limit: 20, totalItems: 45, totalPages: 3 }])
      .paginator;
    expect(hints).toMatchObject({ limit: 20, totalItems: 45, totalPages: 3, hasNextPage: true });
    const untold = await servedListOf([items(0, 20)]).paginator;
    expect(Object.keys(untold)).toEqual(["items", "page", "limit", "hasNextPage", "raw"]);
  });

  it.each([
    [50, 100, 50],
    [undefined, 100, 100],
    [250, 100, 100],
    [50, undefined, 50],
    [0, undefined, 7],
    [undefined, undefined, 7],
  ])(
    "with the limit %s in the response and %s of the call has the limit %s, and else its length",
    async (told, asked, limit) => {
      const served = { items: items(0, 7), limit: told };
      const list = asked === undefined ? unsizedList(() => served) : servedListOf([served], { limit: asked });
      expect((await list.paginator).limit).toBe(limit);
    },
  );

  it("keeps the response's body, and shows nothing of its request", async () => {
    const page = await servedListOf([items(0, 1)]).paginator;
    const shown = { items: items(0, 1), page: 1, limit: 100, hasNextPage: false, raw: { data: items(0, 1) } };
    expect(JSON.parse(JSON.stringify(page))).toEqual(shown);
  });
});

// A caller in JavaScript can pass all of these.

const waysToRead: ((list: ReturnType<AudienceClient["v1"]["customers"]["list"]>) => PromiseLike<unknown>)[] =
  [(list) => list, collect, (list) => collect(list.pages()), (list) => list.toArray()];

it.each<[string, unknown, string]>([
  ["readAhead of 1.5", { readAhead: 1.5 }, "readAhead must be an integer from 0, not 1.5"],
  ["readAhead null", { readAhead: null }, "readAhead must be an integer from 0, not null"],
  ["a signal as options", new AbortController().signal, "The call's options must be a plain object"],
  ["a wrong case", { readahead: 2 }, 'there is no option "readahead"; did you mean readAhead?'],
  ["an unknown option", { perPage: 2 }, 'there is no option "perPage"; the options are signal, timeoutMs, '],
])("a wrong option of a list is a call that was refused before sending: %s", async (_, options, message) => {
  const mock = createMockService();
  const { v1, v2 } = new AudienceClient(mock.clientOptions);

  for (const lists of [v1.customers, v1.contactGroups, v2.lists])
    for (const read of waysToRead) {
      // Safe: read alone.
      const list = lists.list({}, options as ListOptions) as ReturnType<typeof v1.customers.list>;
      const error = await errorOf(read(list));
      expect(error).toMatchObject({ code: "configuration", outcome: "not-sent", request: { attempts: 0 } });
      expect(String(error)).toContain(message);
    }
  expect(mock.requests).toEqual([]);
});

// Each would read the whole list, one call for every hundred items.
it.each<[unknown]>([[5], [{ limit: 5 }], [{ max: -1 }], [{ max: "10" }], [{ max: null }]])(
  "a wrong option of toArray is a ConfigurationError, and nothing is sent: %j",
  async (options) => {
    const mock = createMockService();
    const { v1 } = new AudienceClient(mock.clientOptions);
    const error = await errorOf(v1.customers.list().toArray(options as object));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(mock.requests).toEqual([]);
  },
);
