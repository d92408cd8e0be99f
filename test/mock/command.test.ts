import { once } from "node:events";
import { chmodSync, readFileSync, readlinkSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { parseEnv } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { eventually } from "../eventually.ts";
import { KEY, MockCommand, post, stateOf, stop } from "./mock-command.ts";

const mockCommand = new MockCommand();

const linesOf = (output: string) => output.split("\n").filter((line) => /^\d\d:\d\d:\d\d\.\d{3} /.test(line));
const ada = { email: "ada@example.com", email_opt_in: "SUBSCRIBED" };

/** It ends with code 1 and these words, without a stack. */
async function expectFailure(args: readonly string[], ...words: string[]): Promise<void> {
  const { code, errors } = await mockCommand.run(...args);
  expect(code).toBe(1);
  for (const each of words) expect(errors).toContain(each);
  expect(errors).not.toMatch(/^\s+at /m);
}
const serve = (...args: string[]) => mockCommand.serve(...args);
const seedFile = (content: unknown) =>
  mockCommand.write("seed.json", typeof content === "string" ? content : JSON.stringify(content));

describe("audience-mock", () => {
  it("prints its address and keys, responds to plain HTTP, and ends with SIGTERM", async () => {
    const { child, output, url } = await mockCommand.serveByProcess();
    const created = await post(url, "/api/v1/customer/create", ada);
    const v2 = await fetch(`${url}/v2/lists`, {
      headers: { "service-api-key": "mock-api-key-not-a-secret", "service-app-id": "mock-app-id" },
    });
    const state = await stateOf(url);
    const code = await stop({ child });

    expect([created.status, v2.status, code]).toEqual([201, 200, 0]);
    expect(state).toMatchObject({ contacts: [{ email: "ada@example.com" }] });
    for (const part of [
      `export AUDIENCE_BASE_URL=${url}`,
      `export AUDIENCE_BASE_URL_V2=${url}`,
      "mock-api-key-not-a-secret",
      "mock-app-id",
      "mock-list",
    ]) {
      expect(output()).toContain(part);
    }
  });

  it("starts with the contents of the seed file", async () => {
    const organization = {
      id: "acme",
      apiKeys: ["acme-key"],
      apiKeysV2: ["acme-v2"],
      appId: "acme-app",
      contacts: [{ id: "ada", email: "ada@example.com" }],
    };
    const file = await seedFile({
      organizations: [organization],
      rateLimits: [{ limit: 1, intervalMs: 60_000 }],
      variants: { rateLimitStatus: 503 },
    });
    const { output, url } = await serve("--seed", file);
    const headers = { "x-api-key": "acme-key" };
    const first = await fetch(`${url}/api/v1/customer/ada`, { headers });
    const second = await fetch(`${url}/api/v1/customer/ada`, { headers });

    expect([first.status, second.status]).toEqual([200, 503]);
    expect(output()).toContain("export AUDIENCE_API_KEY_V2=acme-v2");
    expect(output()).toContain(`\nIts page, for a browser: ${url}/\n`);
  });

  it("answers on all addresses only if --host says so, and to other names only if --allow-host does", async () => {
    const { output, url } = await serve(
      "--host",
      "0.0.0.0",
      "--allow-host",
      "mock.test",
      "--allow-host",
      "mock",
    );
    const { port } = new URL(url);
    const statusOf = (host: string) =>
      new Promise((resolve, reject) => {
        const options = { host: "127.0.0.2", port, headers: { host }, agent: false };
        get(options, (response) => resolve(response.resume().statusCode)).on("error", reject);
      });

    expect(output()).toContain(`export AUDIENCE_BASE_URL=http://127.0.0.1:${port}`);
    expect((await fetch(url)).status).toBe(200);
    expect(await statusOf("mock.test:4010")).toBe(200);
    expect(await statusOf("MOCK")).toBe(200);
    expect(await statusOf("localhost")).toBe(200);
    expect(await statusOf("evil.example")).toBe(403);
  });

  it("--help shows a call of every endpoint, the faults and a seed", async () => {
    const { code, output } = await mockCommand.run("--help");
    const posts = output.split("\n").filter((line) => /^ {2}curl.*( -d | -X POST )/.test(line));

    expect(code).toBe(0);
    expect(posts).toHaveLength(9);
    expect(posts.filter((line) => !line.includes(' -H "$JSON" '))).toEqual([]);
    for (const part of [
      "/v2/lists",
      "/__mock/faults",
      "in a browser",
      "--speed N",
      "reset-after",
      "organizations",
    ])
      expect(output).toContain(part);
  });

  it.each([
    ["a port that is no number", ["--port", "x"], "--port must be an integer"],
    ["a speed that shortens nothing", ["--speed", "1"], "--speed must be an integer from 2 to 1000"],
    ["an unknown option", ["--prot", "1"], "--prot"],
    ["an address of another machine", ["--port", "0", "--host", "192.0.2.1"], "EADDRNOTAVAIL"],
    ["a URL as a name", ["--allow-host", "http://mock.test"], "--allow-host must be a host"],
    ["no file of an environment", ["--port", "0", "--env="], "--env must be the path of a file"],
    ["a state in no folder", ["--port", "0", "--state=no/state.json"], "ENOENT"],
    ["no file of a seed", ["--port", "0", "--seed="], "--seed must be the path of a file"],
  ])("%s is an error with code 1 and no stack", async (_, args, message) => {
    await expectFailure(args, message, "audience-mock --help");
  });

  it("calls the webhooks of its seed, and ends at once though a receiver hangs", async () => {
    const receiver = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => {
      receiver.close();
      receiver.closeAllConnections();
    });
    await once(receiver, "listening");
    const { port } = receiver.address() as AddressInfo;
    const webhook = { url: `http://127.0.0.1:${port}/hooks` };
    const automations = [{ name: "Thanks", on: { event: "order placed" }, webhook }];
    const organizations = [{ id: "acme", apiKeys: ["acme-key"], appId: "acme-app", automations }];
    const variants = { webhookTimeoutMs: 600_000 };
    const seed = await seedFile({ organizations, variants, webhooks: "loopback" });

    const { child, url } = await mockCommand.serveByProcess("--seed", seed);
    const [[request], { status }] = await Promise.all([
      once(receiver, "request") as Promise<[IncomingMessage]>,
      fetch(`${url}/api/v1/events`, {
        method: "POST",
        headers: { ...KEY, "x-api-key": "acme-key" },
        body: '{"eventName":"order placed","contact":{"email":"ada@example.com"}}',
      }),
    ]);
    const received = await json(request);

    expect([status, await stop({ child })]).toEqual([200, 0]);
    expect(received).toMatchObject({ automation: "Thanks", contact: { email: "ada@example.com" } });
  });
});

describe("audience-mock, its lines", () => {
  it("one tells time, operation, status, and what the request changed", async () => {
    const { url, output, printed } = await serve();
    await post(url, "/api/v1/contact-groups/mock-list/contacts", ada);
    await printed("Newsletter\n");
    const [line = "", ...others] = linesOf(output());

    expect(line).toMatch(/^\d\d:\d\d:\d\d\.\d{3} {2}v1\.contactGroups\.addContact {2}200 {2}/);
    expect(line).toContain("  ada@example.com: created; email SUBSCRIBED; joined the list Newsletter");
    expect(others).toEqual([]);
  });

  it("one of a fault tells its kind, and whether the write was applied", async () => {
    const { url, printed } = await serve();
    for (const kind of ["reset-after", "500-before", "502-html"])
      await post(url, "/__mock/faults", { kind, times: 1 });
    await expect(post(url, "/api/v1/customer/create", ada)).rejects.toThrow(TypeError);
    await post(url, "/api/v1/customer/create", ada);
    await fetch(`${url}/api/v1/customer`, { headers: KEY });
    const lines = linesOf(await printed("502-html"));

    expect(lines.map((line) => line.slice(14))).toEqual([
      "v1.customers.upsert          ---  fault reset-after, applied  ada@example.com: created; email SUBSCRIBED",
      "v1.customers.upsert          500  fault 500-before, not applied",
      "v1.customers.list            502  fault 502-html",
    ]);
  });

  it("one holds no character that steers a terminal, no key, and at most 400 characters", async () => {
    const { url, output, printed } = await serve();
    const start = output();
    const eventName = "\u001B[2J\u202Eevil\nline\u0007";
    await post(url, "/api/v1/events", { eventName, contact: { email: "ada@example.com" } });
    await post(url, "/api/v1/events", {
      eventName: "x".repeat(5_000),
      contact: { email: "ada@example.com" },
    });
    const [steering = "", long = ""] = linesOf(await printed("…\n"));

    expect(steering).toContain(String.raw`event \u{1b}[2J\u{202e}evil\u{a}line\u{7}`);
    expect(long).toHaveLength(401);
    expect(output().slice(start.length)).not.toContain("not-a-secret");
  });

  it("are not printed with --quiet, nor is a key", async () => {
    const { child, url, output } = await mockCommand.serveByProcess("--quiet");
    await post(url, "/api/v1/customer/create", ada);

    expect(await stop({ child })).toBe(0);
    expect(output()).toBe(`audience-mock listens on ${url}\n`);
  });
});

it("audience-mock --speed counts in windows that are shorter, says so, and tells a client by its environment", async () => {
  const file = mockCommand.path(".env");
  const { url, output } = await serve("--speed", "20", "--env", file);
  const page = async () => (await (await fetch(`${url}/__mock/page`)).json()) as { gauges: unknown };

  expect(await page()).toMatchObject({
    gauges: [
      { limit: 10, intervalMs: 50 },
      { limit: 100, intervalMs: 3_000 },
      { limit: 1_000, intervalMs: 180_000 },
    ],
  });
  const calls = Array.from({ length: 101 }, () => fetch(`${url}/api/v1/customer`, { headers: KEY }));
  const statuses = (await Promise.all(calls)).map(({ status }) => status);
  expect(statuses).toContain(429);
  expect(output()).toContain("It counts in windows 20 times shorter.");
  expect(output()).toContain("export AUDIENCE_RATE_LIMIT=20x\n");
  expect(parseEnv(readFileSync(file, "utf8"))).toMatchObject({ AUDIENCE_RATE_LIMIT: "20x" });
  expect(await (await fetch(url)).text()).toContain("AUDIENCE_RATE_LIMIT=20x");
  expect(await (await fetch(`${url}/__mock/environment`)).text()).toContain("AUDIENCE_RATE_LIMIT=20x");
});

describe("audience-mock --env", () => {
  it("writes the environment of a client, and keeps the other lines and the mode of the file, also behind a link", async () => {
    const others = "# Mine\nDATABASE_URL=secret\n\nAUDIENCE_LOG=debug\nNO_NEWLINE=1";
    const older =
      "AUDIENCE_BASE_URL=http://[::1]:4010\nexport AUDIENCE_API_KEY=old\n AUDIENCE_API_KEY_V2 = old\n";
    const file = await mockCommand.write(".env", older + others);
    chmodSync(file, 0o644);
    const link = mockCommand.path("link.env");
    symlinkSync(file, link);
    const { url, errors } = await serve("--env", link);

    expect(errors()).toBe("");
    const content = readFileSync(file, "utf8");
    expect(content.startsWith(`${others}\nAUDIENCE_BASE_URL=`)).toBe(true);
    expect(parseEnv(content)).toEqual({
      DATABASE_URL: "secret",
      AUDIENCE_LOG: "debug",
      NO_NEWLINE: "1",
      AUDIENCE_BASE_URL: url,
      AUDIENCE_BASE_URL_V2: url,
      AUDIENCE_API_KEY: "mock-api-key-not-a-secret",
      AUDIENCE_APP_ID: "mock-app-id",
    });
    if (process.platform !== "win32") expect(statSync(file).mode & 0o777).toBe(0o644);
    expect(readlinkSync(link)).toBe(file);
  });

  const realKey = 'export AUDIENCE_API_KEY="real\r\nkey"';
  it.each([
    ["a service of v1", ["AUDIENCE_BASE_URL='https://service.example' # ours", realKey]],
    [
      "one of v2 beside a mock",
      ["AUDIENCE_BASE_URL=http://127.0.0.1", "AUDIENCE_BASE_URL_V2=https://b.example", realKey],
    ],
    ["a client that names its base URL itself", [realKey]],
  ])("keeps the variables of %s as comments, once, and says so without a key", async (_, variables) => {
    const file = await mockCommand.write(".env", ["A=1", ...variables, "B=2", ""].join("\r\n"));
    const { errors } = await serve("--env", file);
    await eventually(() =>
      expect(errors()).toBe(`${file} held variables of another service: they stand there as comments now.\n`),
    );
    const { url, errors: later } = await serve("--env", file);

    const comments = variables.join("\r\n").replaceAll(/^(?=.)/gm, "# ");
    const kept = `A=1\r\n${comments}\r\nB=2\r\nAUDIENCE_BASE_URL=${url}\n`;
    expect(readFileSync(file, "latin1").slice(0, kept.length)).toBe(kept);
    expect(later()).toBe("");
  });

  it("keeps each byte of the other lines, in any encoding, and values over several lines", async () => {
    const pem = '-----BEGIN KEY-----\nAUDIENCE_API_KEY=inside\n\\"AUDIENCE_APP_ID=too\n-----END KEY-----';
    const others = [
      "UMLAUT=\xe4\xf6",
      `PEM="${pem}"`,
      "ONE='line'",
      "APOSTROPHE='tis",
      "export MORE = `a",
      "AUDIENCE_BASE_URL=b`",
      "AUDIENCE_RATE_LIMIT=off",
    ].join("\r\n");
    const own = `AUDIENCE_BASE_URL=http://localhost\nAUDIENCE_API_KEY="old\nAND=more"\nAUDIENCE_RATE_LIMIT=60x\n`;
    const file = mockCommand.path("bytes.env");
    writeFileSync(file, `${own}${others}\n`, "latin1");
    const { url } = await serve("--env", file);

    const content = readFileSync(file, "latin1");
    expect(content.startsWith(`${others}\nAUDIENCE_BASE_URL=${url}\n`)).toBe(true);
    expect(content.match(/60x|AND=/g)).toBeNull();
  });

  it.each([
    ["JSON", '{ "name": "app",\n  "private": true }\n'],
    ["a text", "# Notes\n\nBuy milk.\n"],
    ["a table", "email,city\nada@example.com,Bern\n"],
    ["a program", 'MODE=fast\nexport NAME="a\nb"\necho "$NAME"\n'],
    ["another encoding", Buffer.from("NAME=value\n", "utf16le")],
  ])("refuses a file that is no environment, and leaves it as it is: %s", async (_, content) => {
    const file = await mockCommand.write("mine", content);

    await expectFailure(["--port", "0", "--env", file], `--env ${file}: line `, "NAME=value");
    expect(readFileSync(file)).toEqual(Buffer.from(content));
  });

  it.each([["plain-key"], ["a key with spaces"], ["it's"], [`it's "quoted"`], ["a#b$c"]])(
    "the key %s is read as it is",
    async (key) => {
      const seed = [{ id: "acme", apiKeys: [key], apiKeysV2: ["v2"], appId: "acme-app" }];
      const file = mockCommand.path(".env");
      await serve("--env", file, "--seed", await seedFile(seed));

      if (process.platform !== "win32") expect(statSync(file).mode & 0o777).toBe(0o600);
      const { AUDIENCE_API_KEY, AUDIENCE_API_KEY_V2 } = parseEnv(readFileSync(file, "utf8"));
      expect([AUDIENCE_API_KEY, AUDIENCE_API_KEY_V2]).toEqual([key, "v2"]);
    },
  );
});

describe("audience-mock --seed, a CSV", () => {
  it("brings people with consent, fields, custom properties and lists", async () => {
    const seed = await mockCommand.write(
      "people.csv",
      [
        "\uFEFFEmail,Phone,First name,email_opt_in,double_opt_in,custom_properties.Plan,lists,id",
        'ada@example.com,,"Ada ""the first"", Countess",SUBSCRIBED,TRUE,gold,mock-list,ada',
        "",
        "grace@example.com,+41441234567,Grace,UNSUBSCRIBED,,,,",
      ].join("\r\n"),
    );
    const { url } = await serve("--seed", seed);
    const { contacts, memberships } = await stateOf(url);

    expect(contacts).toMatchObject([
      {
        id: "ada",
        email: "ada@example.com",
        first_name: 'Ada "the first", Countess',
        email_opt_in: "SUBSCRIBED",
        double_opt_in: true,
        custom_properties: { Plan: "gold" },
      },
      {
        email: "grace@example.com",
        phone: "+41441234567",
        email_opt_in: "UNSUBSCRIBED",
        double_opt_in: false,
      },
    ]);
    expect(memberships).toMatchObject([{ listId: "mock-list", contactId: "ada" }]);
  });

  it.each([
    ["tabs", "people.tsv", "email\tcity\nada@example.com\tBern, BE"],
    ["semicolons", "people.csv", "email;city\nada@example.com;Bern, BE\n"],
    ["an ending in upper case", "people.CSV", 'email,city\nada@example.com,"Bern, BE"'],
  ])("with %s is read", async (_, name, content) => {
    const { url } = await serve("--seed", await mockCommand.write(name, content));

    expect((await stateOf(url)).contacts).toMatchObject([{ email: "ada@example.com", city: "Bern, BE" }]);
  });

  const windows1252 = Buffer.from("email,first_name\na@b.c,M\u00FCller\n", "latin1");
  it.each([
    ["an unknown column", "email,shoe size\na@b.c,42", 'line 1: "shoe size" is no column: remove it, or'],
    [
      "a word that is no consent",
      'email,email_opt_in\n"a@b.c",SUBSCRIBED\nb@b.c,yes',
      "line 3, column email_opt_in: email_opt_in must be one of SUBSCRIBED, NON_SUBSCRIBED, UNSUBSCRIBED",
    ],
    ["a wrong address", "email\nada@", "line 2, column email: email must be an email address"],
    ["an unknown list", "email,lists\na@b.c,news", 'column lists: there is no list "news"; there are mock-'],
    ["a person twice", "email,city\na@b.c,\nA@b.c,", "line 3, column email: is that of line 2: a person has"],
    ["too many cells", "email,city\na@b.c,Bern, BE", "line 2: has 3 cells, the first line has 2: put a cell"],
    ["a quote that does not end", 'email\n"a@b.c\n', "line 2: a quote does not end"],
    ["letters of Windows-1252", windows1252, "line 2: the file is not UTF-8: save it as UTF-8, in Excel as"],
  ])("with %s is an error that names line and column", async (_, content, message) => {
    const file = await mockCommand.write("people.csv", content);

    await expectFailure(["--port", "0", "--seed", file], `--seed ${file}: `, message);
  });
});
