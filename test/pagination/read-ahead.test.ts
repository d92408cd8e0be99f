import { getEventListeners } from "node:events";
import { AbortError, ConnectionError, type Page, type Paginator } from "audience-sdk";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { collect, controlledList, errorOf, type Item, items, servedList, settled } from "./served-lists.ts";

describe("reading ahead", () => {
  it("fetches one page while the consumer works, and the next once that is consumed", async () => {
    const { afterFirst, log, respond } = controlledList();
    const pages = await afterFirst();
    log.push("work on 1");
    await respond(2, items(100, 200));
    await pages.next();
    await settled();
    log.push("work on 2");
    expect(log).toEqual([
      "request 1",
      "response 1",
      "request 2",
      "work on 1",
      "response 2",
      "request 3",
      "work on 2",
    ]);
  });

  it("with 0 requests a page only when the consumer reaches it", async () => {
    const { afterFirst, log, respond } = controlledList({ readAhead: 0 });
    const pages = await afterFirst();
    log.push("work on 1");
    const second = pages.next();
    await respond(2, items(100, 150));
    await second;
    expect(log).toEqual(["request 1", "response 1", "work on 1", "request 2", "response 2"]);
    expect(await pages.next()).toEqual({ done: true, value: undefined });
  });

  it("with 3 buffers three pages, with one request at a time, and ends at the last page", async () => {
    const { paginator, log, respond } = controlledList({ readAhead: 3 });
    const pages = paginator.pages()[Symbol.asyncIterator]();
    const first = pages.next();
    for (const page of [1, 2, 3, 4])
      await respond(page, { items: items(page * 100, page * 100 + 100), totalPages: 5 });
    await first;
    const served = (page: number) => [`request ${page}`, `response ${page}`];
    expect(log).toEqual([1, 2, 3, 4].flatMap(served));
    await pages.next();
    await respond(5, { items: items(500, 501), totalPages: 5 });
    expect(log).toEqual([1, 2, 3, 4, 5].flatMap(served));
  });
});

it("Overlapping calls of next() get items and pages in order, and then the end of the list", async () => {
  const { paginator, log } = servedList((page) => items(page * 2, page * 2 + (page < 3 ? 2 : 1)), {
    limit: 2,
  });
  const [each, pages] = [paginator[Symbol.asyncIterator](), paginator.pages()[Symbol.asyncIterator]()];

  const results = await Promise.all(Array.from({ length: 7 }, () => each.next()));
  expect(results.map(({ done, value }) => (done ? "end" : value.id))).toEqual([..."23456", "end", "end"]);
  const ofPages = await Promise.all(Array.from({ length: 5 }, () => pages.next()));
  expect(ofPages.map(({ done, value }) => (done ? "end" : value.page))).toEqual([1, 2, 3, "end", "end"]);
  expect(log).toEqual([1, 2, 3, 1, 2, 3]);
});

describe("a page that fails", () => {
  it("during the read-ahead rejects only when the consumer reaches it", async () => {
    const { paginator, log, respond, reset } = controlledList();
    const seen: string[] = [];
    const loop = (async () => {
      for await (const item of paginator) seen.push(item.id);
    })();
    await respond(1, items(0, 3).concat(items(10, 107)));
    const outcome = errorOf(loop);
    await reset(2);
    expect(await outcome).toMatchObject({ code: "connection", reason: "reset" });
    expect(seen).toHaveLength(100);
    expect(log).toEqual(["request 1", "response 1", "request 2", "reset 2"]);
  });

  it("rejects once, and ends the iteration without further requests", async () => {
    const { paginator, log, reset } = controlledList();
    for (const iterator of [paginator[Symbol.asyncIterator](), paginator.pages()[Symbol.asyncIterator]()]) {
      const first = errorOf(iterator.next());
      await reset(1);
      expect(await first).toBeInstanceOf(ConnectionError);
      expect(await iterator.next()).toEqual({ done: true, value: undefined });
    }
    expect(log).toEqual(["request 1", "reset 1", "request 1", "reset 1"]);
  });
});

describe("no request or listener is left behind", () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  beforeEach(() => {
    unhandled.length = 0;
    process.on("unhandledRejection", note);
  });
  afterEach(async () => {
    await settled();
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });

  const thrown = new Error("of the consumer");
  it.each<[string, (list: Paginator<Item>, first: PromiseLike<Page<Item>>) => Promise<void>]>([
    [
      "leaving a loop over items",
      async (list) => {
        for await (const item of list) if (item.id === "5") break;
      },
    ],
    [
      "leaving a loop over a page",
      async (_, first) => {
        for await (const item of await first) if (item.id === "5") break;
      },
    ],
    [
      "an error in a loop, with which it rejects,",
      async (list) => {
        const loop = async () => {
          for await (const item of list) if (item.id === "5") throw thrown;
        };
        await expect(loop()).rejects.toBe(thrown);
      },
    ],
  ])("%s aborts the page of the read-ahead", async (_, loop) => {
    const { paginator, log, respond } = controlledList();
    const first: PromiseLike<Page<Item>> = { then: (...callbacks) => paginator.then(...callbacks) };
    const left = loop(paginator, first);
    await respond(1, items(0, 100));
    await left;
    await settled();
    expect(log).toEqual(["request 1", "response 1", "request 2", "abort"]);
  });

  it("a failed page of the read-ahead is ignored when the loop is left", async () => {
    const { paginator, log, respond, reset } = controlledList();
    const iterator = paginator[Symbol.asyncIterator]();
    const first = iterator.next();
    await respond(1, items(0, 100));
    await first;
    await reset(2);
    expect(await iterator.return?.()).toEqual({ done: true, value: undefined });
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
    expect(log).toEqual(["request 1", "response 1", "request 2", "reset 2"]);
  });

  it.each<[string, (list: Paginator<Item>) => Promise<unknown>]>([
    ["of a loop", (list) => collect(list)],
    ["of `nextPage()`", async (list) => await (await list).nextPage()],
  ])("aborting during a pending page %s rejects with the error of that page", async (_, read) => {
    const controller = new AbortController();
    const { paginator, log, respond } = controlledList({ signal: controller.signal });
    const reading = errorOf(read(paginator));
    await respond(1, items(0, 100));
    await settled();
    const reason = new Error("enough");
    controller.abort(reason);
    expect(await reading).toMatchObject({ code: "aborted", cause: reason });
    expect(log).toEqual(["request 1", "response 1", "request 2", "abort"]);
  });

  it("aborting between two items ends the loop at the next one", async () => {
    const controller = new AbortController();
    const { paginator, log, respond } = controlledList({ signal: controller.signal });
    const seen: string[] = [];
    const reason = new Error("enough");
    const loop = errorOf(
      (async () => {
        for await (const item of paginator) {
          seen.push(item.id);
          if (item.id === "2") controller.abort(reason);
        }
      })(),
    );
    await respond(1, items(0, 100));
    const error = await loop;
    expect(error).toMatchObject({ code: "aborted", cause: reason, outcome: "not-applied" });
    expect(seen).toEqual(["0", "1", "2"]);
    expect(log).toEqual(["request 1", "response 1", "request 2", "abort"]);
  });

  it("aborting drops a buffered page", async () => {
    const controller = new AbortController();
    const { afterFirst, log, respond } = controlledList({ signal: controller.signal });
    const pages = await afterFirst();
    await respond(2, items(100, 150));
    controller.abort();
    expect(await errorOf(pages.next())).toBeInstanceOf(AbortError);
    expect(await pages.next()).toEqual({ done: true, value: undefined });
    expect(log).toEqual(["request 1", "response 1", "request 2", "response 2"]);
  });

  it("aborting after the last page has no effect", async () => {
    const controller = new AbortController();
    const { afterFirst } = controlledList({ signal: controller.signal });
    const pages = await afterFirst(5);
    controller.abort();
    expect(await pages.next()).toEqual({ done: true, value: undefined });
  });

  it("no listener stays on the signal, however the loop ends", async () => {
    const { signal } = new AbortController();
    const listeners = () => getEventListeners(signal, "abort").length;
    const { paginator } = servedList((page) => items(page * 100, page * 100 + (page < 5 ? 100 : 7)), {
      signal,
    });
    await collect(paginator);
    expect(listeners()).toBe(0);
    for await (const _ of paginator) break;
    expect(listeners()).toBe(0);
  });
});
