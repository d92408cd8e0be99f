import { AudienceClient, ConfigurationError, RateLimiter } from "audience-sdk";
import { readSnapshot, type ReadSnapshotOptions, type SnapshotProgress } from "audience-sdk/snapshot";
import { describe, expect, it, vi } from "vitest";
import { createAudience, temporaryFolder } from "./fixture.ts";

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

  it("without a total and without a rate limiter, only what has come", async () => {
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
    ["no file", {}, "file must be the path of a file"],
    ["an unknown field set", { file: "x", fields: "names" }, "fields must be"],
    ["a misspelled option", { file: "x", onprogress: () => {} }, "did you mean onProgress?"],
    ["a priority of 10", { file: "x", priority: 10 }, "priority must be an integer from 0"],
  ])("%s", async (_, options, message) => {
    const { audience, mock } = createAudience(1);

    // Safe: the test gives what the compiler refuses.
    const reading = readSnapshot(audience, options as unknown as ReadSnapshotOptions);

    await expect(reading).rejects.toThrow(ConfigurationError);
    await expect(reading).rejects.toThrow(message);
    expect(mock.requests).toEqual([]);
  });

  it("something else than a client", async () => {
    const { audience, file } = createAudience(1);

    const reading = readSnapshot(audience.v1 as unknown as AudienceClient, { file });

    await expect(reading).rejects.toThrow("The client of readSnapshot must be an AudienceClient");
  });

  it("a client without the v1 family, which alone lists contacts", async () => {
    const audience = new AudienceClient({ baseUrlV2: "https://api2.example", apiKey: "key", appId: "app" });

    const reading = readSnapshot(audience, { file: `${temporaryFolder()}/audience.ndjson` });

    await expect(reading).rejects.toThrow("The v1 family needs baseUrl");
  });
});
