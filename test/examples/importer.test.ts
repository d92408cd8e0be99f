import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text as textOf } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { createMockService, type MockService } from "audience-sdk/mock";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { runImporter } from "../../examples/importer/importer.ts";
import { progressLine } from "../../examples/importer/progress-line.ts";

const repository = fileURLToPath(new URL("../..", import.meta.url));
const data = join(repository, "examples/data");
const list = { id: "readers", name: "Readers", type: "LIST" as const };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "importer-"));
  onTestFinished(() => rm(folder, { recursive: true }));
});

async function csv(name: string, ...lines: string[]): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, lines.map((line) => `${line}\n`).join(""));
  return path;
}

/** The importer in this process, without a terminal. */
async function run(args: string[], signal: AbortSignal = new AbortController().signal) {
  const [output, errors] = [new PassThrough(), new PassThrough()];
  const texts = Promise.all([textOf(output), textOf(errors)]);
  const code = await runImporter({ args, output, errors, signal });
  output.end();
  errors.end();
  const [out, err] = await texts;
  return { code, out, err };
}

/** A service that the environment names. */
async function service(): Promise<MockService> {
  const mock = createMockService({
    organizations: [{ id: "real", apiKeys: ["mock-key-of-a-service"], appId: "mock-app", lists: [list] }],
  });
  const server = await mock.listen({ port: 0 });
  onTestFinished(() => server.close());
  vi.stubEnv("AUDIENCE_BASE_URL", server.clientOptions.baseUrl);
  vi.stubEnv("AUDIENCE_BASE_URL_V2", server.clientOptions.baseUrlV2);
  vi.stubEnv("AUDIENCE_API_KEY", "mock-key-of-a-service");
  vi.stubEnv("AUDIENCE_APP_ID", "mock-app");
  onTestFinished(() => void vi.unstubAllEnvs());
  return mock;
}

const contactsOf = (mock: MockService) =>
  mock.organization("real").contacts.map(({ email, email_opt_in }) => [email, email_opt_in]);

describe("Files", () => {
  it("with plain headings: with the consent of their own columns, and without a word NON_SUBSCRIBED", async () => {
    const mock = await service();
    const path = await csv(
      "people.csv",
      "E-Mail,First Name,Phone Number,email_opt_in,phone opt-in,Favourite colour",
      "Ada@Example.com,Ada,+44 7700 900511,Subscribed,subscribed,teal",
      "bo@example.com,Bo,,unsubscribed,,",
      "cy@example.com,Cy,,,,",
    );

    const { code, out } = await run([path]);

    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining("3 of 3 rows were imported") });
    expect(mock.organization("real").contacts).toMatchObject([
      {
        email: "ada@example.com",
        phone: "+447700900511",
        email_opt_in: "SUBSCRIBED",
        phone_opt_in: "SUBSCRIBED",
        custom_properties: { favourite_colour: "teal" },
      },
      { email: "bo@example.com", email_opt_in: "UNSUBSCRIBED" },
      { email: "cy@example.com", email_opt_in: "NON_SUBSCRIBED" },
    ]);
  });

  it("a word of consent that is none of the three is not guessed", async () => {
    const mock = await service();
    const { code, out } = await run([await csv("people.csv", "email,status", "ada@example.com,yes please")]);

    expect({ code, out }).toEqual({
      code: 1,
      out: expect.stringContaining('"yes please" is none of subscribed'),
    });
    expect(mock.requests).toEqual([]);
  });

  it("the exports of Mailchimp and Klaviyo: one person in two of them has the stricter consent", async () => {
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
    expect(contactsOf(mock)).toEqual([
      ["ada@example.com", "UNSUBSCRIBED"],
      ["bo@example.com", "SUBSCRIBED"],
      ["cy@example.com", "NON_SUBSCRIBED"],
    ]);
  });

  it("the whole of the examples' data, on the mock", async () => {
    const files = ["mailchimp", "klaviyo"].map(async (name) =>
      (await readdir(join(data, name))).map((file) => join(data, name, file)),
    );

    const { code, out } = await run([...(await Promise.all(files)).flat(), "--mock"]);

    expect(code).toBe(1);
    expect(out).toContain("23 rows are not imported:");
    expect(out).toContain("112 of 135 rows were imported");
  });

  it("whose headings tell nothing are refused before anything is sent", async () => {
    const mock = await service();

    const { code, err } = await run([await csv("numbers.csv", "a,b", "1,2")]);

    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringMatching(/numbers\.csv: has the headings of no file.*a column email or phone/),
    });
    expect(mock.requests).toEqual([]);
  });
});

describe("--list", () => {
  it("adds each contact to it", async () => {
    const mock = await service();

    await run([await csv("people.csv", "email", "ada@example.com", "bo@example.com"), "--list", list.id]);

    expect(mock.organization("real").memberships).toHaveLength(2);
  });

  it.each(["v1", "v2"])("that is not there ends it before a contact is created: %s", async (family) => {
    const mock = await service();

    const { code, err } = await run([
      await csv("people.csv", "email", "ada@example.com"),
      "--list",
      "gone",
      "--family",
      family,
    ]);

    expect(code).toBeGreaterThan(0);
    expect(err).toMatch(/404|no list gone/);
    expect(mock.organization("real").contacts).toEqual([]);
  });
});

describe("--family v2", () => {
  it("sends what the file says of the consent, and no row of which it does not say it", async () => {
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

  it("takes time and address of the confirmation from Mailchimp's export", async () => {
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
    expect(consents).toEqual([
      { createdAt: "2020-07-03T15:05:20", ip: "198.51.100.2", source: "mailchimp" },
      { createdAt: "2020-01-01T00:00:00", ip: "192.0.2.1", source: "mailchimp" },
    ]);
  });

  it("takes what Klaviyo's export does not say from columns that were added for it", async () => {
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

    // The profile's address is not said to be the one that consent came from.
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
  it("needs no service, tells what is wrong and how long it takes, and sends nothing", async () => {
    const { code, out } = await run([
      await csv("people.csv", "email", "ada@example.com", "nobody"),
      "--dry-run",
    ]);

    expect(code).toBe(1);
    expect(out).toMatch(/1 of 2 rows can be imported; that takes about [\d.]+ s\. Nothing was sent\./);
    expect(out).toContain("people.csv, row 3: email: must be an e-mail address");
  });
});

describe("--report", () => {
  it("writes the rows that failed, in the layout they came in, to be mended and imported again", async () => {
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
    expect(text.split("\r\n")[0]).toBe("Email Address,Address,LEID,import: reason,import: note");

    await writeFile(join(report, name), text.replace("leo @example.net", "leo@example.net"));
    const second = await run([join(report, name)]);

    expect(second.out).toContain("row 3: email: must be an e-mail address");
    expect(contactsOf(mock)).toEqual([
      ["ada@example.com", "SUBSCRIBED"],
      ["leo@example.net", "SUBSCRIBED"],
    ]);
    expect(mock.organization("real").contacts[1]?.custom_properties).toEqual({
      mailchimp_address: '14, Larch "Road"',
      mailchimp_leid: "2",
    });
  });

  it("does not let a number that two people share slip in with the report alone", async () => {
    const mock = await service();
    const report = join(folder, "failed");
    const path = await csv(
      "people.csv",
      "email,phone",
      "ada@example.com,+447700900511",
      "bo@example.com,+447700900511",
    );
    await run([path, "--report", report]);

    const { code, out } = await run([join(report, "people.csv")]);

    expect({ code, out }).toEqual({
      code: 1,
      out: expect.stringContaining("+447700900511 was refused by an earlier import"),
    });
    expect(mock.requests).toHaveLength(1);
  });

  it("carries the strictest consent along, so that the mended row by itself is not subscribed again", async () => {
    const mock = await service();
    const report = join(folder, "failed");
    const one = await csv("one.csv", "email,phone,email_opt_in", "ada@example.com,123,subscribed");
    const two = await csv("two.csv", "email,email_opt_in", "ada@example.com,unsubscribed");
    await run([one, two, "--report", report]);
    expect(contactsOf(mock)).toEqual([["ada@example.com", "UNSUBSCRIBED"]]);

    const text = await readFile(join(report, "one.csv"), "utf8");
    await writeFile(join(report, "one.csv"), text.replace(",123,", ",+447700900511,"));
    const { code } = await run([join(report, "one.csv")]);

    expect(code).toBe(0);
    expect(contactsOf(mock)).toEqual([["ada@example.com", "UNSUBSCRIBED"]]);
  });
});

describe("--resume", () => {
  it("goes on where it was stopped by Ctrl-C, and sends nothing again that is on record", async () => {
    const mock = await service();
    const path = await csv(
      "people.csv",
      "email",
      ...Array.from({ length: 40 }, (_, index) => `person-${index}@example.com`),
    );
    const args = [path, "--resume", join(folder, "import.ckpt")];
    const { AUDIENCE_API_KEY_V2: _, ...env } = process.env;
    const child = spawn(process.execPath, ["--import", "tsx", "examples/importer/main.ts", ...args], {
      cwd: repository,
      env,
    });
    let out = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const isFirst = !out.includes(" of 40") && text.includes(" of 40");
      out += text;
      if (isFirst) child.kill("SIGINT");
    });
    const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
    expect({ code, out }).toEqual({
      code: 130,
      out: expect.stringContaining(`it goes on from ${join(folder, "import.ckpt")}`),
    });
    const before = mock.requests.length;
    expect(before).toBeLessThan(40);

    const second = await run(args);

    expect(second).toMatchObject({
      code: 0,
      out: expect.stringMatching(/of 40 rows were imported in .*, \d+ had been before/),
    });
    expect(mock.requests).toHaveLength(40);
  });

  it("a checkpoint that is something else is left as it is", async () => {
    await service();
    const path = await csv("people.csv", "email", "ada@example.com");

    const { code, err } = await run([path, "--resume", path]);

    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("is not a checkpoint") });
    expect(await readFile(path, "utf8")).toContain("ada@example.com");
  });
});

describe("The command line", () => {
  it("--help shows every option", async () => {
    const { code, out } = await run(["--help"]);

    expect(code).toBe(0);
    for (const option of ["--dry-run", "--list", "--family", "--resume", "--report", "--mock"])
      expect(out).toContain(option);
  });

  it.each([
    [[], /at least one CSV file/],
    [["x.csv", "--famly", "v1"], /famly/],
    [["x.csv", "--family", "v3"], /--family is v1 or v2/],
    [["nowhere.csv", "--dry-run"], /nowhere\.csv/],
  ])("%j says what is wrong", async (args, message) => {
    const { code, err } = await run(args);

    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(message) });
  });

  it("without settings it says which are missing, and what can be done without them", async () => {
    for (const name of ["AUDIENCE_BASE_URL", "AUDIENCE_API_KEY"]) vi.stubEnv(name, "");
    onTestFinished(() => void vi.unstubAllEnvs());

    const { code, err } = await run([await csv("people.csv", "email", "ada@example.com")]);

    expect(code).toBe(2);
    expect(err).toMatch(/AUDIENCE_BASE_URL/);
    expect(err).toMatch(/--mock or --dry-run/);
  });

  it("--mock imports into a mock on this machine, whatever the environment holds", async () => {
    const mock = await service();

    const { code, out } = await run([
      await csv("people.csv", "email", "ada@example.com"),
      "--mock",
      "--list",
      "any",
    ]);

    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringContaining("The mock holds 1 contacts, 1 of them in the list."),
    });
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
    ratePerMinute: 96,
  };

  it("tells how far it is, what was not imported, the pace and the time that is left", () => {
    expect(progressLine({ ...counts, done: 100, total: 400, etaMs: 200_000 }, 20_000)).toBe(
      "██████░░░░░░░░░░░░░░░░░░  25 %  100 of 400  7 done before  3 not imported  96/min  3 min left",
    );
  });

  it("is whole at the end", () => {
    expect(progressLine({ ...counts, done: 100, total: 100, etaMs: 0 }, 0)).toContain(
      "████████████████████████ 100 %",
    );
  });
});
