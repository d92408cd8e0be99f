import { chmodSync, readdirSync, readFileSync, readlinkSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { AudienceClient, ConfigurationError, RateLimiter, UnexpectedResponseError } from "audience-sdk";
import { readSnapshot, type ReadSnapshotOptions, type SnapshotProgress } from "audience-sdk/snapshot";
import { describe, expect, it, vi } from "vitest";
import { collect, createAudience, linesOf, people } from "./fixture.ts";

describe("A snapshot holds every contact once", () => {
  it("reads pages of 100, and knows that it is complete", async () => {
    const { audience, file, mock } = createAudience(250);

    using today = await readSnapshot(audience, { file });

    expect(today.size).toBe(250);
    expect(today.complete).toBe(true);
    expect(mock.requests.map(({ path }) => path)).toEqual(Array(3).fill("/api/v1/customer"));
    expect(mock.requests.map(({ query }) => [query["page"], query["limit"]])).toEqual([
      ["1", "100"],
      ["2", "100"],
      ["3", "100"],
    ]);
    expect((await collect(today)).map(({ id }) => id)).toEqual(people(250).map(({ id }) => id));
  });

  /** A fetch of these contacts in such pages, which says nothing of its page size; the second call may fail, as in a kill. */
  const pagesOf = (all: readonly object[], pageSize: number, isKilled: boolean) => {
    let calls = 0;
    return async (url: string) => {
      calls += 1;
      if (isKilled && calls === 2) throw new TypeError("killed");
      const end = Number(new URL(url).searchParams.get("page")) * pageSize;
      return Response.json({ data: all.slice(end - pageSize, end), total_items: all.length });
    };
  };

  it.each([50, 85, 100])("where a page has %i contacts, also after a kill", async (pageSize) => {
    const { client, file } = createAudience(0);
    const all = people(170);
    const fetch = pagesOf(all, pageSize, true);
    await expect(readSnapshot(client({ fetch }), { file })).rejects.toThrow("The connection to");

    using today = await readSnapshot(client({ fetch }), { file });

    expect(today).toMatchObject({ size: 170, complete: true });
    expect((await collect(today)).map(({ id }) => id)).toEqual(all.map(({ id }) => id));
  });

  it.each([
    ["an empty array", () => Response.json([])],
    ["a 404", () => Response.json({ message: "no such page" }, { status: 404 })],
    ["the last page once more", (last: readonly object[]) => Response.json(last)],
  ])(
    "where pages are smaller than asked for, and nothing tells how many there are: %s ends it",
    async (_, end) => {
      const { client, file } = createAudience(0);
      const all = people(70);
      const pages: number[] = [];
      const fetch = async (url: string) => {
        const page = Number(new URL(url).searchParams.get("page"));
        pages.push(page);
        return page > 3 ? end(all.slice(50)) : Response.json(all.slice((page - 1) * 25, page * 25));
      };

      using today = await readSnapshot(client({ fetch }), { file });

      expect((await collect(today)).map(({ id }) => id)).toEqual(all.map(({ id }) => id));
      expect(pages).toEqual([1, 2, 3, 4]);
    },
  );

  // The worlds of test/properties play it over pages, with kills between.
  it("of a contact that comes twice the stricter consent of each channel counts, in every attribute too", async () => {
    const refused = { email_opt_in: "UNSUBSCRIBED", is_suppressed: true };
    const later = { email_opt_in: "SUBSCRIBED", phone_opt_in: "NON_SUBSCRIBED", is_suppressed: null };
    for (const [first, second] of [
      [refused, later],
      [later, refused],
    ]) {
      const { client, file } = createAudience(0);
      const all = [
        { id: "1", email: "old@example.com", ...first },
        { id: "2", email_opt_in: "SUBSCRIBED" },
        { id: "1", email: "new@example.com", ...second },
      ];

      using today = await readSnapshot(client({ fetch: pagesOf(all, 100, false) }), { file, fields: "all" });

      const strictest = {
        email_opt_in: "UNSUBSCRIBED",
        phone_opt_in: "NON_SUBSCRIBED",
        is_suppressed: true,
      };
      expect(today.size).toBe(2);
      expect(today.find({ id: "1" })).toMatchObject({
        email: "new@example.com",
        ...strictest,
        attributes: strictest,
      });
    }
  });

  it.each([
    ["a total changes", "totals", 151],
    ["no total is told", "links", 150],
  ] as const)("is not complete where %s", async (_, v1Paging, size) => {
    const { client, file, mock } = createAudience(150, { variants: { v1Paging } });
    const website = client();
    const fetch = async (url: string, init: RequestInit) => {
      const response = await mock.fetch(url, init);
      // The total of the next page is another one.
      if (v1Paging === "totals" && url.includes("page=1"))
        await website.v1.customers.upsert({ email: "new@example.com" });
      return response;
    };

    using today = await readSnapshot(client({ fetch }), { file });

    expect(today).toMatchObject({ size, complete: false });
  });
});

it("A list that repeats its pages ends a read with an error, and the next one begins afresh", async () => {
  const { client, file } = createAudience(0);
  const all = people(300);
  const [first, second, third] = [0, 100, 200].map((start) => all.slice(start, start + 100));
  let pages = [first, first, first];
  const fetch = async (url: string) =>
    Response.json({ data: pages[Number(new URL(url).searchParams.get("page")) - 1] ?? [], total_items: 300 });
  const reading = readSnapshot(client({ fetch }), { file });
  await expect(reading).rejects.toThrow(UnexpectedResponseError);
  await expect(reading).rejects.toThrow("repeat pages");
  pages = [first, second, third];

  using today = await readSnapshot(client({ fetch }), { file });

  expect(today).toMatchObject({ size: 300, complete: true });
});

describe("The file of a snapshot", () => {
  it("keeps no name and no address but e-mail and phone", async () => {
    const { audience, file } = createAudience(1);

    using today = await readSnapshot(audience, { file });

    const { updated, ...contact } = today.find({ id: "id-0" }) ?? {};
    expect(contact).toEqual({
      id: "id-0",
      email: "person-0@example.com",
      phone: "+491710000000",
      email_opt_in: "SUBSCRIBED",
      phone_opt_in: "NON_SUBSCRIBED",
      is_suppressed: false,
    });
    expect(Date.parse(updated ?? "")).not.toBeNaN();
    expect(linesOf(file)[1]).toEqual({ ...contact, updated, readAt: expect.any(String) });
    expect(readFileSync(file, "utf8")).not.toContain("mock-key");
  });

  it('keeps every attribute with `fields: "all"`', async () => {
    const { audience, file } = createAudience(1);

    using today = await readSnapshot(audience, { file, fields: "all" });

    expect(today.find({ id: "id-0" })?.attributes).toMatchObject({ first_name: "Ada", source: "api" });
  });

  it("keeps what the service shows in an unusual form, and leaves out what it does not show", async () => {
    const { client, file } = createAudience(0);
    const data = [{ id: 7, phone: 4917, email: " ", email_opt_in: null, is_suppressed: "no", updated: 5 }];

    using today = await readSnapshot(client({ fetch: async () => Response.json({ data }) }), { file });

    expect(await collect(today)).toEqual([{ id: "7", phone: "4917", updated: "5" }]);
  });

  it("shows a documented status as it is documented, in whatever case it came, so that it can be written", async () => {
    const { client, file } = createAudience(0);
    const data = [{ id: "a", email_opt_in: " unsubscribed", phone_opt_in: "Subscribed" }];

    using today = await readSnapshot(client({ fetch: async () => Response.json({ data }) }), { file });

    const contact = { id: "a", email_opt_in: "UNSUBSCRIBED", phone_opt_in: "SUBSCRIBED" };
    expect(await collect(today)).toEqual([contact]);
    expect((await collect(today.refusalsSince())).map((each) => each.contact)).toEqual([contact]);
  });

  it("tells once of a consent by a word that is not documented", async () => {
    const warn = vi.fn();
    const { client, file } = createAudience(0);
    const of = (id: number, email_opt_in: string) => ({ id, email: `p${id}@example.com`, email_opt_in });
    const data = [of(1, "OPTED_OUT"), of(2, "OPTED_IN"), of(3, "SUBSCRIBED")];
    const fetch = async () => Response.json({ data });

    using today = await readSnapshot(client({ fetch, logger: { warn } }), { file });

    expect(await collect(today.refusalsSince())).toEqual([]);
    expect(warn.mock.calls.map(String)).toEqual([expect.stringContaining("a word that is not documented")]);
  });

  it("is readable by its owner alone, and the one that it replaces is gone", async () => {
    const { audience, file, folder } = createAudience(1);
    (await readSnapshot(audience, { file })).close();
    chmodSync(file, 0o644);

    (await readSnapshot(audience, { file })).close();

    // Windows knows no owner.
    expect(statSync(file).mode & 0o777).toBe(process.platform === "win32" ? 0o666 : 0o600);
    expect(readdirSync(folder)).toEqual(["audience.ndjson"]);
  });

  it("is replaced where a link names it", async () => {
    const { audience, file, folder } = createAudience(1);
    (await readSnapshot(audience, { file })).close();
    const link = join(folder, "link.ndjson");
    symlinkSync(file, link);

    (await readSnapshot(audience, { file: link, fields: "all" })).close();

    expect(readlinkSync(link)).toBe(file);
    expect(linesOf(file)[0]).toMatchObject({ fields: "all" });
  });
});

describe("The calls of a read", () => {
  it.each([
    ["go last, at priority 9", {}, 9],
    ["go at the priority that is given", { priority: 2 }, 2],
  ])("%s", async (_, options, priority) => {
    const rateLimiter = new RateLimiter();
    const acquire = vi.spyOn(rateLimiter, "acquire");
    const { client, file } = createAudience(1);

    (await readSnapshot(client({ rateLimiter }), { file, ...options })).close();

    expect(acquire).toHaveBeenCalledWith(expect.objectContaining({ priority }));
  });

  it("wait as long as they must, whatever the client's calls may wait", async () => {
    const { client, file } = createAudience(150);
    const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 50 }], reserve: 0 });

    using today = await readSnapshot(client({ rateLimiter, deadlineMs: 30 }), { file });

    expect(today.size).toBe(150);
  });
});

describe("`onProgress` tells how far the read is", () => {
  it("the contacts that have come, all of them, and the time left by the rate limiter", async () => {
    const { client, file } = createAudience(250);
    const rateLimiter = new RateLimiter({ windows: [{ limit: 100, intervalMs: 60_000 }] });
    const estimateMs = vi.spyOn(rateLimiter, "estimateMs");
    const progress: SnapshotProgress[] = [];

    const audience = client({ rateLimiter });
    (await readSnapshot(audience, { file, onProgress: (each) => progress.push(each) })).close();

    expect(progress).toEqual([
      { done: 100, total: 250, etaMs: expect.any(Number) },
      { done: 200, total: 250, etaMs: expect.any(Number) },
      { done: 250, total: 250, etaMs: 0 },
    ]);
    expect(estimateMs.mock.calls.map(([calls]) => calls)).toEqual([2, 1, 0]);
    expect(estimateMs.mock.calls[0]?.[1]).toMatchObject({ priority: 9 });
  });

  it("without a total, only what has come", async () => {
    const { audience, file } = createAudience(150, { variants: { v1Paging: "links" } });
    const progress: SnapshotProgress[] = [];

    (await readSnapshot(audience, { file, onProgress: (each) => progress.push(each) })).close();

    expect(progress).toEqual([{ done: 100 }, { done: 150 }]);
  });

  it("if it throws, that is one line of the logger", async () => {
    const warn = vi.fn();
    const { client, file } = createAudience(250);
    const logger = { debug: vi.fn(), info: vi.fn(), warn, error: warn };
    const fail = () => {
      throw new Error("no terminal");
    };

    using today = await readSnapshot(client({ logger }), { file, onProgress: fail });

    expect(today.size).toBe(250);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(String(warn.mock.calls[0]?.[0])).toContain("onProgress");
  });
});

describe("Wrong arguments are refused before anything is sent", () => {
  it.each([
    ["no file", {}, "file must be a string that is not empty"],
    ["an unknown field set", { file: "x", fields: "names" }, "fields must be"],
    ["a priority of 10", { file: "x", priority: 10 }, "priority must be an integer from 0"],
  ])("%s", async (_, options, message) => {
    const { audience, mock } = createAudience(1);

    // Safe: the test gives what the compiler refuses.
    const reading = readSnapshot(audience, options as unknown as ReadSnapshotOptions);

    await expect(reading).rejects.toThrow(ConfigurationError);
    await expect(reading).rejects.toThrow(message);
    expect(mock.requests).toEqual([]);
  });

  it("something else than a client, and a client without the v1 family, which alone lists contacts", async () => {
    const { audience, file } = createAudience(1);
    const v2Alone = new AudienceClient({ baseUrlV2: "https://api2.example", apiKey: "key", appId: "app" });

    await expect(readSnapshot(audience.v1 as unknown as AudienceClient, { file })).rejects.toThrow(
      "The client of readSnapshot must be an AudienceClient",
    );
    await expect(readSnapshot(v2Alone, { file })).rejects.toThrow("The v1 family needs baseUrl");
  });
});
