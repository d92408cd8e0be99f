import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";

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
