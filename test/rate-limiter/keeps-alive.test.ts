import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const limiter = fileURLToPath(new URL("../../src/rate-limiter/rate-limiter.ts", import.meta.url));

/** Runs a program in its own process; returns its output and its exit code. */
async function run(program: string): Promise<{ written: string; code: unknown }> {
  const source = `import { RateLimiter } from ${JSON.stringify(limiter)};\n${program}`;
  const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "--eval", source]);
  let written = "";
  child.stdout.on("data", (chunk: Buffer) => (written += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (written += chunk.toString()));
  const [code] = (await once(child, "close")) as unknown[]; // the event's own arguments
  return { written, code };
}

it("a waiting call keeps the process alive until its permit is granted", async () => {
  const ended = await run(`
    const limiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 200 }] });
    (await limiter.acquire()).release("responded");
    await limiter.acquire();
    console.log("left");
  `);
  expect(ended).toEqual({ written: "left\n", code: 0 });
});

it("an idle limiter does not keep it alive, and neither does one whose calls were aborted", async () => {
  const ended = await run(`
    const limiter = new RateLimiter();
    for (let call = 0; call < 10; call += 1) (await limiter.acquire()).release("responded");
    const controller = new AbortController();
    const waits = limiter.acquire({ signal: controller.signal }).catch((reason) => console.log(reason));
    controller.abort("gave up");
    await waits;
    const before = performance.now();
    process.on("exit", () => console.log(performance.now() - before < 500 ? "at once" : "late"));
  `);
  expect(ended).toEqual({ written: "gave up\nat once\n", code: 0 });
});
