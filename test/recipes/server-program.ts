import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createMockService, type MockService } from "audience-sdk/mock";
import { onTestFinished } from "vitest";
import { eventually } from "../eventually.ts";
import { runNode } from "../package/programs.ts";
import { freePort } from "../redis/redis-server.ts";

export interface ServerProgram {
  readonly url: string;
  readonly child: ChildProcess;
  /** All that it printed so far. */
  printed(): string;
}

interface Start {
  readonly folder: string;
  readonly env: Record<string, string>;
}

/** Starts a program that listens on `PORT`, and waits until it does. It is ended with the test. */
export async function startServer(args: readonly string[], { folder, env }: Start): Promise<ServerProgram> {
  const port = await freePort();
  // The variables of the test runner would change the program under test.
  const { NODE_ENV: _, VITEST: _1, NODE_OPTIONS: _2, ...own } = process.env;
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...own, ...env, PORT: `${port}` },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (printed += String(text)));
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually(() => {
    if (child.exitCode !== null) throw new Error(printed);
    return fetch(url);
  });
  return { url, child, printed: () => printed };
}

/** Ends a program as a container's host does; resolves to its exit code or signal, and to how long it took. */
export async function stopServer({ child }: ServerProgram): Promise<{ end: unknown }> {
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  const [exitCode, signal] = await ended;
  return { end: exitCode ?? signal };
}

/** A mock over HTTP, and the environment that names it; closed with the test. */
export async function startMock(
  mock = createMockService(),
): Promise<{ mock: MockService; env: Record<string, string> }> {
  const { clientOptions, close } = await mock.listen();
  onTestFinished(close);
  const { baseUrl, apiKey } = clientOptions;
  return { mock, env: { AUDIENCE_BASE_URL: baseUrl, AUDIENCE_API_KEY: apiKey } };
}

/** E-mail addresses of the mock with their consent. */
export function consentsOf(mock: MockService): Record<string, unknown> {
  const consents: Record<string, unknown> = {};
  for (const { email, email_opt_in } of mock.organization("mock-organization").contacts)
    consents[String(email)] = email_opt_in;
  return consents;
}

/** A POST of JSON: its status, and the JSON of the response. */
export async function post(url: string, body: unknown): Promise<{ status: number; body: unknown }> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, body: await response.json() };
}

/** What a new project of TypeScript says, beside what its framework asks for. */
const common = {
  target: "ES2022",
  module: "NodeNext",
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  rewriteRelativeImportExtensions: true,
  types: ["node"],
  outDir: "out",
};

/** Compiles a project to `out`, with its own compiler; resolves to what the compiler says: nothing, if all is well. */
export async function compileRecipe(folder: string, options: Record<string, unknown>): Promise<string> {
  const config = { compilerOptions: { ...common, ...options }, include: ["*.ts"] };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
  const { stdout, stderr } = await runNode(folder, "node_modules/typescript/bin/tsc");
  return stdout + stderr;
}
