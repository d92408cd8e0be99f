import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { access, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text as textOf } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { type ClientOptions, RateLimiter } from "audience-sdk";
import { createMockService, type MockService } from "audience-sdk/mock";
import { onTestFinished, vi } from "vitest";
import { ColumnCells } from "../../examples/exports/column-cells.ts";
import {
  type ColumnMap,
  type ColumnRule,
  isEveryoneOpen,
  mapText,
  type Meaning,
} from "../../examples/exports/column-map.ts";
import { wordsToAsk } from "../../examples/exports/propose-map.ts";
import { parseArguments } from "../../examples/importer/arguments.ts";
import { type ImporterSurroundings, runImporter } from "../../examples/importer/importer.ts";
import { openFiles } from "../../examples/importer/maps.ts";
import { bundleProgram } from "../bundle-program.ts";

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
  return await runOn(new PassThrough(), { args, env });
}

/** The importer without a terminal, into this mock. */
export async function runOnMock(
  mock: MockService,
  args: string[],
  client: ClientOptions = mock.clientOptions,
  signal?: AbortSignal,
) {
  return await runOn(new PassThrough(), { args, env: {}, client, ...(signal && { signal }) });
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
  surroundings: Pick<ImporterSurroundings, "args" | "env" | "input" | "client"> & { signal?: AbortSignal },
) {
  const errors = new PassThrough();
  const texts = Promise.all([textOf(output), textOf(errors)]);
  const rateLimiter = new RateLimiter({ windows: [{ limit: 10_000, intervalMs: 1 }] });
  const { signal } = new AbortController();
  const client = { ...(current && { fetch: current.fetch }), rateLimiter };
  const code = await runImporter({ signal, client, ...surroundings, output, errors });
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
        lists: [list, otherList, segment],
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

/** The columns of a map, as a user writes them. */
export type Columns = Readonly<Record<string, ColumnRule | "email_opt_in" | "phone_opt_in">>;

/** Writes the map of a file. */
export async function mapOf(path: string, columns: Columns, everyone?: ColumnMap["everyone"]): Promise<void> {
  await writeFile(`${path}.map.json`, JSON.stringify({ version: 1, columns, everyone }));
}

/** A consent whose yes is an opt-in, and whose no an opt-out. */
export const newsletter: ColumnRule = {
  consent: "email",
  words: { yes: "SUBSCRIBED", no: "UNSUBSCRIBED", "": "none" },
};

const states: Readonly<Record<Exclude<Meaning, "hold">, RegExp>> = {
  SUBSCRIBED: /^(subscribed|opted[ _-]?in|opt-in)$/,
  NON_SUBSCRIBED: /^(never[ _]subscribed|non[ _]subscribed|pending|cleaned|bounced|suppressed|unconfirmed)$/,
  UNSUBSCRIBED: /^(unsubscribed|opted[ _]?out|optout|blacklisted|complained|do not (contact|email))$/,
  none: /^(none|unknown)?$/,
};
const yes = /^(yes|y|true|1|x|ja)$/;
const no = /^(no|n|false|0|nein)$/;

/** What a user says who knows English and who wrote the table; undefined for a word that nobody knows. */
function meaningOf(word: string, isRefusal: boolean): Meaning | undefined {
  if (word === "<date>") return isRefusal ? "UNSUBSCRIBED" : "none";
  if (yes.test(word)) return isRefusal ? "UNSUBSCRIBED" : "SUBSCRIBED";
  if (no.test(word)) return isRefusal ? "none" : "UNSUBSCRIBED";
  const own = Object.entries(states).find(([, pattern]) => pattern.test(word))?.[0];
  // An opt-out that says "subscribed" is no opt-in.
  if (own === "SUBSCRIBED" && isRefusal) return "none";
  return own as Meaning | undefined;
}

/** The answer of such a user: a consent by its heading, else a property. */
function answerOf(heading: string, cells: ColumnCells): ColumnRule {
  if (cells.areAddresses && /subscriber|recipient/i.test(heading)) return "email";
  if (!/subscri|status|consent|opt.?(in|out)|newsletter|marketing|do.?not|black|unsub/i.test(heading))
    return "property";
  const isRefusal = /unsub|opt.?out|black|do.?not/i.test(heading);
  const isPhone = /sms|phone|text/i.test(heading);
  const isEmail = /e.?mail|newsletter/i.test(heading);
  const isGeneral = isRefusal && !isPhone && !isEmail;
  const words: Record<string, Meaning> = { "": "none" };
  // Later files have these words too.
  const usual = "subscribed unsubscribed yes no true false 1 0 <date>".split(" ");
  for (const word of [...usual, ...wordsToAsk(cells).map((one) => one.word)]) {
    const meaning = meaningOf(word, isRefusal);
    if (meaning !== undefined) words[word] = meaning;
  }
  return { consent: isGeneral ? "both" : isPhone ? "phone" : "email", words };
}

/** Answers the questions of the files that have no map yet. */
async function answerAll(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const options = parseArguments(args, env);
  if (options === "help") return;
  const isThere = await Promise.all(
    options.files.map((path) =>
      access(`${path}.map.json`).then(
        () => true,
        () => false,
      ),
    ),
  );
  const files = options.files.filter((_, index) => isThere[index] !== true);
  for (const { file, map, open, cells } of await openFiles(
    { ...options, files },
    new AbortController().signal,
  )) {
    const columns = new Map(map.columns);
    for (const name of open) columns.set(name, answerOf(name, cells.get(name) ?? new ColumnCells()));
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
  args: string[],
  onOutput: (child: ReturnType<typeof spawn>, out: string) => void = () => undefined,
  flags: string[] = [],
) {
  const program = join(await temporaryFolder(), "importer.mjs");
  await bundleProgram("examples/importer/main.ts", program);
  const child = spawn(process.execPath, [...flags, program, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let [out, err] = ["", ""];
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    onOutput(child, out);
  });
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, out, err };
}
