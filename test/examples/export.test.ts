import { existsSync, mkdirSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { ClientOptions } from "audience-sdk";
import { openSnapshot } from "audience-sdk/snapshot";
import { parse } from "csv-parse/sync";
import { describe, expect, it, vi } from "vitest";
import { runExport } from "../../examples/export/export.ts";
import { createAudience, failingFrom, temporaryFolder } from "../snapshot/fixture.ts";
import { runHere } from "./run-program.ts";

const run = (args: readonly string[], client: ClientOptions = {}, signal?: AbortSignal) =>
  runHere((given) => runExport({ args, client, ...given }), { signal });

/** An account, the options of its client, and a folder. */
function account(contacts: readonly object[]) {
  const folder = temporaryFolder();
  const data = { data: contacts, total_items: contacts.length };
  const options = {
    baseUrl: "https://api.example",
    apiKey: "mock-key-acme",
    rateLimiter: false,
    maxRetries: 0,
    fetch: async () => Response.json(data),
  } satisfies ClientOptions;
  return { folder, options, csv: join(folder, "audience.csv") };
}

const rowsOf = (file: string) => parse(readFileSync(file, "utf8"), { bom: true });

describe("npm run export writes the audience as a table", () => {
  it("of consents, readable by its owner alone, with nothing beside it", async () => {
    const contacts = [{ id: "1", email: "ada@example.com", first_name: "Ada", email_opt_in: "SUBSCRIBED" }];
    const { folder, options, csv } = account(contacts);

    const { code, out, err } = await run([csv], options);

    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain(`Wrote 1 contact to ${csv}`);
    expect(out).toContain("Every page told the same total");
    expect(rowsOf(csv)).toEqual([
      ["id", "email", "phone", "email_opt_in", "phone_opt_in", "is_suppressed", "updated"],
      ["1", "ada@example.com", "", "SUBSCRIBED", "", "", ""],
    ]);
    expect(readdirSync(folder)).toEqual(["audience.csv"]);
    expect(statSync(csv).mode & 0o077).toBe(process.platform === "win32" ? 0o066 : 0);
  });

  it("of every attribute with --all, each custom property in a column of its own", async () => {
    const custom_properties = { plan: "pro", "a,b": "x" };
    const contacts = [
      { id: "1", email: "ada@example.com", first_name: "Ada", custom_properties },
      { id: "2", email: "bob@example.com", tags: ["a"] },
    ];
    const { options, csv } = account(contacts);

    expect((await run([csv, "--all"], options)).code).toBe(0);

    const [heading = [], ada = [], bob = []] = rowsOf(csv);
    const cellsOf = (row: string[]) => Object.fromEntries(heading.map((name, at) => [name, row[at]]));
    expect(cellsOf(ada)).toMatchObject({
      first_name: "Ada",
      "custom_properties.plan": "pro",
      "custom_properties.a,b": "x",
    });
    expect(cellsOf(bob)).toMatchObject({ email: "bob@example.com", first_name: "", tags: '["a"]' });
  });

  it.each([
    ["=1+1", "'=1+1"],
    ["+44 1632 960000", "'+44 1632 960000"],
    ["-1", "'-1"],
    ["@SUM(A1)", "'@SUM(A1)"],
    ["\t=1", "\t'=1"],
    ["\n=1", "\n'=1"],
    ["\u{ff1d}1+1", "'\u{ff1d}1+1"],
    ["Ada;=1+1;", "Ada;'=1+1;"],
    ['Ada|"@SUM(A1)"', `Ada|"'@SUM(A1)"`],
    ["Ada - Grace", "Ada - Grace"],
    ['a "quoted", part', 'a "quoted", part'],
    ["two\nlines", "two\nlines"],
  ])("a spreadsheet runs no cell as a formula: %j", async (phone, cell) => {
    const { options, csv } = account([{ id: "1", phone }]);

    await run([csv], options);

    expect(rowsOf(csv)[1]?.[2]).toBe(cell);
  });

  it("or as a snapshot, which openSnapshot opens", async () => {
    const { folder, options } = account([{ id: "1", email: "ada@example.com" }]);
    const file = join(folder, "audience.ndjson");

    expect((await run([file, "--organization", "acme"], options)).code).toBe(0);

    using snapshot = await openSnapshot(file);
    expect(snapshot.find({ email: "ADA@example.com" })?.id).toBe("1");
    expect(readdirSync(folder)).toEqual(["audience.ndjson"]);
  });

  it("of a mock with --mock, and shows how far it is", async () => {
    const csv = join(temporaryFolder(), "audience.csv");

    const { code, out } = await run([csv, "--mock", "--reserve", "0"]);

    expect(code).toBe(0);
    expect(out).toContain("100 %  250 of 250 contacts");
    expect(rowsOf(csv)).toHaveLength(251);
  });

  it("says that somebody may be missing where no total is told", async () => {
    const { options, csv } = account([]);
    const fetch = async () => Response.json({ data: [{ id: "1" }] });

    const { out } = await run([csv], { ...options, fetch });

    expect(out).toContain("1 contacts");
    expect(out).toContain("somebody may be missing");
  });
});

describe("An export that is stopped goes on with the same command", () => {
  it("after a failure", async () => {
    const { mock } = createAudience(250);
    const { options, csv } = account([]);

    const first = await run([csv], { ...options, fetch: failingFrom(3, mock.fetch) });
    const second = await run([csv], { ...options, fetch: mock.fetch });

    expect(first.code).toBe(1);
    expect(first.err).toContain("The same command goes on where it was.");
    expect(second.code).toBe(0);
    expect(mock.requests.map(({ query }) => query["page"])).toEqual(["1", "2", "3"]);
    expect(rowsOf(csv)).toHaveLength(251);
  });

  it("after Ctrl-C", async () => {
    const { options, csv } = account([{ id: "1" }]);

    const { code, out } = await run([csv], options, AbortSignal.abort());

    expect(code).toBe(130);
    expect(out).toContain("Stopped. The same command goes on where it was.");
    expect(existsSync(csv)).toBe(false);
  });
});

describe("A command line that cannot be meant ends with 2", () => {
  it.each(["csv", "ndjson"])("a folder in the place of the .%s, before anything is read", async (ending) => {
    const { folder, options } = account([{ id: "1" }]);
    const file = join(folder, `audience.${ending}`);
    mkdirSync(file);
    const fetch = vi.fn(options.fetch);

    const { code, err } = await run([file], { ...options, fetch });

    expect(code).toBe(2);
    expect(err).toContain(`The export was ended: ${file} is a folder, and no regular file.`);
    expect(fetch).not.toHaveBeenCalled();
    expect(readdirSync(folder)).toEqual([`audience.${ending}`]);
  });
});
