import { describe, expect, test } from "vitest";
import { ConfigurationError, ValidationError } from "../../src/errors.ts";
import { Paginator, type Page } from "../../src/pagination/paginator.ts";
import { collect, errorOf, ids, items, fakeListOf, fakeList, settled, type Item } from "./fake-list.ts";

const threePages = [items(0, 100), items(100, 200), items(200, 250)];

describe("a paginator", () => {
  test("sends nothing until it is awaited or iterated", async () => {
    const { paginator, log } = fakeListOf(threePages);
    paginator[Symbol.asyncIterator]();
    paginator.pages()[Symbol.asyncIterator]();
    await settled();
    expect(log).toEqual([]);
  });

  test("awaited, is one page", async () => {
    const { paginator, log } = fakeListOf(threePages);
    const page = await paginator;
    expect(page).toMatchObject({ items: items(0, 100), page: 1, limit: 100, hasNextPage: true });
    await settled();
    expect(log).toEqual(["1"]);
  });

  test("awaited twice, is one request and one page", async () => {
    const { paginator, log } = fakeListOf(threePages);
    const [one, other] = await Promise.all([paginator, paginator]);
    expect(one).toBe(other);
    expect(await paginator).toBe(one);
    expect(log).toEqual(["1"]);
  });

  test("iterated, is every item in order, and each new iteration reads anew", async () => {
    const { paginator, log } = fakeListOf(threePages);
    expect(await collect(paginator)).toEqual(items(0, 250));
    expect(await collect(paginator)).toEqual(items(0, 250));
    expect(log).toEqual(["1", "2 ahead", "3 ahead", "1", "2 ahead", "3 ahead"]);
  });

  test("gives its pages, read ahead in the same way", async () => {
    const { paginator, log } = fakeListOf(threePages);
    const pages = await collect(paginator.pages());
    expect(pages.map(({ page, hasNextPage }) => [page, hasNextPage])).toEqual([
      [1, true],
      [2, true],
      [3, false],
    ]);
    expect(pages.flatMap((page) => page.items)).toEqual(items(0, 250));
    expect(log).toEqual(["1", "2 ahead", "3 ahead"]);
  });

  test("counts as many items to a page as came, where no answer names a page size, or one of none", async () => {
    for (const hints of [{}, { limit: 0 }]) {
      const unlimited = { limit: undefined, countedLimit: undefined };
      expect((await fakeListOf([{ ...hints, items: items(0, 7) }], unlimited).paginator).limit).toBe(7);
    }
  });

  test("gives iterators that are iterable themselves", async () => {
    const { paginator } = fakeListOf(threePages);
    const iterator = paginator[Symbol.asyncIterator]();
    await iterator.next();
    expect(await collect(iterator)).toEqual(items(1, 250));
    const pages = paginator.pages()[Symbol.asyncIterator]();
    await pages.next();
    // True: the test is that it is.
    const rest = await collect(pages as AsyncIterableIterator<Page<Item>>);
    expect(rest.map(({ page }) => page)).toEqual([2, 3]);
  });

  test("iterated twice at once, is two readings that do not meddle", async () => {
    const { paginator } = fakeListOf(threePages);
    const [one, other] = await Promise.all([collect(paginator), collect(paginator)]);
    expect(one).toEqual(items(0, 250));
    expect(other).toEqual(items(0, 250));
  });

  test("starts at the page that is given, and hands it on as it is given", async () => {
    const { paginator, log } = fakeListOf(threePages, { page: 2 });
    expect(await collect(paginator)).toEqual(items(100, 250));
    expect(log).toEqual(["2", "3 ahead"]);
    const asked: (number | undefined)[] = [];
    const unnamed = new Paginator<Item>({
      page: undefined,
      limit: undefined,
      countedLimit: undefined,
      readAhead: 0,
      signal: undefined,
      load: async (page) => (
        asked.push(page),
        { items: asked.length > 2 ? [] : items(asked.length, asked.length + 1), raw: 0 }
      ),
      identify: ({ id }) => id,
    });
    await collect(unnamed);
    expect(asked).toEqual([undefined, 2, 3]);
  });

  test("rejects as its first page does: awaited, caught, iterated", async () => {
    const refusal = new ValidationError([
      { path: ["page"], code: "too_small", message: "must be 1 or more" },
    ]);
    const { paginator } = fakeList(
      () => {
        throw refusal;
      },
      { page: -1 },
    );
    expect(await errorOf(paginator)).toBe(refusal);
    expect(await paginator.catch((error: unknown) => error)).toBe(refusal);
    expect(await errorOf(paginator.finally(() => {}))).toBe(refusal);
    expect(await errorOf(collect(paginator))).toBe(refusal);
    expect(await errorOf(collect(paginator.pages()))).toBe(refusal);
    expect(await errorOf(paginator.toArray())).toBe(refusal);
  });

  test("runs finally and passes the page on", async () => {
    const { paginator } = fakeListOf(threePages);
    const log: string[] = [];
    const page = await paginator.finally(() => log.push("finally"));
    expect(page.items).toEqual(items(0, 100));
    expect(log).toEqual(["finally"]);
  });

  test.each([[-1], [1.5], [Number.NaN], [Infinity], ["2"], [null]])(
    "refuses readAhead %j before anything is sent",
    async (readAhead) => {
      // As from a caller without types.
      const { paginator, log } = fakeListOf(threePages, { readAhead: readAhead as number });
      for (const error of [
        await errorOf(paginator),
        await errorOf(collect(paginator)),
        await errorOf(paginator.toArray()),
      ]) {
        expect(error).toBeInstanceOf(ConfigurationError);
        expect(error).toMatchObject({ message: expect.stringContaining("readAhead"), outcome: "not-sent" });
      }
      expect(log).toEqual([]);
    },
  );

  test.each([
    [-1, "not -1"],
    ["2", "not a string"],
    [null, "not null"],
    [{}, "not an object"],
  ])("says what readAhead %j is instead", async (readAhead, part) => {
    // As from a caller without types.
    expect(
      String(await errorOf(fakeListOf(threePages, { readAhead: readAhead as number }).paginator)),
    ).toContain(part);
  });

  test.each<[string, unknown]>([
    ["the controller", new AbortController()],
    ["null", null],
    ["a text", "abort"],
    ["what only looks like one", { aborted: false, addEventListener: true }],
  ])("refuses a signal that is none: %s", async (_, signal) => {
    // As from a caller without types.
    const { paginator, log } = fakeListOf(threePages, { signal: signal as AbortSignal });
    for (const error of [await errorOf(paginator), await errorOf(collect(paginator))]) {
      expect(error).toBeInstanceOf(ConfigurationError);
      expect(String(error)).toContain("signal must be an AbortSignal");
    }
    expect(log).toEqual([]);
  });
});

describe("toArray", () => {
  test("gives every item", async () => {
    expect(await fakeListOf(threePages).paginator.toArray()).toEqual(items(0, 250));
  });

  test.each([
    [0, []],
    [1, ["1"]],
    [100, ["1"]],
    [101, ["1", "2 ahead"]],
    [200, ["1", "2 ahead"]],
    [201, ["1", "2 ahead", "3 ahead"]],
    [500, ["1", "2 ahead", "3 ahead"]],
  ])("with max %i asks for no page beyond", async (max, asked) => {
    const { paginator, log } = fakeListOf(threePages, { readAhead: 3 });
    expect(await paginator.toArray({ max })).toEqual(items(0, Math.min(max, 250)));
    await settled();
    expect(log).toEqual(asked);
  });

  test.each([[-1], [0.5], [Number.NaN], ["10"], [null]])(
    "refuses max %j before anything is sent",
    async (max) => {
      const { paginator, log } = fakeListOf(threePages);
      // As from a caller without types.
      const error = await errorOf(paginator.toArray({ max: max as number }));
      expect(error).toBeInstanceOf(ConfigurationError);
      expect(error).toMatchObject({ message: expect.stringContaining("max") });
      expect(log).toEqual([]);
    },
  );
});

/** The limit of a page of 7 items, where the answer says one limit and another is counted. */
async function limitOf(said: number | undefined, countedLimit: number | undefined): Promise<number> {
  const answer = said === undefined ? items(0, 7) : { items: items(0, 7), limit: said };
  return (await fakeListOf([answer], { countedLimit }).paginator).limit;
}

describe("a page", () => {
  test("leads to the next one, and the last to none", async () => {
    const { paginator, log } = fakeListOf(threePages);
    let page: Page<Item> = await paginator;
    const seen = [...page.items];
    while (page.hasNextPage) {
      page = await page.nextPage();
      seen.push(...page.items);
    }
    expect(seen).toEqual(items(0, 250));
    expect(log).toEqual(["1", "2", "3"]);
    const error = await errorOf(page.nextPage());
    expect(error).toBeInstanceOf(ValidationError);
    expect(error).toMatchObject({ outcome: "not-sent", issues: [{ path: ["page"], code: "no_next_page" }] });
    expect(String(error)).toContain("page 3 is the last one");
    expect(log).toEqual(["1", "2", "3"]);
  });

  test("iterated, is its items and all that follow, read ahead from the first item on", async () => {
    const { paginator, log } = fakeListOf(threePages);
    const page = await paginator;
    const iterator = page[Symbol.asyncIterator]();
    expect(await iterator.next()).toEqual({ done: false, value: { id: "0" } });
    await settled();
    expect(log).toEqual(["1", "2 ahead"]);
    expect(await collect(page)).toEqual(items(0, 250));
    expect(await collect(await page.nextPage())).toEqual(items(100, 250));
  });

  test("iterated as the last one, is its items, and nothing is sent", async () => {
    const { paginator, log } = fakeListOf(threePages, { page: 3 });
    expect(await collect(await paginator)).toEqual(items(200, 250));
    expect(log).toEqual(["3"]);
  });

  test("tells totals where the answer does, and leaves them out where not", async () => {
    const hints = await fakeListOf([{ items: items(0, 20), limit: 20, totalItems: 45, totalPages: 3 }])
      .paginator;
    expect(hints).toMatchObject({ limit: 20, totalItems: 45, totalPages: 3, hasNextPage: true });
    const untold = await fakeListOf([items(0, 20)]).paginator;
    expect(Object.keys(untold)).toEqual(["items", "page", "limit", "hasNextPage", "raw"]);
  });

  test("has the limit of the answer, else of the call, else as many as came", async () => {
    expect(await limitOf(50, 100)).toBe(50);
    expect(await limitOf(undefined, 100)).toBe(100);
    expect(await limitOf(250, 100)).toBe(100);
    expect(await limitOf(50, undefined)).toBe(50);
    expect(await limitOf(undefined, undefined)).toBe(7);
  });

  test("keeps the answer's body, and shows nothing of what it was asked with", async () => {
    const raw = { data: ["as it came"] };
    const page = await fakeListOf([{ items: items(0, 1), raw }]).paginator;
    expect(page.raw).toBe(raw);
    expect(JSON.parse(JSON.stringify(page))).toEqual({
      items: items(0, 1),
      page: 1,
      limit: 100,
      hasNextPage: false,
      raw,
    });
    expect(ids(page.items)).toEqual(["0"]);
  });
});
