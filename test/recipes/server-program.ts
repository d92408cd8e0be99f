import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createMockService, type MockService } from "audience-sdk/mock";
import { onTestFinished } from "vitest";
import { eventually } from "../eventually.ts";
import { runNode } from "../package/programs.ts";
import { freePort } from "../redis/redis-server.ts";
import { type RecipeProgram, startProgram } from "./recipe-program.ts";

export interface ServerProgram extends RecipeProgram {
  readonly url: string;
}

interface Start {
  readonly folder: string;
  readonly env: Record<string, string>;
}

/** Starts a program that listens on `PORT`, and waits until it does. It is ended with the test. */
export async function startServer(args: readonly string[], { folder, env }: Start): Promise<ServerProgram> {
  const port = await freePort();
  const program = startProgram(args, { ...env, PORT: `${port}` }, folder);
  const url = `http://127.0.0.1:${port}`;
  await eventually(() => {
    if (program.child.exitCode !== null) throw new Error(program.printed());
    return fetch(url);
  });
  return { url, ...program };
}

/** Ends a program as a container's host does; resolves to its exit code or signal. */
export async function stopServer({ child, ended }: ServerProgram): Promise<unknown> {
  child.kill("SIGTERM");
  return await ended;
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
