import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { build } from "esbuild";
import { onTestFinished } from "vitest";

/** Bundles a worker like its own tools do. */
export async function bundleWorker(folder: string, worker: string): Promise<void> {
  await build({
    absWorkingDir: folder,
    entryPoints: [worker],
    outfile: `${worker}.bundle.mjs`,
    allowOverwrite: true,
    bundle: true,
    format: "esm",
    conditions: ["workerd", "worker", "browser"],
    // The program with Redis is bundled too, and not run.
    external: ["node:*", "cloudflare:*", "ioredis"],
    logLevel: "silent",
  });
}

/** Writes the configuration of workerd for a bundled worker with these texts, and with what else it needs. */
export async function configureWorker(
  folder: string,
  worker: string,
  texts: Readonly<Record<string, string>>,
  { bindings = "", more = 'compatibilityDate = "2024-09-01",' } = {},
): Promise<string> {
  // Several workers may start at a time.
  const file = `${randomUUID()}.capnp`;
  const ofTexts = Object.entries(texts).map(([name, text]) => `(name = "${name}", text = "${text}"), `);
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
      bindings = [${ofTexts.join("")}${bindings}],
      globalOutbound = "loopback",
      ${more}
    );
  `;
  await writeFile(join(folder, file), config);
  return file;
}

/** The address of a worker on workerd, which is stopped when the test ends. */
export async function serveWorker(program: string, folder: string, config: string): Promise<string> {
  const server = spawn(program, ["serve", config, "--control-fd=3"], {
    cwd: folder,
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
