import { chmodSync, readFileSync, statSync } from "node:fs";
import { connect } from "node:net";
import { parseEnv } from "node:util";
import type { MockOrganizationState } from "audience-sdk/mock";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { exitCodeOf, MockCommand } from "./mock-command.ts";

let mockCommand: MockCommand;
beforeAll(async () => {
  mockCommand = await MockCommand.bundle();
});
afterEach(() => mockCommand.end());
afterAll(() => mockCommand.remove());

const KEY = { "x-api-key": "mock-api-key-not-a-secret", "content-type": "application/json" };
const post = (url: string, path: string, body: unknown) =>
  fetch(url + path, { method: "POST", headers: KEY, body: JSON.stringify(body) });
const contactsOf = async (url: string) => {
  const response = await fetch(`${url}/__mock/organizations/mock-organization`);
  return (await response.json()) as MockOrganizationState;
};
const linesOf = (output: string) => output.split("\n").filter((line) => /^\d\d:\d\d:\d\d\.\d{3} /.test(line));
const ada = { email: "ada@example.com", email_opt_in: "SUBSCRIBED" };

describe("audience-mock, its lines", () => {
  it("one tells time, operation, status, and what the request changed", async () => {
    const { url, output, printed } = await mockCommand.serve();
    await post(url, "/api/v1/contact-groups/mock-list/contacts", ada);
    await printed("Newsletter\n");
    const [line = "", ...others] = linesOf(output());

    expect(line).toMatch(/^\d\d:\d\d:\d\d\.\d{3} {2}v1\.contactGroups\.addContact {2}200 {2}/);
    expect(line).toContain("  ada@example.com: created; email SUBSCRIBED; joined the list Newsletter");
    expect(others).toEqual([]);
  });

  it("one of a refused request tells the rule, and its section of the document", async () => {
    const { url, printed } = await mockCommand.serve();
    await post(url, "/api/v1/customer/create", { emial: "ada@example.com" });
    const [line = ""] = linesOf(await printed("refused"));

    expect(line).toContain("v1.customers.upsert          400  refused: emial is not a recognized field");
    expect(line).toContain('("');
  });

  it("one of a fault tells its kind, and whether the write was applied", async () => {
    const { url, printed } = await mockCommand.serve();
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

  it("one of an unknown path tells method and path; the mock's own paths and a browser's have none", async () => {
    const { url, printed } = await mockCommand.serve();
    await fetch(`${url}/favicon.ico`);
    await fetch(url);
    await fetch(`${url}/__mock/requests`);
    await fetch(`${url}/api/v1/elsewhere`, { headers: KEY });
    const lines = linesOf(await printed("elsewhere"));

    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("  GET /api/v1/elsewhere        404  refused: ");
  });

  it("one holds no character that steers a terminal, no key, and at most 400 characters", async () => {
    const { url, output, printed } = await mockCommand.serve();
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
    const { child, url, output } = await mockCommand.serve("--quiet");
    await post(url, "/api/v1/customer/create", ada);
    child.kill("SIGTERM");

    expect(await exitCodeOf(child)).toBe(0);
    expect(output()).toBe(`audience-mock listens on ${url}\n`);
  });

  it("a request that is cut off by the end of the process does not keep it", async () => {
    const { child, url, printed } = await mockCommand.serve();
    await post(url, "/__mock/faults", { kind: "hang" });
    const { port } = new URL(url);
    const socket = connect(Number(port), "127.0.0.1");
    socket.on("error", () => undefined);
    socket.write(`GET /v2/lists HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
    await fetch(`${url}/__mock/requests`);
    child.kill("SIGINT");

    expect(await exitCodeOf(child)).toBe(0);
    await expect(printed("never")).rejects.toThrow("it ended");
  });
});

describe("audience-mock --env", () => {
  it("writes the environment of a client for its owner alone, in place of an older file", async () => {
    const file = await mockCommand.write(".env", "OLD=1\n");
    chmodSync(file, 0o644);
    const { url } = await mockCommand.serve("--env", file);

    expect(parseEnv(readFileSync(file, "utf8"))).toEqual({
      AUDIENCE_BASE_URL: url,
      AUDIENCE_BASE_URL_V2: url,
      AUDIENCE_API_KEY: "mock-api-key-not-a-secret",
      AUDIENCE_APP_ID: "mock-app-id",
    });
    if (process.platform !== "win32") expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it.each([["plain-key"], ["a key with spaces"], ["it's"], [`it's "quoted"`], ["a#b$c"]])(
    "the key %s is read as it is",
    async (key) => {
      const seed = [{ id: "acme", apiKeys: [key], apiKeysV2: ["v2"], appId: "acme-app" }];
      const file = mockCommand.path(".env");
      await mockCommand.serve(
        "--env",
        file,
        "--seed",
        await mockCommand.write("seed.json", JSON.stringify(seed)),
      );

      const { AUDIENCE_API_KEY, AUDIENCE_API_KEY_V2 } = parseEnv(readFileSync(file, "utf8"));
      expect([AUDIENCE_API_KEY, AUDIENCE_API_KEY_V2]).toEqual([key, "v2"]);
    },
  );

  it("a folder that does not exist is an error, and the mock ends", async () => {
    const { code, errors } = await mockCommand.run("--port", "0", "--env", mockCommand.path("no/.env"));

    expect(code).toBe(1);
    expect(errors).toMatch(/--env .*ENOENT/);
    expect(errors).not.toMatch(/^\s+at /m);
  });
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
    const { url } = await mockCommand.serve("--seed", seed);
    const { contacts, memberships } = await contactsOf(url);

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
    ["semicolons", "people.csv", "email;city\nada@example.com;Bern, BE\n"],
    ["tabs", "people.tsv", "email\tcity\nada@example.com\tBern, BE"],
    ["an ending in upper case", "people.CSV", 'email,city\nada@example.com,"Bern, BE"'],
  ])("with %s is read", async (_, name, content) => {
    const { url } = await mockCommand.serve("--seed", await mockCommand.write(name, content));

    expect((await contactsOf(url)).contacts).toMatchObject([{ email: "ada@example.com", city: "Bern, BE" }]);
  });

  it.each([
    ["no content", "", "line 1: the file is empty; its first line names the columns"],
    [
      "an unknown column",
      "email,shoe size\na@example.com,42",
      'line 1: "shoe size" is no column: remove it, or rename it',
    ],
    ["a column that is there twice", "email,E-Mail,Email", 'line 1: "E-Mail" is no column'],
    ["two columns of one name", "email,Email", 'line 1: two columns are "email": remove one'],
    [
      "a word that is no consent",
      'email,email_opt_in\n"a@example.com",SUBSCRIBED\nb@example.com,yes',
      "line 3, column email_opt_in: email_opt_in must be one of SUBSCRIBED, NON_SUBSCRIBED, UNSUBSCRIBED",
    ],
    ["no address", "email,city\n,Bern", "line 2, column email: email or phone is required"],
    ["a wrong address", "email\nada@", "line 2, column email: email must be an email address"],
    [
      "neither true nor false",
      "email,is_suppressed\na@example.com,ja",
      'column is_suppressed: must be true or false, not "ja"',
    ],
    [
      "an unknown list",
      "email,lists\na@example.com,news",
      'column lists: there is no list "news"; there are mock-list, mock-segment',
    ],
    [
      "a person twice",
      "email,city\na@example.com,\nA@example.com,",
      "line 3, column email: is that of line 2: a person has one line",
    ],
    [
      "too many cells",
      "email,city\na@example.com,Bern, BE",
      "line 2: has 3 cells, the first line has 2: put a cell",
    ],
    ["a quote that does not end", 'email\n"a@example.com\n', "line 2: a quote does not end"],
    [
      "a quote inside a cell",
      'email,city\na@example.com,5" wide\n',
      "line 2: a quote does not end, or stands inside a cell",
    ],
    [
      "a line after a cell of two lines",
      'email,city\na@example.com,"B\nE"\nb,',
      "line 4, column email: email must be",
    ],
  ])("with %s is an error that names line and column", async (_, content, message) => {
    const file = await mockCommand.write("people.csv", content);
    const { code, errors } = await mockCommand.run("--port", "0", "--seed", file);

    expect(code).toBe(1);
    expect(errors).toContain(`--seed ${file}: `);
    expect(errors).toContain(message);
    expect(errors).not.toMatch(/^\s+at /m);
  });
});

it.each(["--state=", "--env=", "--seed="])("audience-mock %s without a path is an error", async (option) => {
  const { code, errors } = await mockCommand.run(option);

  expect(code).toBe(1);
  expect(errors).toContain(`${option.slice(0, -1)} must be the path of a file`);
});
