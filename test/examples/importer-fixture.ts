import { createWriteStream, existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type ClientOptions, RateLimiter } from "audience-sdk";
import { createMockService, type MockService } from "audience-sdk/mock";
import { onTestFinished, vi } from "vitest";
import {
  type ColumnMap,
  type ColumnRule,
  type ConsentRule,
  isEveryoneOpen,
  mapText,
} from "../../examples/exports/column-map.ts";
import { parseArguments } from "../../examples/importer/arguments.ts";
import { type ImporterSurroundings, runImporter } from "../../examples/importer/importer.ts";
import { openFiles } from "../../examples/importer/maps.ts";
import { bundleProgram } from "../bundle-program.ts";
import { runHere, runProcess } from "./run-program.ts";

export const list = { id: "readers", name: "Readers", type: "LIST" as const };

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

/** Writes the lines of a CSV file into a folder of its own, and returns its path. */
export const table = async (...lines: string[]) => await csv(await temporaryFolder(), "people.csv", ...lines);

/** The importer for a user who has answered its questions in the maps. */
export async function run(args: string[], env: NodeJS.ProcessEnv = {}) {
  // What cannot be opened is the importer's to say.
  await answerAll(args, env).catch(() => undefined);
  return await runAlone(args, env);
}

/** An import of a file with these lines, by a map of these columns, or with the answers of a user. */
export async function imported(lines: readonly string[], columns?: Columns, ...options: string[]) {
  return await importedFiles({ "people.csv": lines }, columns, ...options);
}

/** An import of files, by their names: by a map of these columns for the first, or with the answers of a user. */
export async function importedFiles(
  files: Readonly<Record<string, readonly string[]>>,
  columns?: Columns,
  ...options: string[]
) {
  const mock = service();
  const folder = await temporaryFolder();
  const paths = await Promise.all(Object.entries(files).map(([name, lines]) => csv(folder, name, ...lines)));
  const path = paths[0]!;
  if (columns !== undefined) await mapOf(path, columns);
  const ended = await run([...paths, ...options]);
  const requests = mock.requests.length;
  return { ...ended, mock, path, requests, bodies: sentBodies(mock), consents: emailConsents(mock) };
}

/** What nothing was sent of: the exit code, and the number of requests. */
export const stopped = { code: 2, requests: 0 };

/** The importer in this process, without a terminal, as fast as the mock responds. */
export async function runAlone(args: string[], env: NodeJS.ProcessEnv = {}) {
  return await runOn(new PassThrough(), { args, env });
}

/** The importer without a terminal, into this mock. */
export async function runOnMock(
  mock: MockService,
  args: string[],
  client: ClientOptions = mock.clientOptions,
) {
  return await runOn(new PassThrough(), { args, env: {}, client });
}

/** The importer on a terminal, where somebody writes these lines. */
export async function runOnTerminal(args: string[], answers: readonly string[]) {
  const terminal = () => Object.assign(new PassThrough(), { isTTY: true });
  const input = terminal();
  input.end(answers.map((answer) => `${answer}\n`).join(""));
  return await runOn(terminal(), { args, input, env: {} });
}

async function runOn(
  output: PassThrough,
  surroundings: Pick<ImporterSurroundings, "args" | "env" | "input" | "client">,
) {
  const rateLimiter = new RateLimiter({ windows: [{ limit: 10_000, intervalMs: 1 }] });
  const client = { ...(current && { fetch: current.fetch }), rateLimiter };
  return await runHere((given) => runImporter({ client, ...surroundings, ...given }), { output });
}

/** The existing contacts of the service. */
export type Seeds = NonNullable<
  NonNullable<Parameters<typeof createMockService>[0]>["organizations"]
>[number]["contacts"];

type Variants = NonNullable<NonNullable<Parameters<typeof createMockService>[0]>["variants"]>;

/** A service in the environment, with these contacts, until the end of the test. */
export function service(contacts: Seeds = [], variants?: Variants, laterKeys?: string[]): MockService {
  const { mock, close } = openService(contacts, variants, laterKeys);
  onTestFinished(close);
  return mock;
}

/** The service that the environment names. */
let current: MockService | undefined;

/** The same service, until it is closed. */
export function openService(
  contacts: Seeds = [],
  variants: Variants = {},
  laterKeys: string[] = [],
): { mock: MockService; close: () => void } {
  const mock = createMockService({
    variants,
    organizations: [
      {
        id: "real",
        apiKeys: ["mock-key-of-a-service", ...laterKeys],
        appId: "mock-app",
        lists: [list, segment],
        contacts,
      },
    ],
  });
  current = mock;
  vi.stubEnv("AUDIENCE_BASE_URL", "https://service.example");
  vi.stubEnv("AUDIENCE_API_KEY", "mock-key-of-a-service");
  const close = () => {
    vi.unstubAllEnvs();
    current = undefined;
  };
  return { mock, close };
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

/** The columns of a map, as a user writes them. */
export type Columns = Readonly<Record<string, ColumnRule | "email_opt_in" | "phone_opt_in">>;

/** Writes the map of a file. */
export async function mapOf(path: string, columns: Columns, everyone?: ColumnMap["everyone"]): Promise<void> {
  await writeFile(`${path}.map.json`, JSON.stringify({ version: 1, columns, everyone }));
}

/** The map that stands beside a file. */
export const mapIn = async (path: string) =>
  JSON.parse(await readFile(`${path}.map.json`, "utf8")) as { columns: Record<string, unknown> };

/** The columns of that map which are open questions. */
export const openIn = async (path: string) =>
  Object.entries((await mapIn(path)).columns).flatMap(([name, rule]) =>
    JSON.stringify(rule).includes('"?"') ? [name] : [],
  );

/** A consent whose yes is an opt-in, and whose no an opt-out. */
export const newsletter: ConsentRule = {
  consent: "email",
  words: { yes: "SUBSCRIBED", no: "UNSUBSCRIBED", "": "none" },
};

const phoneAnswer: ColumnRule = { ...newsletter, consent: "phone" };
const refusal = { yes: "UNSUBSCRIBED", no: "none", "": "none" } as const;
const status: ColumnRule = {
  consent: "email",
  words: { subscribed: "SUBSCRIBED", pending: "NON_SUBSCRIBED", unsubscribed: "UNSUBSCRIBED", "": "none" },
};

/** A user's answers to the questions, by the heading; any other column is a property. */
const answers = new Map<string, ColumnRule>([
  ["Newsletter", newsletter],
  ["Opt-in", newsletter],
  ["SMS opt-in", phoneAnswer],
  ["sms_opt_in", phoneAnswer],
  ["SMS opt-out", { consent: "phone", words: refusal }],
  ["Unsubscribed", { consent: "both", words: refusal }],
  ["unsubscribed", { consent: "both", words: refusal }],
  ["Do not contact", { consent: "both", words: refusal }],
  ["Status", status],
  ["status", status],
  ["email_opt_in", status],
  ["Subscriber", "email"],
]);

/** Answers the questions of the files that have no map yet. */
async function answerAll(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const options = parseArguments(args, env);
  if (options === "help") return;
  const files = options.files.filter((path) => !existsSync(`${path}.map.json`));
  for (const { file, map, open } of await openFiles({ ...options, files }, new AbortController().signal)) {
    const columns = new Map(map.columns);
    for (const name of open) columns.set(name, answers.get(name) ?? "property");
    const everyone = isEveryoneOpen(map)
      ? ({ email: "UNSUBSCRIBED", phone: "UNSUBSCRIBED" } as const)
      : map.everyone;
    await writeFile(`${file.path}.map.json`, mapText({ columns, everyone }));
  }
}

/** A file with that many rows. */
export async function manyRows(count: number): Promise<string> {
  const path = join(await temporaryFolder(), "people.csv");
  const lines = function* () {
    yield "email,first_name,last_name,phone,city,email_opt_in,notes\n";
    for (let row = 0; row < count; row++)
      yield `person-${row}@example.com,First,Last,+4477${String(row).padStart(8, "0")},Leeds,SUBSCRIBED,some text of row ${row}\n`;
  };
  await pipeline(Readable.from(lines()), createWriteStream(path));
  return path;
}

/** The importer as a process, with its environment; `onOutput` receives its output so far. */
export async function runProgram(
  args: readonly string[],
  onOutput?: Parameters<typeof runProcess>[1],
  flags: readonly string[] = [],
) {
  const program = join(await temporaryFolder(), "importer.mjs");
  await bundleProgram("examples/importer/main.ts", program);
  return await runProcess([...flags, program, ...args], onOutput);
}
