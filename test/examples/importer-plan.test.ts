import { describe, expect, it } from "vitest";
import {
  csv,
  imported,
  importedFiles,
  emailConsents,
  list,
  mapOf,
  newsletter,
  run,
  runAlone,
  runOnTerminal,
  sentBodies,
  service,
  stopped,
  table,
  temporaryFolder,
} from "./importer-fixture.ts";

describe("The plan", () => {
  it("names each file's layout, the use of each column, and the consent of its people", async () => {
    const lines = [
      "Email,Mobile,Phone,status,Favourite colour,Notes",
      "ada@example.com,+447700900511,+447700900512,subscribed,teal,x",
      "bo@example.com,,,unsubscribed,,",
      "cy@example.com,,,paused,,",
    ];
    const columns = {
      Email: "email",
      Mobile: "phone",
      Phone: "phone",
      status: { consent: "email", words: { subscribed: "SUBSCRIBED", unsubscribed: "UNSUBSCRIBED" } },
      "Favourite colour": "property",
      Notes: "ignore",
    } as const;

    const { code, out, path } = await imported(lines, columns, "--dry-run");

    expect(code).toBe(1);
    expect(out).toContain(`${path}: plain table, "," between the cells, utf-8, 3 rows
  "Email"             email, in lower case
  "Mobile"            phone
  "Phone"             phone where "Mobile" is blank or invalid; else, where it differs, the custom property phone
  "status"            e-mail consent: "subscribed" → SUBSCRIBED (1), "unsubscribed" → UNSUBSCRIBED (1), "paused" → held back, as the map does not name it (1)
  "Favourite colour"  the custom property favourite_colour
  "Notes"             left out: the map says ignore
  E-mail consent: 1 SUBSCRIBED, 0 NON_SUBSCRIBED, 1 UNSUBSCRIBED, 0 unstated, 1 held back
  Phone consent: 0 SUBSCRIBED, 0 NON_SUBSCRIBED, 0 UNSUBSCRIBED, 1 unstated
  1 person becomes SUBSCRIBED, although "Favourite colour", "Notes" may say something of a consent, and the map takes it for data.

1 row will not be imported:
 email consent: 1
  ${path}, row 4: email consent: is held back: status: "paused": the map does not name it
Rows are held back, as ${path}.map.json does not name a word of "status". Add to its "words",
`);
  });

  it("tells two columns with one heading apart as the map does", async () => {
    const { out } = await imported(
      ["email,status,status", "a@example.com,subscribed,unsubscribed"],
      { email: "email", status: newsletter, "status (2)": "ignore" },
      "--dry-run",
    );

    expect(out).toMatch(/^ {2}"status" +e-mail consent.*\n {2}"status \(2\)" +left out/m);
  });

  it("counts each consent that is sent, and tells the channel of a word that is about one alone", async () => {
    const words = { no: { phone: "UNSUBSCRIBED" }, all: "UNSUBSCRIBED" } as const;
    const lines = ["email,Mobile,N", "a@example.com,0171 1,no", "b@example.com,,no", "c@example.com,,all"];
    const columns = { email: "email", Mobile: "phone", N: { consent: "both", words } } as const;

    const { out, bodies } = await imported(lines, columns, "--consent", "NON_SUBSCRIBED");

    expect(bodies.filter(({ phone_opt_in }) => phone_opt_in === "UNSUBSCRIBED")).toHaveLength(3);
    expect(out).toContain("Phone consent: 0 SUBSCRIBED, 0 NON_SUBSCRIBED, 3 UNSUBSCRIBED, 0 unstated");
    expect(out).toContain('"no" → phone UNSUBSCRIBED (2), "all" → UNSUBSCRIBED (1)');
  });

  it("counts people: one in several rows and files counts once, for each word and consent, and in the question", async () => {
    service();
    const lines = [
      "email,N",
      "ada@example.com,yes",
      "ADA@example.com,yes",
      "ada@example.com,ja",
      "bo@example.com,yes",
    ];
    const folder = await temporaryFolder();
    const files = [await csv(folder, "one.csv", ...lines), await csv(folder, "two.csv", ...lines)];
    const words = { yes: "SUBSCRIBED", ja: "SUBSCRIBED" } as const;
    for (const file of files) await mapOf(file, { email: "email", N: { consent: "email", words } });

    const { out } = await runOnTerminal(files, ["n"]);

    expect(out.match(/"yes" → SUBSCRIBED \(2\), "ja" → SUBSCRIBED \(1\)/g)).toHaveLength(2);
    expect(out.match(/E-mail consent: 2 SUBSCRIBED/g)).toHaveLength(2);
    expect(out).toContain("8 of 8 rows can be imported");
    expect(out).toContain("Import 2 people? (y/N)");
  });

  it("counts no phone consent of numbers that are not sent", async () => {
    const lines = ["email,N,tel", "a@example.com,yes,call me", "b@example.com,yes,079 123 45 67"];
    const columns = { email: "email", N: newsletter, tel: "phone" } as const;

    const { out } = await imported([...lines, "c@example.com,yes,+41791234567"], columns);

    expect(out).toContain("Phone consent: 0 SUBSCRIBED, 0 NON_SUBSCRIBED, 0 UNSUBSCRIBED, 1 unstated\n");
  });

  it("tells the opt-outs that are sent of rows held back, and so does the question", async () => {
    const mock = service();
    const path = await table("email,N", "ada@example.com,no", "ADA@example.com,wait", "bo@example.com,wait");
    const words = { no: "UNSUBSCRIBED", wait: "hold" } as const;
    await mapOf(path, { email: "email", N: { consent: "email", words } });

    const { out } = await runOnTerminal([path], ["y"]);

    expect(out).toContain("Of 2 rows held back the opt-outs are sent.\n");
    expect(out).toContain("Import 0 people, and the opt-outs of 2 rows held back? (y/N)");
    expect(out).toContain("Of 2 rows the opt-outs alone were sent.");
    expect(mock.requests).toHaveLength(2);
  });

  it("names the cells of a consent that say nothing as left out, but for days, which are sent", async () => {
    const words = { web: "none", "<date>": "none", yes: "SUBSCRIBED" } as const;
    const lines = ["email,N", "a@example.com,web", "b@example.com,2026-01-02", "c@example.com,yes"];

    const { out } = await imported(lines, { email: "email", N: { consent: "email", words } });

    expect(out).toContain(
      '"web" → says nothing, left out (1), "<date>" → says nothing (1), "yes" → SUBSCRIBED (1); the days are the custom property n',
    );
  });

  it("warns that omitting a consent relies on undocumented behavior", async () => {
    const lines = ["email,phone,status", "ada@example.com,+447700900511,subscribed"];

    const { out } = await imported(lines, undefined, "--dry-run");

    expect(out).toMatch(/1 row leaves out a consent.*This relies on undocumented behaviour/s);
  });
});

describe("A file without a statement of consent", () => {
  const lines = ["email,first_name", "s@example.com,S", "u@example.com,U"];

  it.each<[why: string, file: string[], channel?: string]>([
    ["has no column for it", lines],
    ["has only blank cells for it", ["email,status", "s@example.com,", "u@example.com,n/a"]],
    [
      "has only telephone numbers and a yes instead of one",
      ["email,mobile", "s@example.com,yes", "u@example.com,yes"],
    ],
    ["is of telephone numbers alone", ["mobile", "+447700900511"], "phone"],
  ])("which %s is not sent", async (_why, file, channel = "email") => {
    const { code, requests, out, err } = await imported(file);
    const ofList = await imported(file, undefined, "--list", list.id);

    expect({ code, requests }).toEqual(stopped);
    expect(out).toContain(`"${channel === "email" ? channel : "mobile"}"`);
    expect(err).toContain(
      "has no consent. State it: --consent NON_SUBSCRIBED, UNSUBSCRIBED or SUBSCRIBED; keep",
    );
    expect(err).toContain(`"everyone": { "${channel}": "UNSUBSCRIBED" }`);
    expect(ofList.err).not.toContain("keep");
  });

  it("as each line ends with a separator, but the first, is told so", async () => {
    const { code, out } = await imported(["email,status", "s@example.com,subscribed,"]);

    expect(code).toBe(2);
    expect(out).toContain("row 2: row: has 3 cells, but there are 2 headings; if every line ends with");
  });

  it.each(["NON_SUBSCRIBED", "UNSUBSCRIBED", "SUBSCRIBED"])(
    "with --consent %s gives all its people this consent",
    async (consent) => {
      const { code, consents } = await imported(lines, undefined, "--consent", consent, "--list", list.id);

      expect(code).toBe(0);
      expect(consents).toEqual({ "s@example.com": consent, "u@example.com": consent });
    },
  );

  it("does not apply the e-mail consent of --consent to the telephone number in the row", async () => {
    const { bodies } = await imported(
      ["email,phone", "a@example.com,+447700900511", ",+447700900512"],
      undefined,
      "--consent",
      "SUBSCRIBED",
    );

    expect(bodies).toEqual([
      { phone: "+447700900512", phone_opt_in: "SUBSCRIBED" },
      { email: "a@example.com", phone: "+447700900511", email_opt_in: "SUBSCRIBED" },
    ]);
  });
});

describe("People who become SUBSCRIBED by no word that the map names so", () => {
  const lines = [
    "email,Status,Stufe",
    ...["aktiv,gold", "gesperrt,gold", ",silber"].map((cells, row) => `p${row}@example.com,${cells}`),
  ];
  const line =
    '3 people become SUBSCRIBED only by --consent SUBSCRIBED, although "Status", "Stufe" may say something of a consent';

  it("in spite of columns that look like a state are a line of the plan, with the count, and sent", async () => {
    const mock = service();
    const path = await table(...lines);
    await mapOf(path, { email: "email", Status: "property", Stufe: "property" });
    const args = [path, "--consent", "SUBSCRIBED"];

    const dry = await runAlone([...args, "--dry-run"]);
    const denied = await runOnTerminal(args, ["n"]);
    expect(mock.requests).toEqual([]);
    const alone = await runAlone(args);
    const confirmed = await runAlone([...args, "--yes"]);
    const onTerminal = await runOnTerminal([...args, "--yes"], []);

    for (const { out } of [dry, denied, alone, confirmed, onTerminal]) expect(out).toContain(line);
    const codes = [dry, denied, alone, confirmed, onTerminal].map(({ code }) => code);
    expect(codes).toEqual([0, 2, 0, 0, 0]);
    expect(denied.out).toContain("Import 3 people? (y/N)");
    expect(onTerminal.out).not.toContain("(y/N)");
    expect(Object.values(emailConsents(mock))).toEqual(["SUBSCRIBED", "SUBSCRIBED", "SUBSCRIBED"]);
    expect(mock.requests).toHaveLength(9);
  });

  it.each([
    ["Unsubscribed from all email", "true", "false"],
    ["Email Suppressions", "UNSUBSCRIBE", ""],
    ["LEID,EUID,UNSUB_TIME", "1,1,2024-01-02", "2,2,"],
    ["is_suppressed", "true", "false"],
    ["email_opt_in", "UNSUBSCRIBED", "SUBSCRIBED"],
    ["phone_opt_in", "UNSUBSCRIBED", "SUBSCRIBED"],
    ["State", "gesperrt", "ok"],
  ])("are so too in spite of a column of refusals that is known exactly: %s", async (headings, left, not) => {
    const names = `Email Address,${headings}`.split(",");
    const file = [
      names.join(","),
      ...[left, not, not, left].map((cells, row) => `p${row}@example.com,${cells}`),
    ];
    for (const rule of ["property", "ignore"] as const) {
      const columns = {
        ...Object.fromEntries(names.map((name) => [name, rule])),
        "Email Address": "email",
      } as const;

      const { out } = await imported(file, columns, "--consent", "SUBSCRIBED", "--dry-run");

      expect(out).toContain(`although "${names.at(-1)}" may say something of a consent`);
    }
  });

  it.each(["property", "ignore", "email", "city"] as const)(
    "are so too beside a word that is SUBSCRIBED, in spite of a column that looks like a state and is taken as %s",
    async (rule) => {
      const file = ["Email,N,Stand", "a@example.com,yes,ja", "b@example.com,yes,nein", "c@example.com,yes,"];

      const { code, out } = await imported(file, { Email: "email", N: newsletter, Stand: rule }, "--yes");

      expect(code).toBe(0);
      expect(out).toContain('2 people become SUBSCRIBED, although "Stand" may say something of a consent');
    },
  );

  it.each([
    ["Customer ID,Accepts Email Marketing", "1,yes", "Note"],
    ["Customer ID,Accepts Email Marketing", "1,yes", "Tags"],
    ["Record ID,Unsubscribed from all email", "1,", "Lead Status"],
    ["LEID,EUID", "1,2", "NOTES"],
    ["LEID,EUID", "1,2", "TAGS"],
    ["complimentary_plan,subscribed_to_emails", "false,true", "note"],
    ["complimentary_plan,subscribed_to_emails", "false,true", "labels"],
    ["SMS status,Email opt-in date,Email status", ",,subscribed", "Tags"],
    ["subscription_tier,utm_source,status", "free,web,active", "tags"],
  ])("are so too in spite of the words that a vendor's users write: %s %s %s", async (names, cells, own) => {
    const rows = ["VIP", "abgemeldet", "abgemeldet"].map(
      (word, row) => `p${row}@example.com,${cells},${word}`,
    );
    const path = await table(`Email,${names},${own}`, ...rows);
    service();
    const { out } = await runAlone([path, "--consent", "SUBSCRIBED", "--dry-run"]);

    expect(out).toContain(`although "${own}" may say something of a consent`);
  });

  it.each([
    ["Website", "ja", "nein"],
    ["Title", "1", "0"],
    ["Id", "aktiv", "gesperrt"],
    ["Company", "x", ""],
  ])(
    "are so too in spite of flags under a plain name of data, which is no question: %s",
    async (name, one, other) => {
      const rows = [one, other, one, other].map((cell, row) => `p${row}@example.com,${cell}`);
      service();
      const path = await table(`Email,${name}`, ...rows);

      const { code, out } = await runAlone([path, "--consent", "SUBSCRIBED"]);

      expect(code).toBe(0);
      expect(out).toContain(
        `4 people become SUBSCRIBED only by --consent SUBSCRIBED, although "${name}" may say`,
      );
    },
  );

  it("are not so beside a column of its field", async () => {
    const file = [
      "Email,N,Ort,Login",
      ...["a", "b"].map((name) => `${name}@example.com,yes,Bern,${name}@work.example`),
    ];
    const columns = { Email: "email", N: newsletter, Ort: "city", Login: "email" } as const;

    const { out } = await imported(file, columns);

    expect(out).not.toContain("become SUBSCRIBED");
  });

  it("are no longer in spite of those columns, where each of their words says nothing", async () => {
    const Status = { consent: "email", words: { aktiv: "none", gesperrt: "none" } } as const;
    const Stufe = { consent: "email", words: { gold: "none", silber: "none" } } as const;

    const { out } = await imported(lines, { email: "email", Status, Stufe }, "--consent", "SUBSCRIBED");

    expect(out).toContain("3 people become SUBSCRIBED only by --consent SUBSCRIBED.");
  });

  it("of a file without a consent are in doubt beside days of everybody, who may all have left", async () => {
    const { out } = await imported(
      ["email,Abgang", "a@example.com,2024-01-02", "b@example.com,2024-01-03"],
      { email: "email", Abgang: "property" },
      "--consent",
      "SUBSCRIBED",
    );

    expect(out).toContain('although "Abgang" may say something of a consent');
  });
});

describe("Told before the import, with another exit code than 0", () => {
  it.each([
    ["a row that is held back", "b@example.com,perhaps", 'Newsletter: "perhaps": the map does not name it'],
    ["an address that names nobody", "nobody,yes", "must be an e-mail address"],
  ])("%s", async (_what, line, told) => {
    service();
    const path = await table("email,Newsletter", "a@example.com,yes", line);
    await mapOf(path, { email: "email", Newsletter: newsletter });

    const { code, out } = await runOnTerminal([path], ["y"]);

    expect(code).toBe(1);
    const before = out.slice(0, out.indexOf("Import 1 person?"));
    expect(before).toContain("1 row will not be imported:");
    expect(before).toContain(told);
  });

  it("a contact of more than 30 properties, whose opt-outs are sent", async () => {
    const mock = service();
    const many = Array.from({ length: 31 }, (_, index) => `P${index}`);
    const path = await table(
      `email,email_opt_in,${many.join(",")}`,
      `a@example.com,SUBSCRIBED,${many.join(",")}`,
      `b@example.com,UNSUBSCRIBED,${many.join(",")}`,
    );
    await mapOf(path, {
      email: "email",
      email_opt_in: "email_opt_in",
      ...Object.fromEntries(many.map((name) => [name, "property" as const])),
    });

    const { code, out } = await runOnTerminal([path], ["y"]);

    expect(code).toBe(1);
    expect(out.slice(0, out.indexOf("Import 0 rows?"))).toMatch(
      /people.csv, row 2: custom_properties: .*; leave columns out with "ignore" in the map/,
    );
    expect(sentBodies(mock)).toEqual([{ email: "b@example.com", email_opt_in: "UNSUBSCRIBED" }]);
  });
});

describe("A row that the service refuses", () => {
  it.each([[[]], [["--list", list.id]]])(
    "is reported, and its opt-outs are sent by themselves: %j",
    async (options) => {
      const mock = service([{ email: "a@example.com" }], { unknownCountry: "refused" });
      const lines = [
        "a@example.com,+447700900511,Atlantis,unsubscribed,no",
        "b@example.com,,Atlantis,subscribed,",
      ];

      const path = await table("email,phone,country,status,sms_opt_in", ...lines);
      const { code, out } = await run([path, ...options]);

      expect(code).toBe(1);
      expect(out).toMatch(/row 2: .*; its opt-outs are sent anyway$/m);
      expect(out).toMatch(/row 3: [^;]*$/m);
      expect(emailConsents(mock)).toEqual({ "a@example.com": "UNSUBSCRIBED" });
      const both = { email_opt_in: "UNSUBSCRIBED", phone_opt_in: "UNSUBSCRIBED" };
      expect(sentBodies(mock)[1]).toEqual({ email: "a@example.com", ...both });
    },
  );

  const phone = "+4791234567";

  it("without an e-mail consent loses no opt-out of its number, also where the response was lost", async () => {
    const contact = { email: "a@example.com", phone, email_opt_in: "SUBSCRIBED" } as const;
    const mock = service([{ ...contact, phone_opt_in: "SUBSCRIBED" }]);
    mock.addFault({ kind: "500-before", times: 1 });

    const path = await table("Email,Phone,City,SMS opt-in", `a@example.com,${phone},Oslo,no`);
    const { code, out } = await run([path]);

    expect(code).toBe(1);
    expect(out).toMatch(/row 2: .*; its opt-outs are sent anyway$/m);
    expect(sentBodies(mock)).toContainEqual({ phone, phone_opt_in: "UNSUBSCRIBED" });
    expect(mock.organization("real").contacts[0]).toMatchObject({ ...contact, phone_opt_in: "UNSUBSCRIBED" });
  });

  it("is not said to have sent its opt-out, if the response to that was unreadable too", async () => {
    const mock = service();
    mock.addFault({ kind: "truncated-json" });

    const { out } = await run([await table("Email,Phone,SMS opt-in", `a@example.com,${phone},no`)]);

    expect(sentBodies(mock)).toHaveLength(2);
    expect(out).toContain("row 2: ");
    expect(out).not.toContain("its opt-outs are sent");
  });
});

describe("An opt-out whose address has anything around it", () => {
  const around = "() “” „“ «» […] {} `` * | : ! ? / \\ # = ´ ‚ … ·".split(" ");
  const written = [
    ...around.flatMap((signs) => [
      `${signs[0]}bob@example.com${signs.at(-1)}`,
      `bob@example.com${signs.at(-1)}`,
    ]),
    ...["smtp:", "email=", "mailto://"].map((prefix) => `${prefix}bob@example.com`),
    ...["\0", "\u007f", " (old)", "."].map((end) => `bob@example.com${end}`),
    "bob@ｅxample.com",
    "bob@example.com / other@example.com",
  ];

  it("counts for the person who may be meant, and makes no other contact", async () => {
    const people = written.map((_, index) => `bob@n${index}.example.com,subscribed`);
    const left = written.map((one, at) => `${one.replace(/(ex|ｅx)ample/, `n${at}.$&`)},unsubscribed`);

    const { code, consents } = await importedFiles({
      "people.csv": ["Email,Status", ...people, "ok@example.com,subscribed"],
      "left.csv": ["Email,Status", ...left],
    });

    expect(code).toBe(1);
    const subscribed = Object.entries(consents).filter(([, state]) => state === "SUBSCRIBED");
    expect(subscribed).toEqual([["ok@example.com", "SUBSCRIBED"]]);
    expect(Object.keys(consents).filter((email) => !/^(bob@n\d+|ok@)/.test(email))).toEqual([]);
  });
});

describe("A line with another number of cells than headings", () => {
  const lines = [
    "email,first_name,mobile,email_opt_in",
    // Too many cells, too few, and an address that has moved under another heading.
    "a@example.com,Ada,Byron,,unsubscribed",
    "a@example.com,Ada,,subscribed",
    "b@example.com,Bo",
    "B@example.com,Bo,,",
    "Lee,Cy,C@Example.com,,unsubscribed",
    "c@example.com,Cy,,subscribed",
    "Dee;+44 7700 900514;unsubscribed",
    "d@example.com,Dee,+447700900514,subscribed",
    // A separator too many moves the cells, and leaves a blank one behind the last heading.
    "f@example.com,Fay, Jr,,",
    "f@example.com,Fay,,subscribed",
    "e@example.com,Eve,,subscribed",
  ];

  it.each([[[]], [["--consent", "SUBSCRIBED"]]])("stops every line about its person: %j", async (options) => {
    const { code, out, bodies } = await imported(lines, undefined, ...options);

    expect(code).toBe(1);
    expect(bodies.filter(({ email_opt_in }) => email_opt_in === "SUBSCRIBED")).toEqual([
      { email: "e@example.com", first_name: "Eve", email_opt_in: "SUBSCRIBED" },
    ]);
    expect(out).toContain("people.csv, row 2: row: has 5 cells, but there are 4 headings");
    expect(out).toContain("people.csv, row 3: email consent: is held back: another row about this person");
  });
});

describe("No cell is dropped", () => {
  const lines = [
    "email,status,phone,mobile,Work e-mail,Tag,Tag,Order #,Order,zip,birthday,gender,Tag 2,",
    "a@example.com,subscribed,,+447700900511,,x,y,1,2,LS1 4XX,1988-05-17,Female,z,last",
    "b@example.com,subscribed,+447700900512,+447700900513,b@work.example,,,,,1,17/05/1988,?,,",
    ",subscribed,,,c@work.example,,,,,,,,,",
  ];

  it("of two columns for one field the second becomes a custom property, as an invalid cell does, which is told", async () => {
    const { code, out, bodies } = await imported(lines);

    expect(code).toBe(0);
    expect(out).toContain(
      'row 3: "birthday" holds no dob that can be sent, and is sent as the custom property birthday.',
    );
    expect(bodies).toEqual([
      {
        email: "a@example.com",
        phone: "+447700900511",
        postal_code: "LS1 4XX",
        dob: "1988-05-17",
        gender: "FEMALE",
        email_opt_in: "SUBSCRIBED",
        custom_properties: { tag: "x", tag_3: "y", order: "1", order_2: "2", tag_2: "z", column_14: "last" },
      },
      {
        email: "b@example.com",
        phone: "+447700900512",
        email_opt_in: "SUBSCRIBED",
        // Values that are invalid for their fields.
        custom_properties: {
          mobile: "+447700900513",
          work_e_mail: "b@work.example",
          zip: "1",
          birthday: "17/05/1988",
          gender: "?",
        },
      },
      { email: "c@work.example", email_opt_in: "SUBSCRIBED" },
    ]);
  });

  it.each([
    "Ada <a@example.com>",
    "<a@example.com>",
    "a@exam\u200bple.com",
    "\u00ada@example.com",
    "MailTo:a@example.com",
  ])("unsaid: what is left out beside an address is told: %j", async (cell) => {
    const { code, out, bodies } = await imported(["email,status", `${cell},subscribed`]);

    expect(code).toBe(0);
    expect(out).toContain('row 2: "email" holds more than the address, which alone is sent.');
    expect(bodies).toEqual([{ email: "a@example.com", email_opt_in: "SUBSCRIBED" }]);
  });

  it("a telephone number of two people is the phone of the first, and a custom property of the second", async () => {
    const { out, bodies } = await imported([
      "email,phone,status",
      "a@example.com,+447700900511,subscribed",
      "b@example.com,+44 7700 900511,unsubscribed",
    ]);

    expect(out).toContain(
      'row 3: "phone" holds the number of another person, which the service would treat as one contact, and is sent as',
    );
    const property = { custom_properties: { phone: "+44 7700 900511" } };
    expect(bodies).toEqual([
      { email: "a@example.com", phone: "+447700900511", email_opt_in: "SUBSCRIBED" },
      { email: "b@example.com", email_opt_in: "UNSUBSCRIBED", ...property },
    ]);
  });
});
