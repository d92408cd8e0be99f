import { statSync } from "node:fs";
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { RateLimiter } from "audience-sdk";
import { beforeEach, describe, expect, it, vi } from "vitest";
import {
  imported,
  csv as csvIn,
  emailConsents,
  list,
  run,
  runOnMock,
  segment,
  sentBodies,
  service,
  temporaryFolder,
} from "./importer-fixture.ts";

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
});

const csv = (name: string, ...lines: string[]) => csvIn(folder, name, ...lines);

describe("--list", () => {
  it("adds each contact to it, with the consent of the file, by a call for each row and one for the list", async () => {
    const { code, consents, requests, mock } = await imported(
      ["email,status", "ada@example.com,subscribed", "bo@example.com,pending"],
      undefined,
      "--list",
      list.id,
    );

    expect({ code, requests }).toEqual({ code: 0, requests: 3 });
    expect(mock.organization("real").memberships).toHaveLength(2);
    expect(consents).toEqual({ "ada@example.com": "SUBSCRIBED", "bo@example.com": "NON_SUBSCRIBED" });
  });

  it("a row without an e-mail consent is reported and not sent", async () => {
    const mock = service([{ email: "bo@example.com", email_opt_in: "UNSUBSCRIBED" }]);
    const path = await csv("people.csv", "email,status", "ada@example.com,subscribed", "bo@example.com,");

    const { code, out } = await run([path, "--list", list.id]);

    expect(code).toBe(1);
    expect(out).toContain("people.csv, row 3: email consent: is unstated");
    expect(emailConsents(mock)).toEqual({
      "bo@example.com": "UNSUBSCRIBED",
      "ada@example.com": "SUBSCRIBED",
    });
    expect(mock.organization("real").memberships).toHaveLength(1);
  });

  it.each([
    ["gone", "The service has no list gone. Nothing was sent. Check --list.\n"],
    [
      segment.id,
      "regulars is a segment, and contacts can be added only to a list. Nothing was sent. Check --list.\n",
    ],
  ])("that is none ends the import before a contact is created: %s", async (id, err) => {
    const lines = ["email,status", "ada@example.com,subscribed"];

    const ended = await imported(lines, undefined, "--list", id);

    expect(ended).toMatchObject({ code: 2, err, consents: {} });
    expect(ended.bodies).toEqual([]);
  });

  const unchecked = "The list readers could not be checked, so nothing was sent: ";
  it.each([
    ["the service fails", { maxRetries: 0 }, ["--list", list.id], unchecked],
    ["the key is refused", { apiKey: "another-key" }, ["--list", list.id], unchecked],
    ["the key is refused without a list", { apiKey: "another-key" }, [], "Nothing was imported: 401"],
  ])(
    "that cannot be checked, or a wrong key, ends the import with code 2: %s",
    async (_, own, options, told) => {
      const mock = service();
      if ("maxRetries" in own) mock.addFault({ kind: "500-before" });
      const path = await csv("people.csv", "email,email_opt_in", "ada@example.com,SUBSCRIBED");

      const { code, err } = await runOnMock(mock, [path, ...options], { ...mock.clientOptions, ...own });

      expect({ code, consents: emailConsents(mock) }).toEqual({ code: 2, consents: {} });
      expect(err).toContain(told);
    },
  );
});

describe("--report", () => {
  it("writes the failed rows in their own layout, so that they can be corrected and imported again", async () => {
    const mock = service();
    const name = "subscribed_x.csv";
    const report = join(folder, "failed");
    const path = await csv(
      name,
      "Email Address,Address,LEID",
      "ada@example.com,here,1",
      '"leo @example.net","14, Larch ""Road""",2',
      "eve.example.net,there,3",
    );
    const first = await run([path, "--report", report]);
    const text = await readFile(join(report, name), "utf8");
    expect(first.out).toContain(join(report, name));
    expect(text.split("\r\n")[0]).toBe("\ufeffEmail Address,Address,LEID,import: reason");

    await writeFile(join(report, name), text.replace("leo @example.net", "leo@example.net"));
    const second = await run([join(report, name)]);

    expect(second.out).toContain("row 3: email: must be an e-mail address");
    expect(emailConsents(mock)).toEqual({ "ada@example.com": "SUBSCRIBED", "leo@example.net": "SUBSCRIBED" });
    expect(mock.organization("real").contacts[1]?.custom_properties).toEqual({
      address: '14, Larch "Road"',
      leid: "2",
    });
  });

  it("is its owner's alone and holds no cell that a spreadsheet runs; corrected, each cell is as it was", async () => {
    const mock = service();
    const report = join(folder, "failed");
    const notes = ["=1+1", "Ada;=1+1;", "\uFF0B1|@SUM(A1)", "'=1", "Ada - Grace"];
    const path = await csv(
      "people.csv",
      "email,status,notes",
      ...notes.map((note, index) => `person-${index}(at)example.com,subscribed,"${note}"`),
    );
    await run([path, "--report", report]);
    const reported = join(report, "people.csv");
    const text = await readFile(reported, "utf8");

    for (const separator of [",", ";", "|", "\t"])
      for (const cell of text.split("\r\n").flatMap((line) => line.split(separator)))
        expect(cell).not.toMatch(/^["\s]*[=+\-@\uFF0B]/);
    if (process.platform !== "win32") expect(statSync(reported).mode & 0o777).toBe(0o600);

    await writeFile(reported, text.replaceAll("(at)", "@"));
    await run([reported]);

    const { contacts } = mock.organization("real");
    const stored = contacts.flatMap((contact) => Object.values(contact.custom_properties ?? {}));
    expect(stored.toSorted()).toEqual(notes.toSorted());
  });

  it("contains the strictest consent, so that no corrected row alone subscribes a contact again", async () => {
    const mock = service();
    const report = join(folder, "failed");
    const one = await csv(
      "one.csv",
      "email,external_id,note,email_opt_in",
      "ada@example.com,,a,subscribed,x",
      "bo@example.com,,b,unsubscribed",
      "cy@example.com,k2",
      "fay@example.com,,f,subscribed,",
      "eve(at)example.com,k1,e,subscribed",
    );
    const left = ["ada@example.com,,unsubscribed", "di@example.com,k1,unsubscribed"];
    await run([one, await csv("two.csv", "email,external_id,email_opt_in", ...left), "--report", report]);
    const refused = Object.fromEntries(
      ["ada", "bo", "di"].map((name) => [`${name}@example.com`, "UNSUBSCRIBED"]),
    );

    const text = await readFile(join(report, "one.csv"), "utf8");
    // A spreadsheet gives each line the surplus cells of others.
    const saved = text.replace(/(?<!,x|,\(blank\))\r\n/g, ",\r\n");
    for (const unchanged of [text, saved]) {
      await writeFile(join(report, "one.csv"), unchanged);
      const { code } = await run([join(report, "one.csv")]);
      expect({ code, consents: emailConsents(mock) }).toEqual({ code: 1, consents: refused });
    }
    const corrected = saved
      .replace(/,x\r\n/, ",\r\n")
      .replace("(blank)", "")
      .replace("(at)", "@")
      .replace("k2,,,", "k2,c,subscribed,");
    await writeFile(join(report, "one.csv"), corrected);

    expect((await run([join(report, "one.csv")])).code).toBe(0);
    expect(emailConsents(mock)).toEqual({
      ...refused,
      "cy@example.com": "SUBSCRIBED",
      "fay@example.com": "SUBSCRIBED",
      "eve@example.com": "UNSUBSCRIBED",
    });
  });

  it("is not imported without the file beside it that holds who has refused, unless its reasons are taken out", async () => {
    const mock = service();
    const one = await csv(
      "one.csv",
      "email,email_opt_in",
      "ada@@example.com,SUBSCRIBED",
      "ada@example.com,UNSUBSCRIBED",
    );
    await run([one, "--report", join(folder, "failed")]);
    const text = (await readFile(join(folder, "failed/one.csv"), "utf8")).replace("@@", "@");
    const alone = await csv("alone.csv", text);
    const requests = mock.requests.length;

    const { code, err } = await run([alone]);

    expect({ code, requests: mock.requests.length }).toEqual({ code: 2, requests });
    expect(err).toContain(`${alone}.refused.json is missing. ${alone} is a report`);
    await writeFile(`${alone}.refused.json`, await readFile(join(folder, "failed/one.csv.refused.json")));
    expect((await run([alone])).code).toBe(0);
    await rm(`${alone}.refused.json`);
    await writeFile(alone, text.replace(/,import: reason|,"?email: .*/g, ""));
    expect((await run([alone, one])).code).toBe(1);
    expect(emailConsents(mock)).toEqual({ "ada@example.com": "UNSUBSCRIBED" });
  });

  const needed = { code: 2, err: expect.stringContaining("has no consent. State it") as string };
  it.each<[string, string[], string[], object, object]>([
    [
      "no consent for a row without one, if its file needed none",
      ["bo@example.com,yes", "ada(at)example.com,"],
      [],
      { code: 0, err: "" },
      {},
    ],
    [
      "the consent of its rows again, if its file had none",
      ["bo@example.com,", "ada(at)example.com,"],
      ["--consent", "keep"],
      needed,
      {},
    ],
    [
      "it also if its file was imported with --consent for such rows",
      ["bo@example.com,yes", "ada(at)example.com,"],
      ["--consent", "UNSUBSCRIBED"],
      needed,
      { email_opt_in: "UNSUBSCRIBED" },
    ],
  ])("needs %s", async (_what, lines, options, withoutOptions, optIn) => {
    const mock = service();
    const report = ["--report", join(folder, "failed")];
    const reported = join(folder, "failed/people.csv");
    const first = await run([await csv("people.csv", "email,unsubscribed", ...lines), ...options, ...report]);
    // A report of the report is one, too.
    await run([reported, ...options, ...report]);
    await writeFile(reported, (await readFile(reported, "utf8")).replace("ada(at)", "ada@"));

    const forgotten = await run([reported]);
    const again = await run([reported, ...options]);

    expect(first.out).toContain(
      `Written to ${reported}: correct them, and import that file with the same options and another folder for --report.`,
    );
    expect(forgotten).toMatchObject(withoutOptions);
    expect(again.code).toBe(0);
    expect(sentBodies(mock)[0]).toEqual({ email: "ada@example.com", ...optIn });
  });

  it.each([
    ["another file than a report", "other", "which is no report"],
    ["the file that is being imported", "", "which is being imported"],
  ])("never replaces %s", async (_what, name, why) => {
    const mock = service();
    await mkdir(join(folder, "other"));
    const lines = ["email,status", "bo@example.com,subscribed", "eve.example.net,subscribed"];
    const path = await csv("people.csv", ...lines);
    await copyFile(path, join(folder, "other/people.csv"));

    const { code, err } = await run([path, "--report", join(folder, name)]);

    const replaced = join(folder, name, "people.csv");
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringContaining(`--report would replace ${replaced}, ${why}. Choose another folder.`),
    });
    expect(mock.requests).toEqual([]);
    expect(await readFile(replaced, "utf8")).toBe(lines.map((line) => `${line}\n`).join(""));
  });
});

describe("--resume", () => {
  it("sends the values of a newer file, and keeps a refusal that an older one has said", async () => {
    const mock = service();
    const path = join(folder, "people.csv");
    const nightly = async (word: string) => {
      await csv("people.csv", "email,status", `ada@example.com,${word}`, "bo@example.com,subscribed");
      const { out } = await run([path, "--resume", join(folder, "nightly.ckpt")]);
      return [emailConsents(mock)["ada@example.com"], /Imported \d+ of \d+/.exec(out)?.[0]];
    };

    expect(await nightly("unsubscribed")).toEqual(["UNSUBSCRIBED", "Imported 2 of 2"]);
    expect(await nightly("subscribed")).toEqual(["UNSUBSCRIBED", "Imported 1 of 2"]);
    expect(await nightly("unsubscribed")).toEqual(["UNSUBSCRIBED", "Imported 1 of 2"]);
    expect(await nightly("unsubscribed")).toEqual(["UNSUBSCRIBED", "Imported 0 of 2"]);
    // Three of them look.
    expect(mock.requests).toHaveLength(5);
  });

  it("does not resend a row that has moved, or is in another file", async () => {
    const mock = service();
    const args = ["--resume", join(folder, "nightly.ckpt")];
    const one = await csv("one.csv", "email,status", "a@example.com,subscribed", "b@example.com,subscribed");
    const two = await csv("two.csv", "status;Email", "subscribed;B@example.com", "subscribed;A@example.com");
    await run([one, ...args]);

    const { out } = await run([two, ...args]);

    expect(out).toContain("Imported 0 of 2 rows");
    expect(mock.requests).toHaveLength(2);
  });

  it("knows a person again by an address in another spelling, and looks at her", async () => {
    const mock = service();
    const args = ["--resume", join(folder, "nightly.ckpt")];
    await run([await csv("one.csv", "email,status", "ada@müller.example,subscribed"), ...args]);
    mock.unsubscribe("ada@müller.example", { channel: "email" });

    const two = await csv("two.csv", "email,status,city", "ADA@xn--mller-kva.example,subscribed,Bern");
    await run([two, ...args]);

    expect(emailConsents(mock)["ada@xn--mller-kva.example"]).toBe("UNSUBSCRIBED");
    expect(mock.resubscriptions).toEqual([]);
  });

  it("counts what was imported apart from the opt-outs of rows that were not", async () => {
    const words = { subscribed: "SUBSCRIBED", unsubscribed: "UNSUBSCRIBED" } as const;
    const { out } = await imported(
      ["email,status", "a@example.com,unsubscribed", "a@example.com,??", "b@example.com,subscribed"],
      { email: "email", status: { consent: "email", words } },
      "--resume",
      join(folder, "nightly.ckpt"),
    );

    expect(out).toContain("Of 2 rows the opt-outs alone were sent.");
    expect(/Imported .*/.exec(out)?.[0]).toMatch(/^Imported 1 of 3 rows in [^;]*\.$/);
  });

  it("the file of one organization is refused for another one, and --organization survives a new key", async () => {
    const mock = service([], undefined, ["mock-key-after-a-rotation"]);
    const path = await csv("people.csv", "email,status", "ada@example.com,subscribed");
    const args = [path, "--resume", join(folder, "import.ckpt")];
    await run(args);
    vi.stubEnv("AUDIENCE_API_KEY", "mock-key-after-a-rotation");

    const { code, err } = await run(args);
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringMatching(
        /^The checkpoint .*import\.ckpt was recorded .* name it as --organization NAME in this run .*, or name another file with --resume\.$/m,
      ),
    });
    const named = await run([...args, "--organization", "acme"]);

    expect(named.out).toContain("Imported 0 of 1 row in");
    expect(mock.requests).toHaveLength(1);
  });
});

describe("The command line", () => {
  it("--help shows every option", async () => {
    const { code, out } = await run(["--help"]);

    expect(code).toBe(0);
    for (const option of "dry-run map yes list consent encoding resume organization snapshot report reserve mock".split(
      " ",
    ))
      expect(out).toContain(`--${option} `);
  });

  it.each([
    [[], /at least one CSV file/],
    [["x.csv", "--famly", "v1"], /famly/],
    [["x.csv", "--consent", "yes"], /--consent is keep, NON_SUBSCRIBED, UNSUBSCRIBED or SUBSCRIBED/],
    [["x.csv", "--consent", "keep", "--list", "a"], /--consent keep cannot be combined with --list/],
    [["x.csv", "--encoding", "latin-9000"], /--encoding is one that is known, .*, not "latin-9000"/],
    [["x.csv", "x.csv"], /x\.csv is named twice/],
    [["nowhere.csv", "--dry-run"], /nowhere\.csv/],
    [["x.csv", "--reserve", "1"], /--reserve is a share from 0 to 0.9/],
  ])("%j is refused with the problem", async (args, message) => {
    const { code, err } = await run(args);

    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(message) });
  });

  it("--reserve 0 leaves no room: the last permit of the window is taken", async () => {
    const mock = service();
    const rows = Array.from({ length: 10 }, (_, row) => `person-${row}@example.com,SUBSCRIBED`);
    const path = await csv("people.csv", "email,email_opt_in", ...rows);
    const rateLimiter = new RateLimiter({ windows: [{ limit: 10, intervalMs: 3_600_000 }] });
    const client = { ...mock.clientOptions, rateLimiter };

    expect((await runOnMock(mock, [path, "--reserve", "0"], client)).code).toBe(0);
    expect(mock.requests).toHaveLength(10);
  });

  it.each([
    ["dry_run", "true", "--dry-run`"],
    ["list", "readers", "--list …`"],
  ])("refuses an option that npm has kept for itself: %s", async (name, value, option) => {
    const mock = service();

    const { code, err } = await run(["people.csv"], { [`npm_config_${name}`]: value });

    expect(code).toBe(2);
    expect(err).toContain(`write \`npm run import -- FILE… ${option}`);
    expect(mock.requests).toEqual([]);
  });

  it.each([
    [["--list", "any"], "The mock holds 1 contact, 1 of them in the list."],
    [[], "The mock holds 1 contact."],
  ])("--mock %j imports into a local mock, for any environment", async (args, state) => {
    const { code, out, mock } = await imported(
      ["email,status", "ada@example.com,subscribed"],
      undefined,
      "--mock",
      ...args,
    );

    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining(state) });
    // Without a limit nobody knows how long it takes.
    expect(out).toContain("1 of 1 row can be imported.\n");
    expect(mock.requests).toEqual([]);
  });

  it("estimates how long it takes, and names the option that shortens it", async () => {
    const people = Array.from({ length: 950 }, (_, number) => `a${number}@example.com,subscribed`);

    const { out } = await imported(["email,status", ...people], undefined, "--dry-run");

    expect(out).toContain(
      "950 of 950 rows can be imported in about 1 h (with --reserve 0 in about 9 min 4 s).",
    );
  });
});
