import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createMockService } from "audience-sdk/mock";
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from "vitest";
import { compile, ownCompiler, projects, someProjects } from "../package/compile.ts";
import { loaders, programs, runProgram } from "../package/programs.ts";
import { RedisServer } from "../redis/redis-server.ts";
import { describeWithRedis } from "../redis/with-redis.ts";
import { bundleWorker, configureWorker, serveWorker } from "./workerd.ts";

const { consumer } = inject("installed");
const platforms = inject("platforms");
const { bun, deno, workerd } = platforms;

// Node is always available, and runs first to check the programs themselves.
const runtimes = [
  { runtime: "Node", command: [process.execPath] },
  { runtime: "Bun", command: bun && [bun, "run"] },
  { runtime: "Deno", command: deno && [deno, "run", "--allow-all"] },
].flatMap(({ runtime, command }) =>
  loaders.flatMap((loader) => (command ? [{ runtime, loader, command: [...command, `./${loader}`] }] : [])),
);

describe.each(runtimes)("On $runtime, loaded as $loader does", ({ command: [command = "", ...args] }) => {
  async function run(program: string, entryPoint: string): Promise<unknown> {
    const { exitCode, stdout, stderr } = await runProgram(command, [...args, entryPoint, program], {
      folder: consumer,
      env,
    });
    expect(exitCode, stderr).toBe(0);
    const results: Record<string, unknown> = JSON.parse(stdout);
    return results[program];
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

// With every option given, a client needs no permission of the runtime, such as that to read the environment.
const withoutPermissions = `
import { AudienceClient } from "audience-sdk";

const fetch = async () => new Response('{"data":{"id":"c-1"}}');
const options = { baseUrl: "https://api.example.com", apiKey: "a-key-that-is-long", fetch };
const { id } = await new AudienceClient(options).v1.customers.get("c-1");
console.log(JSON.stringify({ id }));
`;

describe.each(deno ? [deno] : [])("On Deno, without a permission", (command) => {
  it("a client works that was given all its options", async () => {
    await writeFile(join(consumer, "without-permissions.mjs"), withoutPermissions);
    const args = ["run", "--no-prompt", "./without-permissions.mjs"];
    const { exitCode, stdout, stderr } = await runProgram(command, args, { folder: consumer });

    expect(exitCode, stderr).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ id: "c-1" });
  });
});

describe.each(workerd === undefined ? [] : [workerd])("On Cloudflare's workerd", (program) => {
  beforeAll(() =>
    cp(fileURLToPath(new URL("worker", import.meta.url)), consumer, { recursive: true, force: true }),
  );

  it("client, schemas and mock run, without eval and without a module of Node", async () => {
    await bundleWorker(consumer, "in-process.mjs");
    const config = await configureWorker(consumer, "in-process.mjs", {});
    const { exitCode, stdout, stderr } = await runProgram(program, ["test", config], { folder: consumer });

    expect(exitCode, stderr).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      scenario: programs["scenario"]?.expected,
      failures: programs["failures"]?.expected,
      contacts: 1,
    });
  });

  it("requests do not wait for each other, because their timers and connections end with them", async () => {
    const mock = createMockService();
    const { url: BASE_URL, close } = await mock.listen();
    onTestFinished(close);
    await bundleWorker(consumer, "over-http.mjs");
    const texts = { BASE_URL, API_KEY: mock.clientOptions.apiKey };
    const config = await configureWorker(consumer, "over-http.mjs", texts);
    const url = await serveWorker(program, consumer, config);

    // More than ten a second in total, and in one of the requests.
    const calls = [1, 2, 12, 3, 1, 2];
    const responses = await Promise.all(calls.map((count) => fetch(`${url}/?calls=${count}`)));

    expect(await Promise.all(responses.map((response) => response.text()))).toEqual(calls.map(() => "true"));
    expect(mock.organization("mock-organization").contacts).toHaveLength(21);
  });
});

const others = (["typescript@5.8", "typescript@6", "typescript@7"] as const).flatMap((name) => {
  const tsc = platforms[name];
  return tsc === undefined ? [] : [{ name, tsc: [tsc], of: someProjects }];
});
const compilers = [{ name: "the suite's own", tsc: ownCompiler, of: projects }, ...others].flatMap(
  ({ of, ...compiler }) => of.map((project) => ({ ...compiler, ...project })),
);

describe("The declarations compile with all library checks", () => {
  it.each(compilers)("in $name, under $resolver, with $runtime", async ({ tsc, ...project }) => {
    const { exitCode, stdout } = await compile(tsc, project, consumer);

    expect(exitCode, stdout).toBe(0);
  });
});
