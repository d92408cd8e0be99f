import {
  copyFileSync,
  existsSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { AbortError, ConfigurationError } from "audience-sdk";
import {
  openSnapshot,
  readSnapshot,
  type ReadSnapshotOptions,
  type SnapshotProgress,
} from "audience-sdk/snapshot";
import { describe, expect, it, vi } from "vitest";
import { collect, createAudience, failingFrom, linesOf, people } from "./fixture.ts";

/** An audience of 450 contacts whose read has ended after this many pages. */
async function interrupted(pages: number) {
  const audience = createAudience(450);
  const { client, mock, file } = audience;
  const reading = readSnapshot(client({ fetch: failingFrom(pages + 1, mock.fetch) }), { file });
  await expect(reading).rejects.toThrow("failed before");
  const pagesRead = () => mock.requests.map(({ query }) => Number(query["page"]));
  return { ...audience, pagesRead, work: `${file}.part` };
}

const ids = people(450).map(({ id }) => id);
const dayMs = 86_400_000;

describe("A read that was interrupted goes on at the next call with the same file", () => {
  it("after the last page that it has written, and its time is that of its beginning", async () => {
    const { audience, file, folder, pagesRead, work } = await interrupted(2);
    const [heading] = linesOf(work);
    expect(existsSync(file)).toBe(false);

    using today = await readSnapshot(audience, { file });

    expect(pagesRead()).toEqual([1, 2, 3, 4, 5]);
    expect(today.readAt.toISOString()).toBe(heading?.["readAt"]);
    expect(today).toMatchObject({ size: 450, complete: true });
    expect((await collect(today)).map(({ id }) => id)).toEqual(ids);
    expect(readdirSync(folder)).toEqual(["audience.ndjson"]);
  });

  it.each([
    ["a torn line", (text: string) => text.slice(0, -5)],
    ["contacts without the end of their page", (text: string) => `${text}{"id":"id-200"}\n{"id":"id-201"}\n`],
    ["the zeros of a loss of power", (text: string) => `${text}${"\0".repeat(50)}\n`],
    ["a line of another program", (text: string) => `${text}[]\n`],
  ])("a kill may leave %s", async (_, damage) => {
    const { audience, file, work } = await interrupted(3);
    writeFileSync(work, damage(readFileSync(work, "utf8")));

    using today = await readSnapshot(audience, { file });

    expect(today).toMatchObject({ size: 450, complete: true });
    expect((await collect(today)).map(({ id }) => id)).toEqual(ids);
  });

  it("to a 404 for the page after a full one, where nothing tells the end", async () => {
    const { client, file, mock } = createAudience(200, { variants: { v1Paging: "none" } });
    await expect(readSnapshot(client({ fetch: failingFrom(3, mock.fetch) }), { file })).rejects.toThrow(
      "failed before",
    );
    const fetch = async () => Response.json({ message: "no such page" }, { status: 404 });

    using today = await readSnapshot(client({ fetch }), { file });

    expect(today.size).toBe(200);
  });

  const all = [1, 2, 3, 4, 5];
  it.each<[string, (text: string) => string, Partial<ReadSnapshotOptions>, number, number[]]>([
    ["begins afresh over an empty file", () => "", {}, 0, all],
    ["begins afresh over half a heading", (text) => text.slice(0, 20), {}, 0, all],
    ["begins afresh over another file", () => "id;email\n", {}, 0, all],
    ["begins afresh with other fields", (text) => text, { fields: "all" }, 0, all],
    ["begins afresh after more than a day", (text) => text, {}, dayMs + 1_000, all],
    ["begins afresh where its time lies ahead by more than a day", (text) => text, {}, -dayMs - 1_000, all],
    ["goes on after a day", (text) => text, {}, dayMs, [3, 4, 5]],
  ])("%s", async (_, damage, options, laterMs, pages) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const { audience, file, work, pagesRead } = await interrupted(2);
    writeFileSync(work, damage(readFileSync(work, "utf8")));
    vi.setSystemTime(Date.now() + laterMs);

    using today = await readSnapshot(audience, { file, ...options });

    expect(pagesRead().slice(2)).toEqual(pages);
    expect(today).toMatchObject({ size: 450, complete: true });
    expect(today.find({ id: "id-0" })?.attributes?.first_name).toBe(options.fields && "Ada");
  });

  it.each([
    ["no word of it after an hour", 3_600_000, 0],
    ["a warning after more than an hour", 3_601_000, 1],
  ])("goes on with %s", async (_, laterMs, lines) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const { client, file, work } = await interrupted(2);
    const begunAt = String(linesOf(work)[0]?.["readAt"]);
    vi.setSystemTime(Date.parse(begunAt) + laterMs);
    const warn = vi.fn();

    (await readSnapshot(client({ logger: { warn } }), { file })).close();

    expect(warn).toHaveBeenCalledTimes(lines);
    const begun = expect.stringContaining(`goes on with a read that was begun at ${begunAt}`) as string;
    for (const call of warn.mock.calls) expect(call).toEqual([begun]);
  });
});

describe("A kill between the last two steps", () => {
  it("before the snapshot stands: no page is read again", async () => {
    const { audience, file, pagesRead, work } = await interrupted(2);
    (await readSnapshot(audience, { file })).close();
    const finished = pagesRead();
    // The read as it is when its last page has come.
    const [heading, ...contacts] = linesOf(file);
    const page = { page: 5, total: 450, isLast: true };
    writeFileSync(work, [heading, ...contacts, page].map((line) => `${JSON.stringify(line)}\n`).join(""));
    rmSync(file);

    using today = await readSnapshot(audience, { file });

    expect(pagesRead()).toEqual(finished);
    expect(today).toMatchObject({ size: 450, complete: true });
  });

  it("after it stands: the next read is a new one", async () => {
    const { audience, file, pagesRead, work } = await interrupted(2);
    copyFileSync(work, `${work}.copy`);
    (await readSnapshot(audience, { file })).close();
    copyFileSync(`${work}.copy`, work);
    const before = pagesRead().length;

    (await readSnapshot(audience, { file })).close();

    expect(pagesRead().slice(before)).toEqual([1, 2, 3, 4, 5]);
  });
});

it("The finished snapshot replaces an older one in one step, once it is whole: an open one stays as it was", async () => {
  const { audience, client, file, mock } = createAudience(450);
  (await readSnapshot(audience, { file })).close();
  using older = await openSnapshot(file);
  const { ino } = statSync(file);
  mock.unsubscribe("id-0", { organization: "acme", channel: "email" });
  await expect(readSnapshot(client({ fetch: failingFrom(3, mock.fetch) }), { file })).rejects.toThrow(
    "The connection to",
  );
  expect(statSync(file).ino).toBe(ino);

  using newer = await readSnapshot(audience, { file });

  expect(statSync(file).ino).not.toBe(ino);
  expect([older, newer].map((each) => each.find({ id: "id-0" })?.email_opt_in)).toEqual([
    "SUBSCRIBED",
    "UNSUBSCRIBED",
  ]);
});

describe("A read ends when it is aborted", () => {
  it("the next one goes on", async () => {
    const { audience, client, file, mock } = createAudience(450);
    const stop = new AbortController();
    const fetch = async (url: string, init: RequestInit) => {
      if (url.includes("page=3")) stop.abort();
      return await mock.fetch(url, init);
    };
    const reading = readSnapshot(client({ fetch }), { file, signal: stop.signal });
    await expect(reading).rejects.toThrow(AbortError);

    using today = await readSnapshot(audience, { file, signal: new AbortController().signal });

    expect(today).toMatchObject({ size: 450, complete: true });
    expect(mock.requests.filter(({ query }) => query["page"] === "1")).toHaveLength(1);
  });

  it("before it begins: nothing is sent or written", async () => {
    const { audience, file, folder, mock } = createAudience(1);

    const reading = readSnapshot(audience, { file, signal: AbortSignal.abort("stop") });

    await expect(reading).rejects.toMatchObject({ name: "AbortError", outcome: "not-sent", cause: "stop" });
    expect(mock.requests).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("One read of a file at a time", () => {
  it("a second one is refused", async () => {
    const { audience, client, file, mock } = createAudience(1);
    let second: Promise<unknown> = Promise.resolve();
    const fetch = async (url: string, init: RequestInit) => {
      second = readSnapshot(audience, { file }).catch((error: unknown) => error);
      await second;
      return await mock.fetch(url, init);
    };

    using today = await readSnapshot(client({ fetch }), { file });

    expect(today.size).toBe(1);
    expect(await second).toBeInstanceOf(ConfigurationError);
    expect(await second).toMatchObject({
      message: expect.stringMatching(/^The snapshot .+ is in use: another process renews its lock/),
    });
  });

  it("one after a kill waits for the lock that is not renewed, says so, and goes on", async () => {
    const { client, file } = createAudience(1);
    writeFileSync(`${file}.lock`, "of a killed process");
    vi.useFakeTimers({ toFake: ["setTimeout", "setInterval"] });
    const info = vi.fn();

    const reading = readSnapshot(client({ logger: { info }, logLevel: "info" }), { file });
    await vi.advanceTimersByTimeAsync(29_000);
    vi.useRealTimers();

    using today = await reading;
    expect(today.size).toBe(1);
    expect(info.mock.calls).toEqual([
      [expect.stringContaining("waits up to 30 s for the lock of another read")],
    ]);
  });

  it("one whose lock was taken over stops before it writes", async () => {
    const { client, file, mock } = createAudience(450);
    const fetch = async (url: string, init: RequestInit) => {
      if (url.includes("page=3")) rmSync(`${file}.lock`);
      return await mock.fetch(url, init);
    };

    const reading = readSnapshot(client({ fetch }), { file });

    await expect(reading).rejects.toThrow("its lock was taken over");
    expect(linesOf(`${file}.part`).filter((line) => "page" in line)).toHaveLength(2);
  });

  it.each([
    ["beside its next page", 200, "2"],
    ["behind its last page", 450, "5"],
  ])(
    "one whose part file was cut off meanwhile stops, and the older snapshot stays: %s",
    async (_, contacts, page) => {
      const { audience, file, mock } = createAudience(450);
      (await readSnapshot(audience, { file })).close();
      const older = readFileSync(file);
      const onProgress = ({ done }: SnapshotProgress) => {
        if (done === contacts) truncateSync(`${file}.part`, statSync(`${file}.part`).size - 10);
      };

      await expect(readSnapshot(audience, { file, onProgress })).rejects.toThrow(
        new ConfigurationError(
          `The snapshot ${file} is no longer this read's: its part file was cut off. It stops before it writes. Run this ` +
            "again: it goes on from what is there.",
        ),
      );

      expect(readFileSync(file)).toEqual(older);
      const sentBefore = mock.requests.length;
      using today = await readSnapshot(audience, { file });
      expect(today).toMatchObject({ size: 450, complete: true });
      expect(mock.requests[sentBefore]?.query).toMatchObject({ page });
    },
  );
});

describe("A file that cannot be a snapshot is refused, and left unchanged", () => {
  it.each([
    ["a file of yours", "id;email\n1;ada@example.com\n", "is not a snapshot"],
    ["a line without an end", "ada@example.com", "is not a snapshot"],
    ["of another version", '{"audience_snapshot":2}\n', "is a snapshot of another version (format 2"],
  ])("%s", async (_, text, message) => {
    const { audience, file, mock } = createAudience(1);
    writeFileSync(file, text);

    await expect(readSnapshot(audience, { file })).rejects.toThrow(message);
    await expect(openSnapshot(file)).rejects.toThrow(message);

    expect(readFileSync(file, "utf8")).toBe(text);
    expect(mock.requests).toEqual([]);
  });

  it("but an empty one is taken", async () => {
    const { audience, file } = createAudience(1);
    writeFileSync(file, "");

    using today = await readSnapshot(audience, { file });

    expect(today.size).toBe(1);
  });

  const tooFew = "it has 1 contacts, and its heading says 2";
  it.each<[string, (text: string) => string, string]>([
    ["a line too few", (text) => text.slice(0, text.lastIndexOf("{")), tooFew],
    ["a torn line", (text) => text.slice(0, -3), "its last line has no end"],
    ["a line of 2 MB behind it", (text) => `${text}${"z".repeat(2e6)}\n`, "is longer than a line may be"],
    ["no contact", (text) => text.replace('{"id":"id-1"', '{"it":"id-1"'), "a line of it is no contact"],
    ["no line", () => "", "is not a snapshot"],
  ])("a damaged one: %s", async (_, damage, message) => {
    const { audience, file } = createAudience(2);
    (await readSnapshot(audience, { file })).close();
    writeFileSync(file, damage(readFileSync(file, "utf8")));

    await expect(openSnapshot(file)).rejects.toThrow(message);
  });

  it("one in a folder that does not exist", async () => {
    const { audience, folder } = createAudience(1);

    const file = `${folder}/none/audience.ndjson`;
    for (const reading of [readSnapshot(audience, { file }), openSnapshot(file)])
      await expect(reading).rejects.toMatchObject({
        message: expect.stringContaining("cannot be read or written (ENOENT") as string,
        cause: { code: "ENOENT" },
      });
  });
});
