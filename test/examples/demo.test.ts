import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { createMockService } from "audience-sdk/mock";
import { beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { runDemo } from "../../examples/demo/demo.ts";
import { bundleProgram } from "../bundle-program.ts";
import { repository } from "../project/source-files.ts";
import { csv, temporaryFolder } from "./importer-fixture.ts";
import { runHere, runProcess } from "./run-program.ts";

// As `npm run demo` starts it, but for the compiler.
let program: string;
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "demo-"));
  await mkdir(join(folder, "demo"));
  // Where the program looks for its own data.
  await symlink(join(repository, "examples/data"), join(folder, "data"));
  program = join(folder, "demo/main.mjs");
  await bundleProgram("examples/demo/main.ts", program);
  return () => rm(folder, { recursive: true });
});

/** Runs the demo as a process without a terminal. `stopAt` presses Ctrl-C. */
async function runProgram(
  args: string[],
  { env, stopAt }: { env?: Record<string, string>; stopAt?: string } = {},
) {
  const { AUDIENCE_BASE_URL: _url, AUDIENCE_API_KEY: _key, FORCE_COLOR: _color, ...own } = process.env;
  let isStopped = false;
  const ended = await runProcess(
    [program, ...args],
    (child, out) => {
      if (!isStopped && stopAt !== undefined && out.includes(stopAt)) isStopped = child.kill("SIGINT");
    },
    { ...own, ...env },
  );
  return { ...ended, lines: ended.out.split("\n") };
}

/** A service on loopback, which the environment names with this key. */
async function startService(apiKey = "mock-key-of-a-real-service") {
  const mock = createMockService({
    organizations: [
      {
        id: "real",
        apiKeys: ["mock-key-of-a-real-service"],
        appId: "app",
        lists: [{ id: "readers", name: "Readers" }],
      },
    ],
  });
  const server = await mock.listen({ port: 0 });
  onTestFinished(() => server.close());
  vi.stubEnv("AUDIENCE_BASE_URL", server.clientOptions.baseUrl);
  vi.stubEnv("AUDIENCE_API_KEY", apiKey);
  return mock;
}

/** A folder with an export of three rows: one subscribed, one with a telephone number only, one that is not valid. */
async function writeSmallExport(): Promise<string> {
  const headings = "Email,Klaviyo ID,First Name,Phone Number,Email Marketing Consent,SMS Marketing Consent";
  const rows = [
    "ana@example.com,1,Ana,,SUBSCRIBED,",
    ",2,Bo,+44 7700 900001,,SUBSCRIBED",
    "nobody,3,Cy,,SUBSCRIBED,",
  ];
  return dirname(await csv(await temporaryFolder(), "file.csv", headings, ...rows));
}

/** Runs the demo in this process, on a fake terminal that answers the question, or on a pipe. */
async function runOnTerminal(args: string[], options: { answer?: string; isTTY?: boolean } = {}) {
  const { isTTY = true } = options;
  const input = Object.assign(new PassThrough(), { isTTY });
  const output = Object.assign(new PassThrough(), { isTTY, columns: 80, rows: 24 });
  output.on("data", (chunk) => {
    if (String(chunk).includes("(y/N)"))
      input.end(options.answer === undefined ? undefined : `${options.answer}\n`);
  });
  return await runHere((given) => runDemo({ args, input, ...given }), { output });
}

describe("npm run demo", () => {
  let run: Awaited<ReturnType<typeof runProgram>>;
  beforeAll(async () => {
    // The address in the environment never responds: a demo that called it would fail.
    run = await runProgram([], {
      env: { AUDIENCE_BASE_URL: "http://127.0.0.1:9", AUDIENCE_API_KEY: "a-key-of-the-environment" },
    });
  });

  it("succeeds, prints that its windows are 60 times shorter, and has no colours and no key in a pipe", () => {
    expect(run.err).toBe("");
    expect(run.code).toBe(0);
    expect(run.out).toContain(
      "60 times shorter than the service's: 10 per 17 ms, 100 per 1.0 s, 1,000 per 1 min.",
    );
    for (const absent of ["\u001b", "a-key-of-the-environment", "mock-key"])
      expect(run.out).not.toContain(absent);
  });

  it("shows the valid rows with their consents, and then each row that is left out, with its reason", () => {
    expect(run.out).toMatch(/112 rows are valid:[^]*23 rows are not valid and are left out:/);
    expect(run.out).toContain(
      "67 SUBSCRIBED, 20 NON_SUBSCRIBED, 22 UNSUBSCRIBED by e-mail, 1 of whom nothing is said; 0 of them suppressed, 2 with a telephone number only.",
    );
    expect(run.out).toContain("6 rows repeat an address");
    const leftOut = Object.entries({
      "row  8  marek.dvorak@example.org, SUBSCRIBED": /dob: .*"1990-02-30"/,
      "row 19  (no address), no consent": /email: required/,
      "row 29  harriet.moss@example.org, SUBSCRIBED": /postal_code: .*3.*"1"/,
      "row 18  leo @example.net, SUBSCRIBED": /email: /,
      "row 45  maeve.kelly@example.org, SUBSCRIBED": /phone: is also the number of the\.kellys@example\.org/,
      "row 48  lena.hartmann@example.com, SUBSCRIBED": /row: has 5 cells, but there are 23 headings/,
      "row 10  sam.rivers@example.com, UNSUBSCRIBED": /phone: "2125550171" does not name its country/,
    });
    for (const [title, reason] of leftOut)
      expect(run.lines[run.lines.findIndex((line) => line.trim() === title) + 1]).toMatch(reason);
  });

  it("sends the rest, prints a line for each quarter, and survives a failure of the service and a lost response", () => {
    expect(run.out).toContain("3  Send: 334 calls, about ");
    expect(run.lines.filter((line) => / %  \d+ of 112 rows$/.test(line))).toEqual([
      "    25 %  28 of 112 rows",
      "    50 %  56 of 112 rows",
      "    75 %  84 of 112 rows",
      "   100 %  112 of 112 rows",
    ]);
    expect(run.out).toContain("Contacts upserted, and an event sent for each: 112. Added to the list: 109.");
    expect(run.out).toContain("Retried: v1.customers.upsert, after server.");
    expect(run.out).toContain("Retried: v1.events.send, after connection.");
    expect(run.out).not.toContain("\r");
  });

  it("reads all contacts back, and summarizes their consent: a person in two files has the stricter one", () => {
    expect(run.out).toContain("4  Read back: 106 contacts");
    expect(run.out).toContain("… and 82 more");
    const counts = run.lines.flatMap(
      (line) => /^ +((?:UN|NON_)?SUBSCRIBED) +(\d+)  █+$/.exec(line)?.slice(1, 3).join(" ") ?? [],
    );
    expect(counts).toEqual(["SUBSCRIBED 64", "NON_SUBSCRIBED 22", "UNSUBSCRIBED 20"]);
  });

  it("shows that rows which are sent twice are recorded once", () => {
    expect(run.out).toContain("106 contacts, 103 members of the list, 112 events, 215 runs of automations");
    expect(run.out).toContain("10 rows sent once more: now 106 contacts, 103 members, 112 events, 215 runs");
  });
});

it.each([
  [["--fast"], "Unknown option '--fast'"],
  [["live"], "Unexpected argument 'live'"],
  [["--live"], "--live needs --list ID"],
  [["--live", "--list", " "], "--live needs --list ID"],
  [["--list", "readers"], "--list is for --live only"],
  [["--live", "--list"], "'--list <value>'"],
])("the command line %j is refused with the problem and code 2, and nothing runs", async (args, message) => {
  const { code, out, err } = await runProgram(args);
  expect(code).toBe(2);
  expect(out).toBe("");
  expect(err).toContain(message);
  expect(err).toContain("--help");
  expect(err).not.toContain("    at ");
});

it("on a terminal Ctrl-C ends the run, and prints the numbers of sent and unsent rows and that another run is safe", async () => {
  const { code, out, err } = await runProgram([], { stopAt: "25 %" });
  expect(err).toBe("");
  expect(code).toBe(130);
  const sent = Number(/an event sent for each: (\d+)/.exec(out)?.[1]);
  const cutOff = Number(/(\d+) rows were cut off in the middle/.exec(out)?.[1]);
  const notBegun = Number(/(\d+) rows were not begun/.exec(out)?.[1]);
  expect(sent).toBeGreaterThanOrEqual(28);
  expect(sent + cutOff + notBegun).toBe(112);
  expect(out).toContain("Stopped. Running it again is safe");
  expect(out).not.toContain("Read back");
});

describe("--live", () => {
  beforeEach(() => {
    for (const name of ["BASE_URL", "BASE_URL_V2", "API_KEY", "API_KEY_V2", "APP_ID"])
      vi.stubEnv(`AUDIENCE_${name}`, undefined);
  });

  const runLive = async (answer: string | undefined, list = "readers") =>
    runOnTerminal(
      ["--live", "--list", list, "--data", await writeSmallExport()],
      answer === undefined ? {} : { answer },
    );

  it("is refused without a terminal: nothing is sent", async () => {
    const mock = await startService();
    const { code, out, err } = await runOnTerminal(["--live", "--list", "readers"], { isTTY: false });
    expect(code).toBe(2);
    expect(out).toBe("");
    expect(err).toContain("there is no terminal to ask on: nothing was sent");
    expect(mock.requests).toEqual([]);
  });

  it.each(["n", "", "yo", undefined])("asks first, and sends nothing after the input %j", async (answer) => {
    const mock = await startService();
    const { code, out } = await runLive(answer);
    expect(code).toBe(0);
    expect(out).toContain("upsert 2 contacts, add them to the list readers");
    expect(out).toContain("It takes 6 calls, about ");
    expect(out).toContain("Nothing was sent.");
    expect(mock.requests).toEqual([]);
  });

  it("runs at the service's limits after the input yes, and keeps each consent", async () => {
    const mock = await startService();
    const { code, out } = await runLive("y");
    expect(code).toBe(0);
    expect(out).toContain(`LIVE, against ${process.env["AUDIENCE_BASE_URL"]}`);
    expect(out).toContain("At the service's limits: 10 per 1.0 s, 100 per 1 min, 1,000 per 1 h.");
    expect(mock.requests.filter((request) => request.applied)).toHaveLength(5);
    const { contacts, memberships, events } = mock.organization("real");
    expect(
      contacts.map(({ email, phone, email_opt_in, phone_opt_in }) => [
        email ?? phone,
        email_opt_in,
        phone_opt_in,
      ]),
    ).toEqual([
      ["ana@example.com", "SUBSCRIBED", "NON_SUBSCRIBED"],
      ["+447700900001", "NON_SUBSCRIBED", "SUBSCRIBED"],
    ]);
    expect(memberships).toHaveLength(1);
    expect(events).toHaveLength(2);
  });

  it.each([
    ["a list that does not exist", "gone", undefined, "NotFoundError"],
    ["a key that the service does not know", "readers", "key-of-somebody-else", "AuthenticationError"],
  ])("with %s ends before any contact is written, and shows no key", async (_, list, key, name) => {
    const mock = await startService(key);
    const { code, out, err } = await runLive("y", list);
    expect(code).toBe(1);
    expect(err).toContain(name);
    expect(out + err).not.toMatch(/key-of-/);
    expect(mock.requests.map(({ method, applied }) => [method, applied])).toEqual([["GET", false]]);
  });

  it("prints a failed row with its outcome, sends the others, and ends with code 1", async () => {
    const mock = await startService();
    mock.addFault({ kind: "redirect", operation: "v1.contactGroups.addContact", times: 1 });
    const { code, out } = await runLive("y");
    expect(code).toBe(1);
    expect(out).toContain("Contacts upserted, and an event sent for each: 1. Added to the list: 0.");
    expect(out).toContain(
      "file.csv, row 2: v1.contactGroups.addContact ended with RedirectError (the service did nothing): ",
    );
    expect(mock.organization("real").events).toHaveLength(1);
  });
});
