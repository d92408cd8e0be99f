import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createMockService } from "audience-sdk/mock";
import { build } from "esbuild";
import { beforeAll, describe, expect, inject, it, onTestFinished } from "vitest";
import { programs } from "../package/copy-programs.ts";
import { runProgram } from "../package/run-program.ts";

const consumer = inject("consumer");
const { workerd } = inject("platforms");

beforeAll(() =>
  cp(fileURLToPath(new URL("worker", import.meta.url)), consumer, { recursive: true, force: true }),
);

describe.each(workerd === undefined ? [] : [workerd])("On Cloudflare's workerd", (program) => {
  it("client, schemas and mock run, without eval and without a module of Node", async () => {
    const config = await configure("in-process", {});
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
    const config = await configure("over-http", { BASE_URL, API_KEY: mock.clientOptions.apiKey });
    const url = await serve(program, config);

    // More than ten a second in total, and in one of the requests.
    const calls = [1, 2, 12, 3, 1, 2];
    const responses = await Promise.all(calls.map((count) => fetch(`${url}/?calls=${count}`)));

    expect(await Promise.all(responses.map((response) => response.text()))).toEqual(calls.map(() => "true"));
    expect(mock.organization("mock-organization").contacts).toHaveLength(21);
  });
});

/** Bundles a worker like its own tools, and writes the configuration of workerd. */
async function configure(worker: string, bindings: Record<string, string>): Promise<string> {
  await build({
    absWorkingDir: consumer,
    entryPoints: [`${worker}.mjs`],
    outfile: `${worker}.bundle.mjs`,
    allowOverwrite: true,
    bundle: true,
    format: "esm",
    conditions: ["workerd", "worker", "browser"],
    external: ["node:*"],
    logLevel: "silent",
  });
  const texts = Object.entries(bindings).map(([name, text]) => `(name = "${name}", text = "${text}")`);
  const config = `
    using Workerd = import "/workerd/workerd.capnp";
    const config :Workerd.Config = (
      services = [
        (name = "main", worker = .main),
        (name = "loopback", network = (allow = ["local"])),
      ],
      sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
    );
    const main :Workerd.Worker = (
      modules = [(name = "main", esModule = embed "${worker}.bundle.mjs")],
      compatibilityDate = "2024-09-01",
      bindings = [${texts.join(", ")}],
      globalOutbound = "loopback",
    );
  `;
  await writeFile(join(consumer, `${worker}.capnp`), config);
  return `${worker}.capnp`;
}

/** The address of a worker, which is stopped when the test ends. */
async function serve(program: string, config: string): Promise<string> {
  const server = spawn(program, ["serve", config, "--control-fd=3"], {
    cwd: consumer,
    stdio: ["ignore", "inherit", "inherit", "pipe"],
  });
  onTestFinished(async () => {
    const ended = once(server, "exit");
    server.kill();
    await ended;
  });
  // Safe: the options above request a readable pipe.
  const lines = createInterface({ input: server.stdio[3] as NodeJS.ReadableStream });
  for await (const line of lines) {
    const { event, port }: { event?: string; port?: number } = JSON.parse(line);
    if (event === "listen") return `http://127.0.0.1:${port}`;
  }
  throw new Error("workerd ended before it listened.");
}
