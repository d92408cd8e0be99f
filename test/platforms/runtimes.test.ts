import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { loaders, programs } from "../package/copy-programs.ts";
import { runProgram } from "../package/run-program.ts";
import { RedisServer } from "../redis/redis-server.ts";
import { describeWithRedis } from "../redis/with-redis.ts";

const consumer = inject("consumer");
const { bun, deno } = inject("platforms");

// Node is always available, and runs first to check the programs themselves.
const runtimes = [
  { runtime: "Node", command: [process.execPath] },
  { runtime: "Bun", command: bun && [bun, "run"] },
  { runtime: "Deno", command: deno && [deno, "run", "--allow-all"] },
].flatMap(({ runtime, command }) =>
  loaders.flatMap((loader) => (command ? [{ runtime, loader, command: [...command, `./${loader}`] }] : [])),
);

describe.each(runtimes)("On $runtime, loaded as $loader does", ({ command: [command = "", ...args] }) => {
  async function run(...more: string[]): Promise<unknown> {
    const { exitCode, stdout, stderr } = await runProgram(command, [...args, ...more], {
      folder: consumer,
      env,
    });
    expect(exitCode, stderr).toBe(0);
    return JSON.parse(stdout);
  }
  const env: Record<string, string> = { DENO_NO_UPDATE_CHECK: "1" };

  it.each(["http", "process"])("a first program runs, over %s", async (entryPoint) => {
    expect(await run("scenario", entryPoint)).toEqual(programs["scenario"]?.expected);
  });

  it.each(["http", "process"])(
    "each failure is an error of its class that shows no key, over %s",
    async (entryPoint) => {
      expect(await run("failures", entryPoint)).toEqual(programs["failures"]?.expected);
    },
  );

  it("a stopped import continues from its checkpoint", async () => {
    expect(await run("import", "http")).toEqual(programs["import"]?.expected);
  });

  describeWithRedis("Redis", () => {
    let redis: RedisServer | undefined;
    beforeAll(async () => {
      redis = await RedisServer.start();
      env["REDIS_URL"] = redis.url;
    });
    afterAll(() => redis?.end());

    it("shares one budget between two limiters", async () => {
      expect(await run("budget", "process")).toEqual(programs["budget"]?.expected);
    });
  });
});

describe.each(deno ? [deno] : [])("On Deno, without a permission", (command) => {
  it("a client works that was given all its options", async () => {
    const args = ["run", "--no-prompt", "./without-permissions.mjs"];
    const { exitCode, stdout, stderr } = await runProgram(command, args, { folder: consumer });

    expect(exitCode, stderr).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ id: "c-1" });
  });
});
