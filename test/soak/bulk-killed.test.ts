import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMockService } from "audience-sdk/mock";
import { expect, it, onTestFinished } from "vitest";
import {
  describeWithContainers,
  expectNothingLostOrDoubled,
  killedImport,
  runInContainer,
} from "../bulk/killed-import/killed-import.ts";
import { rowOf } from "../bulk/killed-import/rows.ts";
import { bundleProgram } from "../bundle-program.ts";
import { eventually } from "../eventually.ts";

it("An import of 2,000 rows that is killed twenty times loses no row, and sends no row again that is recorded as done", async () => {
  const killed = await killedImport({ rows: 2_000, kills: 20, concurrency: 10, longestLifeMs: 600 });

  const sent = killed.lives.flatMap((life) => life.sent);
  console.log({
    perLife: killed.lives.map((life) => life.sent.length).join(" "),
    requests: sent.length,
    sentTwice: sent.length - new Set(sent).size,
    ...killed.summary,
    ids: killed.summary.ids.length,
  });
  expectNothingLostOrDoubled(killed, 10);
});

describeWithContainers("An import in containers that share its checkpoint", () => {
  const count = 600;

  /** Starts an import in a container of its own, which has sent something when this returns. */
  async function startImport() {
    const folder = await mkdtemp(join(tmpdir(), "containers-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    // Slow enough that the first is not done before it is stopped, on a busy machine too.
    const mock = createMockService({ latencyMs: [60, 200] });
    const server = await mock.listen({ port: 0 });
    onTestFinished(() => server.close());
    const program = join(folder, "import.mjs");
    await bundleProgram("test/bulk/killed-import/child.ts", program);
    const { apiKey } = server.clientOptions;
    const args = [program, server.url, apiKey, join(folder, "import.ckpt"), String(count), "10"];
    const sent = () => mock.requests.map(({ body }) => rowOf(body));

    const first = runInContainer(args);
    await eventually(() => expect(sent().length).toBeGreaterThan(100));
    return { first, startSecond: () => runInContainer(args), sent };
  }

  /** Stops the first of two imports, and runs the second to its end. */
  async function twoImports(stop: (pid: number) => void) {
    const { first, startSecond, sent } = await startImport();
    const children = await readFile(`/proc/${first.child.pid}/task/${first.child.pid}/children`, "utf8");
    stop(Number(children));
    const startedMs = performance.now();
    const second = await startSecond().ended;
    const tookMs = performance.now() - startedMs;
    expect(second).toMatchObject({ code: 0, errors: "" });
    // Those that were in doubt, and must not be sent again.
    const { ids: unknown } = JSON.parse(second.out) as { ids: string[] };
    expect(new Set([...sent(), ...unknown]).size).toBe(count);
    return { first, pid: Number(children), sent, tookMs };
  }

  it("is refused while the first one runs, also with one host name, and no row is sent twice", async () => {
    const { first, startSecond, sent } = await startImport();

    const second = await startSecond().ended;

    expect(second.code).toBe(1);
    expect(second.errors).toMatch(/ConfigurationError: .* is in use: another process renews its lock/);
    const { code, out, errors } = await first.ended;
    expect({ code, errors }).toEqual({ code: 0, errors: "" });
    expect(JSON.parse(out)).toMatchObject({ total: count, succeeded: count });
    expect(new Set(sent()).size).toBe(count);
    expect(sent()).toHaveLength(count);
  });

  it("continues after the first container was killed, once it has waited for the lock", async () => {
    const { first, sent, tookMs } = await twoImports((pid) => process.kill(pid, "SIGKILL"));
    await first.ended;

    expect(tookMs).toBeGreaterThan(20_000);
    expect(sent().length - count).toBeLessThanOrEqual(10);
  });

  it("takes over from a container that stands still, which then stops before its next write", async () => {
    const { first, pid, sent } = await twoImports((each) => process.kill(each, "SIGSTOP"));
    const before = sent().length;

    process.kill(pid, "SIGCONT");
    const { code, errors } = await first.ended;

    expect(code).toBe(1);
    expect(errors).toContain("its lock was taken over, deleted or replaced. It stops before it writes.");
    expect(before - count).toBeLessThanOrEqual(10);
    // Calls that were already recorded when it was stopped.
    expect(sent().length - before).toBeLessThanOrEqual(10);
  });
});
