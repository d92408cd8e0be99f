import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RateLimiter } from "audience-sdk";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { bundleProgram } from "../bundle-program.ts";

const oneASecond = { windows: [{ limit: 1, intervalMs: 1_000 }] };

afterEach(() => void vi.useRealTimers());

describe("time", () => {
  it("advances with fake timers", async () => {
    vi.useFakeTimers();
    const limiter = new RateLimiter();
    const left: number[] = [];
    for (let call = 0; call < 25; call += 1) {
      void limiter.acquire().then((permit) => {
        left.push(Math.floor(performance.now() / 1_000));
        permit.release("responded");
      });
    }
    await vi.advanceTimersByTimeAsync(5_000);
    expect(left.filter((second) => second === left[0])).toHaveLength(10);
    expect(left).toHaveLength(25);
  });

  it("that is set back counts as no time passed", async () => {
    let now = 1_000;
    const limiter = new RateLimiter({ ...oneASecond, clock: () => now });
    (await limiter.acquire()).release("responded");
    now = 400;
    expect(limiter.usage().windows[0]).toMatchObject({ used: 1, freeInMs: 1_006 });
    now = 1_405;
    expect(limiter.usage().windows[0]).toMatchObject({ used: 1, freeInMs: 1 });
    now = 1_406;
    expect(limiter.usage().windows[0]).toMatchObject({ used: 0, freeInMs: 0 });
  });
});

describe("the process", () => {
  const folder = mkdtempSync(join(tmpdir(), "limiter-"));
  const program = join(folder, "program.mjs");
  beforeAll(() => bundleProgram("test/rate-limiter/waiting-program.ts", program));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** What a process with these calls writes, and its exit code. */
  async function run(calls: "waiting" | "idle"): Promise<{ written: string; code: unknown }> {
    const child = spawn(process.execPath, [program, calls]);
    let written = "";
    child.stdout.on("data", (chunk: Buffer) => (written += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (written += chunk.toString()));
    const [code] = (await once(child, "close")) as unknown[]; // the event's own arguments
    return { written, code };
  }

  it("is kept alive by a waiting call until its permit is granted", async () => {
    expect(await run("waiting")).toEqual({ written: "left\n", code: 0 });
  });

  it("is not kept alive by an idle limiter, nor by one whose calls were aborted", async () => {
    expect(await run("idle")).toEqual({ written: "gave up\nat once\n", code: 0 });
  });
});
