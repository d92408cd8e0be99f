import { statSync } from "node:fs";
import { copyFile, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { progressLine } from "../../examples/importer/progress-line.ts";
import {
  csv as csvIn,
  emailConsents,
  list,
  otherList,
  run,
  segment,
  sentBodies,
  service,
  sortedContacts,
  temporaryFolder,
} from "./importer-fixture.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const data = join(repository, "examples/data");

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
});

const csv = (name: string, ...lines: string[]) => csvIn(folder, name, ...lines);

describe("Files", () => {
  it("with plain headings: with the consent of their columns, and without a statement as the service has it", async () => {
    const mock = await service();
    const path = await csv(
      "people.csv",
      "E-Mail,First Name,Phone Number,email_opt_in,phone opt-in,Favourite colour",
      "Ada@Example.com,Ada,+44 7700 900511,Subscribed,subscribed,teal",
      "bo@example.com,Bo,,unsubscribed,,",
      "cy@example.com,Cy,,,,",
    );

    const { code, out } = await run([path]);

    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining("Imported 3 of 3 rows") });
    expect(sortedContacts(mock)).toMatchObject([
      {
        email: "ada@example.com",
        phone: "+447700900511",
        email_opt_in: "SUBSCRIBED",
        phone_opt_in: "SUBSCRIBED",
        custom_properties: { favourite_colour: "teal" },
      },
      { email: "bo@example.com", email_opt_in: "UNSUBSCRIBED" },
      // The service's default for a new contact.
      { email: "cy@example.com", email_opt_in: "NON_SUBSCRIBED" },
    ]);
    expect(sentBodies(mock)[2]).toEqual({ email: "cy@example.com", first_name: "Cy" });
  });

  it("the exports of Mailchimp and Klaviyo: a person in two exports has the stricter consent", async () => {
    const mock = await service();
    const mailchimp = await csv(
      "subscribed_x.csv",
      "Email Address,First Name,LEID",
      "ada@example.com,Ada,1",
      "bo@example.com,Bo,2",
    );
    const klaviyo = await csv(
      "k.csv",
      "Email,Klaviyo ID,Email Marketing Consent",
      "ADA@example.com,1,UNSUBSCRIBED",
      "cy@example.com,2,",
    );

    const { code } = await run([mailchimp, klaviyo]);

    expect(code).toBe(0);
    expect(emailConsents(mock)).toEqual({
      "ada@example.com": "UNSUBSCRIBED",
      "bo@example.com": "SUBSCRIBED",
      "cy@example.com": "NON_SUBSCRIBED",
    });
  });

  it("all data of the examples, on the mock", async () => {
    const files = ["mailchimp", "klaviyo"].map(async (name) =>
      (await readdir(join(data, name))).map(async (file) => {
        // The importer writes a map beside each file.
        await copyFile(join(data, name, file), join(folder, file));
        return join(folder, file);
      }),
    );

    const { code, out } = await run([...(await Promise.all((await Promise.all(files)).flat())), "--mock"]);

    expect(code).toBe(1);
    expect(out).toContain("7 rows are not imported:");
    expect(out).toContain("Imported 128 of 135 rows");
  });

  it("with unknown headings are refused before any request", async () => {
    const mock = await service();

    const { code, err } = await run([await csv("numbers.csv", "a,b", "1,2")]);

    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringMatching(
        /numbers\.csv: no column identifies the person of a row\. Its headings begin with a, b; one must be email or phone/,
      ),
    });
    expect(mock.requests).toEqual([]);
  });
});

describe("--list", () => {
  it("adds each contact to it, with the consent of the file", async () => {
    const mock = await service();
    const path = await csv(
      "people.csv",
      "email,status",
      "ada@example.com,subscribed",
      "bo@example.com,pending",
    );

    const { code } = await run([path, "--list", list.id]);

    expect(code).toBe(0);
    expect(mock.organization("real").memberships).toHaveLength(2);
    expect(emailConsents(mock)).toEqual({
      "ada@example.com": "SUBSCRIBED",
      "bo@example.com": "NON_SUBSCRIBED",
    });
  });

  it("a row without an e-mail consent is reported and not sent", async () => {
    const mock = await service([{ email: "bo@example.com", email_opt_in: "UNSUBSCRIBED" }]);
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

  it.each(["v1", "v2"])(
    "that does not exist ends the import before a contact is created: %s",
    async (family) => {
      const mock = await service();

      const { code, err } = await run([
        await csv("people.csv", "email,status", "ada@example.com,subscribed"),
        "--list",
        "gone",
        "--family",
        family,
      ]);

      expect({ code, err }).toEqual({
        code: 2,
        err: "The service has no list gone. Nothing was sent. Check --list.\n",
      });
      expect(mock.organization("real").contacts).toEqual([]);
    },
  );

  it("that is a segment ends the import before a contact is created", async () => {
    const mock = await service();
    const path = await csv("people.csv", "email,status", "ada@example.com,subscribed");

    const { code, err } = await run([path, "--list", segment.id]);

    expect({ code, err }).toEqual({
      code: 2,
      err: "regulars is a segment, and contacts can be added only to a list. Nothing was sent. Check --list.\n",
    });
    expect(mock.organization("real").contacts).toEqual([]);
  });
});

describe("--family v2", () => {
  it("sends rows with the consent of the file, and no row without one", async () => {
    const mock = await service();
    const path = await csv(
      "people.csv",
      "email,first_name,email_opt_in,consent_created_at,consent_ip,consent_source",
      "ada@example.com,Ada,subscribed,2025-03-01T10:00:00Z,192.0.2.7,web form",
      "bo@example.com,Bo,subscribed,,,",
      "cy@example.com,,unsubscribed,2025-03-01T10:00:00Z,192.0.2.7,web form",
    );

    const { code, out } = await run([path, "--family", "v2", "--list", list.id]);

    expect(code).toBe(1);
    expect(out).toMatch(/row 3: .*email consent\.createdAt.*consent_created_at/);
    expect(out).toMatch(/row 4: firstName/);
    expect(
      mock.requests.filter(({ operation }) => operation === "v2.contacts.upsert").map(({ body }) => body),
    ).toEqual([
      {
        firstName: "Ada",
        listIds: [list.id],
        identifiers: [
          {
            type: "email",
            id: "ada@example.com",
            channels: { email: { status: "subscribed" } },
            consent: { createdAt: "2025-03-01T10:00:00Z", ip: "192.0.2.7", source: "web form" },
          },
        ],
      },
    ]);
  });

  it("sends an opt-out of phone messages with the address, where the file has no number", async () => {
    const mock = await service();
    const path = await csv(
      "people.csv",
      "email,first_name,status,sms_opt_in,consent_created_at,consent_ip,consent_source",
      "ada@example.com,Ada,subscribed,no,2025-03-01T10:00:00Z,192.0.2.7,web form",
    );

    const { code } = await run([path, "--family", "v2"]);

    expect(code).toBe(0);
    const channels = { email: { status: "subscribed" }, phone: { status: "unsubscribed" } };
    expect(mock.requests).toMatchObject([{ body: { identifiers: [{ id: "ada@example.com", channels }] } }]);
    expect(mock.organization("real").contacts).toMatchObject([{ phone_opt_in: "UNSUBSCRIBED" }]);
  });

  it("sends no row with unknown consent, because v2 requires a status", async () => {
    const mock = await service();
    const path = await csv(
      "people.csv",
      "email,first_name,status,consent_created_at,consent_ip,consent_source",
      "ada@example.com,Ada,,2025-03-01T10:00:00Z,192.0.2.7,web form",
      "bo@example.com,Bo,unsubscribed,2025-03-01T10:00:00Z,192.0.2.7,web form",
    );

    const { code, out } = await run([path, "--family", "v2"]);

    expect({ code, out }).toEqual({
      code: 1,
      out: expect.stringContaining("row 2: email consent: is unstated"),
    });
    expect(mock.requests).toHaveLength(1);
  });

  it("uses the time and IP address of the confirmation in Mailchimp's export", async () => {
    const mock = await service();
    const headings = "Email Address,First Name,OPTIN_TIME,OPTIN_IP,CONFIRM_TIME,CONFIRM_IP,LEID";
    const path = await csv(
      "subscribed_x.csv",
      headings,
      "ada@example.com,Ada,2020-01-01 00:00:00,192.0.2.1,2020-07-03 15:05:20,198.51.100.2,1",
      "bo@example.com,Bo,2020-01-01 00:00:00,192.0.2.1,2020-07-03 15:05:20,,2",
    );

    await run([path, "--family", "v2"]);

    const consents = mock.requests.map(
      ({ body }) => (body as { identifiers: { consent: object }[] }).identifiers[0]?.consent,
    );
    // Over sockets two requests may arrive in any order.
    expect(consents).toHaveLength(2);
    expect(new Set(consents)).toEqual(
      new Set([
        { createdAt: "2020-07-03T15:05:20", ip: "198.51.100.2", source: "mailchimp" },
        { createdAt: "2020-01-01T00:00:00", ip: "192.0.2.1", source: "mailchimp" },
      ]),
    );
  });

  it("reads data that Klaviyo's export lacks from additional columns", async () => {
    const mock = await service();
    const headings =
      "Email,First Name,Klaviyo ID,Email Marketing Consent,Email Marketing Consent Timestamp,IP Address";
    const row = "ada@example.com,Ada,1,SUBSCRIBED,2024-11-04 09:08:48+00:00,192.0.2.129";

    const bare = await run([await csv("bare.csv", headings, row), "--family", "v2"]);
    const completed = await run([
      await csv("full.csv", `${headings},consent_ip`, `${row},198.51.100.7`),
      "--family",
      "v2",
    ]);

    // The profile's IP address may differ from that of the consent.
    expect(bare).toMatchObject({ code: 1, out: expect.stringContaining("email consent.ip") });
    expect(completed.code).toBe(0);
    expect(mock.requests).toMatchObject([
      {
        body: {
          identifiers: [
            { consent: { createdAt: "2024-11-04T09:08:48+00:00", ip: "198.51.100.7", source: "klaviyo" } },
          ],
        },
      },
    ]);
  });
});

describe("--dry-run", () => {
  it("needs no service, prints the problems and the duration, and sends nothing", async () => {
    const { code, out } = await run([
      await csv("people.csv", "email,status", "ada@example.com,subscribed", "nobody,subscribed"),
      "--dry-run",
    ]);

    expect(code).toBe(1);
    expect(out).toContain("1 of 2 rows can be imported in less than a second.");
    expect(out).toContain("people.csv, row 3: email: must be an e-mail address");
  });
});

describe("--report", () => {
  it("writes the failed rows in their own layout, so that they can be corrected and imported again", async () => {
    const mock = await service();
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
    expect(text.split("\r\n")[0]).toBe("\ufeffEmail Address,Address,LEID,import: reason,import: note");

    await writeFile(join(report, name), text.replace("leo @example.net", "leo@example.net"));
    const second = await run([join(report, name)]);

    expect(second.out).toContain("row 3: email: must be an e-mail address");
    expect(emailConsents(mock)).toEqual({ "ada@example.com": "SUBSCRIBED", "leo@example.net": "SUBSCRIBED" });
    expect(mock.organization("real").contacts[1]?.custom_properties).toEqual({
      mailchimp_address: '14, Larch "Road"',
      mailchimp_leid: "2",
    });
  });

  it("is its owner's alone and holds no cell that a spreadsheet runs; corrected, each cell is as it was", async () => {
    const mock = await service();
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

  it("contains the strictest consent, so that the corrected row alone subscribes no contact again", async () => {
    const mock = await service();
    const report = join(folder, "failed");
    const one = await csv(
      "one.csv",
      "email,note,email_opt_in",
      "ada@example.com,a,subscribed,x",
      "bo@example.com,b,unsubscribed",
    );
    const two = await csv("two.csv", "email,email_opt_in", "ada@example.com,unsubscribed");
    await run([one, two, "--report", report]);
    const both = { "ada@example.com": "UNSUBSCRIBED", "bo@example.com": "UNSUBSCRIBED" };
    expect(emailConsents(mock)).toEqual(both);

    const text = await readFile(join(report, "one.csv"), "utf8");
    expect(text).toContain("email UNSUBSCRIBED");
    const unchanged = await run([join(report, "one.csv")]);
    await writeFile(join(report, "one.csv"), text.replace(/,x\r\n$/, "\r\n"));
    const corrected = await run([join(report, "one.csv")]);

    expect([unchanged.code, corrected.code]).toEqual([1, 0]);
    expect(emailConsents(mock)).toEqual(both);
  });

  it("needs no consent for a row without one, if its file needed none", async () => {
    const mock = await service();
    const report = join(folder, "failed");
    const path = await csv("people.csv", "email,unsubscribed", "bo@example.com,yes", "ada(at)example.com,");
    await run([path, "--report", report]);
    const reported = join(report, "people.csv");

    // A report of the report still does.
    await run([reported, "--report", report]);
    const text = await readFile(reported, "utf8");
    await writeFile(reported, text.replace("ada(at)", "ada@"));
    const { code, err } = await run([reported]);

    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(sentBodies(mock)).toEqual([
      { email: "ada@example.com" },
      { email: "bo@example.com", email_opt_in: "UNSUBSCRIBED", phone_opt_in: "UNSUBSCRIBED" },
    ]);
  });

  it.each([
    [
      "had no consent",
      ["email,unsubscribed", "bo@example.com,", "ada(at)example.com,"],
      ["--consent", "keep"],
    ],
    [
      "was imported with --consent for such rows",
      ["email,unsubscribed", "bo@example.com,yes", "ada(at)example.com,"],
      ["--consent", "UNSUBSCRIBED"],
    ],
  ])("needs the consent of its rows again, if its file %s", async (_why, lines, options) => {
    const mock = await service();
    const report = join(folder, "failed");
    const first = await run([await csv("people.csv", ...lines), ...options, "--report", report]);
    const reported = join(report, "people.csv");
    expect(first.out).toContain(
      `Written to ${reported}: correct them, and import that file with the same options.`,
    );
    await writeFile(reported, (await readFile(reported, "utf8")).replace("ada(at)", "ada@"));

    const forgotten = await run([reported]);
    const again = await run([reported, ...options]);

    expect(forgotten).toMatchObject({ code: 2, err: expect.stringContaining("has no consent. State it") });
    expect(again.code).toBe(0);
    const optIn = options[1] === "keep" ? {} : { email_opt_in: "UNSUBSCRIBED" };
    expect(sentBodies(mock)[0]).toEqual({ email: "ada@example.com", ...optIn });
  });

  it("of several files is imported together, so that a corrected opt-out counts in all of them", async () => {
    const mock = await service();
    const report = join(folder, "failed");
    const files = ["crm.csv", "stop.csv"];
    await csv("crm.csv", "email,phone,sms_opt_in", "ada@example.com,+491711234567,yes");
    await csv("stop.csv", "phone,sms_opt_in", "0171 1234567,no");
    const first = await run([...files.map((name) => join(folder, name)), "--report", report]);
    const reports = files.map((name) => join(report, name));
    expect(first.out).toContain(
      `Written to ${reports.join(", ")}: correct them, and import those files together`,
    );

    const unchanged = await run(reports);
    expect([unchanged.code, mock.requests.length]).toEqual([1, 0]);
    const text = await readFile(reports[1]!, "utf8");
    await writeFile(reports[1]!, text.replace("0171 ", "+49171"));
    const { code } = await run(reports);

    expect(code).toBe(0);
    expect(mock.organization("real").contacts).toMatchObject([
      { email: "ada@example.com", phone: "+491711234567", phone_opt_in: "UNSUBSCRIBED" },
    ]);
  });

  const inDoubt: [string, Record<string, string[]>][] = [
    [
      "whose number names no country",
      {
        "crm.csv": [
          "email,phone,sms_opt_in,newsletter",
          "ada@example.com,+491711234567,yes,yes",
          "bo@example.com,0171 1234567,no,yes",
        ],
      },
    ],
    [
      "in another file",
      {
        "crm.csv": ["email,phone,sms_opt_in", "ada@example.com,+491711234567,yes"],
        "stop.csv": ["email,phone,sms_opt_out", "bo@example.com,0171/1234567,yes"],
      },
    ],
    [
      "by a number which the person's row has without its country",
      {
        "crm.csv": ["email,phone,newsletter", "ada@example.com,0171 1234567,yes"],
        "stop.csv": ["phone,unsubscribed", "+491711234567,yes"],
      },
    ],
  ];

  it.each(inDoubt)("holds the opt-out that stops a person, although it was sent: %s", async (_how, files) => {
    const mock = await service();
    const report = join(folder, "failed");
    const paths = [];
    for (const [name, lines] of Object.entries(files)) paths.push(await csv(name, ...lines));
    for (const options of [["--dry-run"], []]) {
      const { code, out } = await run([...paths, ...options, "--report", report]);
      expect(code).toBe(1);
      expect(out).toMatch(
        /1 row is not imported:\n.*\n  crm.csv, row 2: row: (crm.csv, row 3|stop.csv, row 2), may be about this person/,
      );
    }

    const unchanged = await run(Object.keys(files).map((name) => join(report, name)));

    expect(unchanged.code).toBe(1);
    expect(emailConsents(mock)).not.toHaveProperty("ada@example.com");
  });

  it("of people who left, by the name of its file, lets nobody be made SUBSCRIBED", async () => {
    const mock = await service();
    const report = join(folder, "failed");
    const path = await csv("opt-outs.csv", "email,unsubscribed", "bo@example.com,yes", "ada(at)example.com,");
    await run([path, "--report", report]);
    const reported = join(report, "opt-outs.csv");
    await writeFile(reported, (await readFile(reported, "utf8")).replace("ada(at)", "ada@"));

    const { code } = await run([reported, "--consent", "SUBSCRIBED"]);

    expect(code).toBe(0);
    expect(emailConsents(mock)).toEqual({
      "ada@example.com": "UNSUBSCRIBED",
      "bo@example.com": "UNSUBSCRIBED",
    });
  });

  it.each([[[]], [["--dry-run"]]])("never replaces another file than a report: %j", async (options) => {
    const mock = await service();
    const lines = ["email,status", "bo@example.com,subscribed", "eve.example.net,subscribed"];
    const path = await csv("people.csv", ...lines);

    const { code, err } = await run([path, "--report", folder, ...options]);

    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringContaining(
        `--report would replace ${path}, which is no report. Choose another folder.`,
      ),
    });
    expect(mock.requests).toEqual([]);
    expect(await readFile(path, "utf8")).toBe(lines.map((line) => `${line}\n`).join(""));
  });

  it("of an earlier import is removed, if its file has no failed row now", async () => {
    await service();
    const report = join(folder, "failed");
    const files = ["one.csv", "two.csv"];
    for (const name of files) await csv(name, "email,status", "bo.example.com,subscribed");
    const args = [...files.map((name) => join(folder, name)), "--report", report];
    await run(args);
    await csv("one.csv", "email,status", "bo@example.com,subscribed");

    const { out } = await run(args);

    expect(out).toContain(`Removed the report of an earlier import: ${join(report, "one.csv")}.`);
    expect(await readdir(report)).toEqual(["one.csv.map.json", "two.csv", "two.csv.map.json"]);
  });

  it("that is being imported stays as it is, if the import does not end, or in a dry run", async () => {
    await service();
    const path = await csv(
      "people.csv",
      "email,status",
      "bo.example.com,subscribed",
      "eve(at)example.com,subscribed",
    );
    await run([path, "--report", join(folder, "failed")]);
    const mended = join(folder, "failed", "people.csv");
    const text = (await readFile(mended, "utf8")).replace("bo.", "bo@");
    await writeFile(mended, text);
    const args = [mended, "--report", join(folder, "failed")];

    vi.stubEnv("AUDIENCE_API_KEY", "another-key");
    const ended = await run(args);
    const dry = await run([...args, "--dry-run"]);

    expect([ended.code, dry.code]).toEqual([1, 2]);
    expect(await readdir(join(folder, "failed"))).toEqual(["people.csv", "people.csv.map.json"]);
    expect(await readFile(mended, "utf8")).toBe(text);
  });

  it("may replace the report that is being imported", async () => {
    const mock = await service();
    const report = join(folder, "failed");
    const path = await csv("people.csv", "email,status", "nobody,subscribed", "eve.example.net,subscribed");
    await run([path, "--report", report]);
    const mended = join(report, "people.csv");
    await writeFile(mended, (await readFile(mended, "utf8")).replace("nobody", "bo@example.com"));

    const { code } = await run([mended, "--report", report]);

    expect(code).toBe(1);
    expect(emailConsents(mock)).toEqual({ "bo@example.com": "SUBSCRIBED" });
    expect((await readFile(mended, "utf8")).split("\r\n").map((line) => line.split(",")[0])).toEqual([
      "\ufeffemail",
      "eve.example.net",
      "",
    ]);
  });
});

describe("--resume", () => {
  it("sends the values of a newer file, and keeps a refusal that an older one has said", async () => {
    const mock = await service();
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

  it.each([
    [
      ["--list", list.id],
      ["--list", otherList.id],
    ],
    [[], ["--list", list.id]],
  ])("sends an opt-out again, if the person was imported with %j, and then with %j", async (one, other) => {
    const mock = await service();
    const nightly = async (word: string, target: string[]) => {
      const path = await csv("people.csv", "email,status", `ada@example.com,${word}`);
      await run([path, "--resume", join(folder, "nightly.ckpt"), ...target]);
      return emailConsents(mock)["ada@example.com"];
    };

    expect(await nightly("unsubscribed", one)).toBe("UNSUBSCRIBED");
    expect(await nightly("subscribed", other)).toBe("UNSUBSCRIBED");
    expect(await nightly("unsubscribed", one)).toBe("UNSUBSCRIBED");
    expect(
      mock.requests.filter(({ body }) => JSON.stringify(body ?? "").includes('"UNSUBSCRIBED"')),
    ).toHaveLength(3);
  });

  it("keeps the refusal of a person who has left since, names the changed row in the report, and ends with exit code 0", async () => {
    const mock = await service();
    const report = join(folder, "failed");
    const nightly = async (city: string) => {
      const path = await csv("people.csv", "email,status,city", `ada@example.com,subscribed,${city}`);
      return await run([path, "--resume", join(folder, "nightly.ckpt"), "--report", report]);
    };

    const first = await nightly("Leeds");
    mock.unsubscribe("ada@example.com");
    const unchanged = await nightly("Leeds");
    const changed = [await nightly("York"), await nightly("York")];

    expect([first.code, unchanged.code]).toEqual([0, 0]);
    for (const { code, out } of changed) {
      expect(code).toBe(0);
      expect(out).toContain("1 row keeps a refusal that the service knows");
    }
    expect(await readFile(join(report, "people.csv"), "utf8")).toContain("ada@example.com,subscribed,York");
    expect(emailConsents(mock)).toEqual({ "ada@example.com": "UNSUBSCRIBED" });
    expect(mock.organization("real").contacts[0]).toMatchObject({ city: "York" });
  });

  it("does not resend a row that has moved, or is in another file", async () => {
    const mock = await service();
    const args = ["--resume", join(folder, "nightly.ckpt")];
    await run([
      await csv("one.csv", "email,status", "a@example.com,subscribed", "b@example.com,subscribed"),
      ...args,
    ]);

    const { out } = await run([
      await csv("two.csv", "status;Email", "subscribed;B@example.com", "subscribed;A@example.com"),
      ...args,
    ]);

    expect(out).toContain("Imported 0 of 2 rows");
    expect(mock.requests).toHaveLength(2);
  });

  it("a rehearsal with --mock makes no later import skip a row", async () => {
    const mock = await service();
    const path = await csv(
      "people.csv",
      "email,status",
      "ada@example.com,subscribed",
      "bo@example.com,subscribed",
    );
    const checkpoint = join(folder, "import.ckpt");
    const rehearsed = await run([path, "--resume", checkpoint, "--mock"]);
    expect(rehearsed).toMatchObject({ code: 0, out: expect.stringContaining("Imported 2 of 2 rows") });

    const { code, err } = await run([path, "--resume", checkpoint]);

    expect({ code, err }).toEqual({
      code: 2,
      err:
        `The checkpoint ${checkpoint} belongs to another service: v1 at https://mock.invalid, not ${process.env["AUDIENCE_BASE_URL"]}. ` +
        "Keep it for that service, or name another file with --resume.\n",
    });
    expect(mock.requests).toEqual([]);
    expect((await run([path, "--resume", checkpoint, "--mock"])).out).toContain("; 2 were imported before");
    expect((await run([path, "--resume", join(folder, "real.ckpt")])).out).toContain("Imported 2 of 2 rows");
  });

  it("the file of one organization is refused for another one, and --organization survives a new key", async () => {
    const mock = await service([], undefined, ["mock-key-after-a-rotation"]);
    const args = [
      await csv("people.csv", "email,status", "ada@example.com,subscribed"),
      "--resume",
      join(folder, "import.ckpt"),
    ];
    await run(args);
    vi.stubEnv("AUDIENCE_API_KEY", "mock-key-after-a-rotation");

    const { code, err } = await run(args);
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringMatching(
        /name it as --organization NAME in this run .*, or name another file with --resume\.$/m,
      ),
    });
    const named = await run([...args, "--organization", "acme"]);

    expect(named.out).toContain("Imported 0 of 1 row in");
    expect(mock.requests).toHaveLength(1);
  });

  it("an import into another list skips no row", async () => {
    const mock = await service();
    const path = await csv(
      "people.csv",
      "email,status",
      "ada@example.com,subscribed",
      "bo@example.com,subscribed",
    );
    const into = async ({ id }: { id: string }) => {
      const { out } = await run([path, "--resume", join(folder, "import.ckpt"), "--list", id]);
      return /Imported \d of \d/.exec(out)?.[0];
    };

    expect(await into(list)).toBe("Imported 2 of 2");
    expect(await into(otherList)).toBe("Imported 2 of 2");
    expect(await into(otherList)).toBe("Imported 0 of 2");
    const { memberships } = mock.organization("real");
    expect(memberships.map(({ listId }) => listId).toSorted()).toEqual([
      otherList.id,
      otherList.id,
      list.id,
      list.id,
    ]);
  });

  it("a file that is no checkpoint is not changed", async () => {
    await service();
    const path = await csv("people.csv", "email,status", "ada@example.com,subscribed");

    const { code, err } = await run([path, "--resume", path]);

    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("is not a checkpoint") });
    expect(await readFile(path, "utf8")).toContain("ada@example.com");
  });
});

describe("The command line", () => {
  it("--help shows every option", async () => {
    const { code, out } = await run(["--help"]);

    expect(code).toBe(0);
    for (const option of "dry-run map yes list consent encoding family resume organization report summary reserve mock".split(
      " ",
    ))
      expect(out).toContain(`--${option} `);
  });

  it.each([
    [[], /at least one CSV file/],
    [["x.csv", "--famly", "v1"], /famly/],
    [["x.csv", "--family", "v3"], /--family is v1 or v2/],
    [["x.csv", "--consent", "yes"], /--consent is keep, NON_SUBSCRIBED, UNSUBSCRIBED or SUBSCRIBED/],
    [["x.csv", "--consent", "keep", "--list", "a"], /--consent keep cannot be combined with --list/],
    [["x.csv", "--consent", "keep", "--family", "v2"], /--consent keep cannot be combined with --family v2/],
    [["x.csv", "--encoding", "latin-9000"], /--encoding "latin-9000" is not known/],
    [["x.csv", "x.csv"], /x\.csv is named twice/],
    [["nowhere.csv", "--dry-run"], /nowhere\.csv/],
    [["x.csv", "--organization", "acme"], /--organization .* needs --resume FILE/],
  ])("%j is refused with the problem", async (args, message) => {
    const { code, err } = await run(args);

    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(message) });
  });

  it("without settings it names the missing ones, and the commands that need none", async () => {
    for (const name of ["AUDIENCE_BASE_URL", "AUDIENCE_API_KEY"]) vi.stubEnv(name, "");
    onTestFinished(() => void vi.unstubAllEnvs());

    const { code, err } = await run([await csv("people.csv", "email,status", "ada@example.com,subscribed")]);

    expect(code).toBe(2);
    expect(err).toMatch(/AUDIENCE_BASE_URL/);
    expect(err).toMatch(/--mock or --dry-run/);
  });

  it.each([
    ["a base URL with a path of its own", "https://api.example/api/v1", [], /already holds \/api\/v1/],
    ["a base URL without encryption", "http://api.example", [], /in the clear; use https:\.\n$/],
    ["a checkpoint without a folder", "https://api.example", ["--resume", "nowhere/x"], /nowhere\/x/],
  ])("says nothing of missing settings where the problem is %s", async (_, url, options, message) => {
    await service();
    vi.stubEnv("AUDIENCE_BASE_URL", url);

    const { code, err } = await run([
      await csv("people.csv", "email,status", "ada@example.com,subscribed"),
      ...options,
    ]);

    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(message) });
    expect(err).not.toMatch(/missing variables|allowInsecureHttp/);
  });

  it.each([
    ["dry_run", "true", "--dry-run`"],
    ["mock", "true", "--mock`"],
    ["list", "readers", "--list …`"],
    ["map", "m.json", "--map …`"],
    ["consent", "keep", "--consent …`"],
    ["resume", "import.ckpt", "--resume …`"],
    ["report", "true", "--report …`"],
    ["family", "v2", "--family …`"],
    ["encoding", "utf-8", "--encoding …`"],
  ])("refuses an option that npm has kept for itself: %s", async (name, value, option) => {
    const mock = await service();
    const path = await csv("people.csv", "email,status", "ada@example.com,subscribed");

    const { code, err } = await run([path], { [`npm_config_${name}`]: value });

    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringContaining(`write \`npm run import -- FILE… ${option}`),
    });
    expect(mock.requests).toEqual([]);
  });

  it("takes an option that it is given itself, whatever npm is configured to", async () => {
    const mock = await service();
    const path = await csv("people.csv", "email,status", "ada@example.com,subscribed");

    const env = { npm_config_dry_run: "false", npm_config_list: "other", npm_config_loglevel: "silent" };
    const { code } = await run([path, "--list", list.id], env);

    expect(code).toBe(0);
    expect(mock.organization("real").memberships).toHaveLength(1);
  });

  it.each([
    [["--list", "any"], "The mock holds 1 contact, 1 of them in the list."],
    [[], "The mock holds 1 contact."],
  ])("--mock %j imports into a local mock, for any environment", async (args, state) => {
    const mock = await service();

    const { code, out } = await run([
      await csv("people.csv", "email,status", "ada@example.com,subscribed"),
      "--mock",
      ...args,
    ]);

    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining(state) });
    expect(mock.requests).toEqual([]);
  });
});

describe("The progress line", () => {
  const counts = {
    succeeded: 90,
    invalid: 2,
    failed: 1,
    unknown: 0,
    skipped: 7,
    superseded: 0,
    kept: 0,
    ratePerMinute: 96,
  };

  it("shows the progress, the rows that were not imported, the pace and the remaining time", () => {
    expect(progressLine({ ...counts, done: 100, total: 400, etaMs: 200_000 }, 20_000)).toBe(
      "██████░░░░░░░░░░░░░░░░░░  25 %  100 of 400  7 done before  3 not imported  96/min  3 min left",
    );
  });

  it("is complete at the end", () => {
    expect(progressLine({ ...counts, done: 100, total: 100, etaMs: 0 }, 0)).toContain(
      "████████████████████████ 100 %",
    );
  });
});
