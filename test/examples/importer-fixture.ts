import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text as textOf } from "node:stream/consumers";
import { RateLimiter } from "audience-sdk";
import { createMockService, type MockService } from "audience-sdk/mock";
import { onTestFinished, vi } from "vitest";
import { runImporter } from "../../examples/importer/importer.ts";
import { answerAll } from "./importer-answers.ts";

export const list = { id: "readers", name: "Readers", type: "LIST" as const };

export const otherList = { id: "members", name: "Members", type: "LIST" as const };

export const segment = { id: "regulars", name: "Regulars", type: "SEGMENT" as const };

/** A folder that is removed after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "importer-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** Writes the lines of a CSV file, and returns its path. */
export async function csv(folder: string, name: string, ...lines: string[]): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, lines.map((line) => `${line}\n`).join(""));
  return path;
}

/** The importer for a user who has answered its questions in the maps. */
export async function run(args: string[], env: NodeJS.ProcessEnv = {}) {
  // What cannot be opened is the importer's to say.
  await answerAll(args, env).catch(() => undefined);
  return await runAlone(args, env);
}

/** The importer in this process, without a terminal, as fast as the mock responds. */
export async function runAlone(args: string[], env: NodeJS.ProcessEnv = {}) {
  const [output, errors] = [new PassThrough(), new PassThrough()];
  const texts = Promise.all([textOf(output), textOf(errors)]);
  const rateLimiter = new RateLimiter({ windows: [{ limit: 10_000, intervalMs: 1 }] });
  const { signal } = new AbortController();
  const code = await runImporter({ args, output, errors, signal, env, rateLimiter });
  output.end();
  errors.end();
  const [out, err] = await texts;
  return { code, out, err };
}

/** The importer on a terminal, where somebody writes these lines. */
export async function runOnTerminal(args: string[], answers: readonly string[]) {
  const terminal = () => Object.assign(new PassThrough(), { isTTY: true });
  const [input, output, errors] = [terminal(), terminal(), new PassThrough()];
  const texts = Promise.all([textOf(output), textOf(errors)]);
  input.end(answers.map((answer) => `${answer}\n`).join(""));
  const rateLimiter = new RateLimiter({ windows: [{ limit: 10_000, intervalMs: 1 }] });
  const { signal } = new AbortController();
  const code = await runImporter({ args, input, output, errors, signal, env: {}, rateLimiter });
  output.end();
  errors.end();
  const [out, err] = await texts;
  return { code, out, err };
}

/** The existing contacts of the service. */
export type Seeds = NonNullable<
  NonNullable<Parameters<typeof createMockService>[0]>["organizations"]
>[number]["contacts"];

type Variants = NonNullable<NonNullable<Parameters<typeof createMockService>[0]>["variants"]>;

/** A service in the environment, with these contacts, until the end of the test. */
export async function service(
  contacts: Seeds = [],
  variants?: Variants,
  laterKeys?: string[],
): Promise<MockService> {
  const { mock, close } = await openService(contacts, variants, laterKeys);
  onTestFinished(close);
  return mock;
}

/** The same service, until it is closed. */
export async function openService(
  contacts: Seeds = [],
  variants: Variants = {},
  laterKeys: string[] = [],
): Promise<{ mock: MockService; close: () => Promise<void> }> {
  const mock = createMockService({
    variants,
    organizations: [
      {
        id: "real",
        apiKeys: ["mock-key-of-a-service", ...laterKeys],
        appId: "mock-app",
        lists: [list, otherList, segment],
        contacts,
      },
    ],
  });
  const server = await mock.listen({ port: 0 });
  vi.stubEnv("AUDIENCE_BASE_URL", server.clientOptions.baseUrl);
  vi.stubEnv("AUDIENCE_BASE_URL_V2", server.clientOptions.baseUrlV2);
  vi.stubEnv("AUDIENCE_API_KEY", "mock-key-of-a-service");
  vi.stubEnv("AUDIENCE_APP_ID", "mock-app");
  const close = async () => {
    vi.unstubAllEnvs();
    await server.close();
  };
  return { mock, close };
}

/** The contacts by their address or number: several rows are under way at once, and arrive in any order. */
export function sortedContacts(mock: MockService) {
  const nameOf = ({ email = "", phone = "" }) => `${email} ${phone}`;
  const { contacts } = mock.organization("real");
  return contacts.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
}

/** Each contact's e-mail consent, by its address or number. */
export function emailConsents(mock: MockService): Record<string, string | undefined> {
  const consents: Record<string, string | undefined> = {};
  for (const { email, phone, email_opt_in } of mock.organization("real").contacts)
    consents[email ?? phone ?? ""] = email_opt_in;
  return consents;
}

/** The bodies of the writes, by their address or number. */
export function sentBodies(mock: MockService): Record<string, unknown>[] {
  const bodies = mock.requests
    .filter(({ method }) => method === "POST")
    .map(({ body }) => body as Record<string, unknown>);
  const nameOf = ({ email, phone }: Record<string, unknown>) => String(email ?? phone);
  return bodies.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
}
