import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../properties/runs.ts";
import {
  csv,
  list,
  openService,
  run,
  type Seeds,
  sentBodies,
  service,
  temporaryFolder,
} from "./importer-fixture.ts";

// The meanings of the values, stated independently of the importer.
const strictness = { S: 1, N: 2, U: 3 } as const;
const optIns = { S: "SUBSCRIBED", N: "NON_SUBSCRIBED", U: "UNSUBSCRIBED" } as const;
type State = keyof typeof strictness;
/** "-" is no statement, "?" is an unknown value. */
type Meaning = State | "-" | "?";

const wordsByMeaning: Record<Meaning, string[]> = {
  S: ["subscribed", "Yes", "TRUE", "1", "opted in", "Opt-In", "y"],
  N: [
    "never subscribed",
    "NEVER_SUBSCRIBED",
    "pending",
    "cleaned",
    "Bounced",
    "suppressed",
    "non_subscribed",
  ],
  U: ["unsubscribed", "No", "false", "0", "Opted out", "OPTOUT", "blacklisted", "n"],
  "-": ["", " ", "n/a", "NULL"],
  "?": ["paused", "VIP", "yes please", "42"],
};
const wordsOfOptOut: Record<Meaning, string[]> = {
  S: [],
  N: ["cleaned"],
  U: ["Yes", "true", "1", "x", "unsubscribed", "2024-05-01"],
  "-": ["", "No", "FALSE", "0", "subscribed", "n/a"],
  "?": ["maybe", "C4"],
};

/** A column's heading, its channels, and its values. A heading without a channel applies to both. */
interface ConsentColumn {
  readonly heading: string;
  readonly channels: readonly ("email" | "phone")[];
  readonly isGeneral?: boolean;
  readonly words: Record<Meaning, string[]>;
}

const columnsOf = (headings: readonly string[], rest: Omit<ConsentColumn, "heading">): ConsentColumn[] =>
  headings.map((heading) => ({ heading, ...rest }));

const columns: ConsentColumn[] = [
  ...columnsOf(
    ["email_opt_in", "E-Mail Opt-In", "Email Marketing Consent", "newsletter", "Accepts Email Marketing"],
    { channels: ["email"], words: wordsByMeaning },
  ),
  ...columnsOf(["subscribed"], { channels: ["email"], isGeneral: true, words: wordsByMeaning }),
  // A yes may be the state of an order.
  ...columnsOf(["Status"], {
    channels: ["email"],
    isGeneral: true,
    words: {
      ...wordsByMeaning,
      S: ["subscribed", "opted in", "Opt-In"],
      "?": ["paused", "Yes", "1", "confirmed"],
    },
  }),
  ...columnsOf(["sms_opt_in", "SMS Marketing Consent", "phone consent"], {
    channels: ["phone"],
    words: wordsByMeaning,
  }),
  ...columnsOf(["Unsubscribed from all email", "do_not_email"], {
    channels: ["email"],
    words: wordsOfOptOut,
  }),
  ...columnsOf(["SMS_BLACKLISTED", "Do Not Text"], { channels: ["phone"], words: wordsOfOptOut }),
  ...columnsOf(["Unsubscribed", "opt-out"], {
    channels: ["email", "phone"],
    isGeneral: true,
    words: wordsOfOptOut,
  }),
  ...columnsOf(["Do Not Contact"], { channels: ["email", "phone"], words: wordsOfOptOut }),
];

const people = [
  { email: "ada@example.com", phone: "+447700900511" },
  { email: "bo@example.com", phone: "+447700900512" },
  { email: "cy@example.com", phone: "" },
  { email: "", phone: "+447700900514" },
];

const state = fc.constantFrom<State>("S", "N", "U");
const cell = (words: Record<Meaning, string[]>) =>
  fc
    .oneof(
      { weight: 8, arbitrary: state },
      { weight: 5, arbitrary: fc.constant("-" as const) },
      { weight: 1, arbitrary: fc.constant("?" as const) },
    )
    .filter((meaning) => words[meaning].length > 0)
    .chain((meaning) => fc.constantFrom(...words[meaning]).map((text) => ({ meaning, text })));

const file = fc.shuffledSubarray(columns, { minLength: 1, maxLength: 4 }).chain((own) =>
  fc.record({
    columns: fc.constant(own),
    delimiter: fc.constantFrom(",", ";", "\t"),
    rows: fc.array(
      fc.record({
        person: fc.nat(people.length - 1),
        // The address in another letter case, and the number or a blank.
        isUpper: fc.boolean(),
        hasPhone: fc.boolean(),
        // One cell too many, or too few: then nobody can know the meaning of any.
        shape: fc.oneof({ weight: 12, arbitrary: fc.constant(0) }, fc.constantFrom(1, -1)),
        cells: fc.tuple(...own.map(({ words }) => cell(words))),
      }),
      { minLength: 1, maxLength: 6 },
    ),
  }),
);

type ImportedFile = typeof file extends fc.Arbitrary<infer Value> ? Value : never;

/**
 * The statements of the files about one channel of one person. A heading without a channel applies to the number where
 * there is one, and so does a refusal in words under it to a number in its row.
 */
function meaningsOf(
  files: readonly ImportedFile[],
  person: number,
  channel: "email" | "phone",
): (Meaning | "misshapen")[] {
  const rows = files.flatMap(({ columns: own, rows: all }) =>
    all.filter((row) => row.person === person).map((row) => ({ own, ...row })),
  );
  const hasPhone = people[person]?.phone !== "" && rows.some((row) => row.hasPhone && row.shape === 0);
  return rows.flatMap(({ own, cells, shape, hasPhone: isBeside }): (Meaning | "misshapen")[] =>
    shape !== 0
      ? ["misshapen"]
      : cells.flatMap(({ meaning, text }, index) => {
          const { channels, isGeneral = false } = own[index]!;
          const isOfBoth = isBeside && isGeneral && meaning === "U" && !/^(no?|false|0)$/i.test(text);
          return (isOfBoth || channels.includes(channel)) && (channel === "email" || !isGeneral || hasPhone)
            ? [meaning]
            : [];
        }),
  );
}

/** The problem of a channel's consent after the run; undefined where it is correct. */
function problemOf(
  meanings: readonly (Meaning | "misshapen")[],
  {
    earlier,
    own,
    isComplete,
    hasSent,
    isUnasked,
    isExact,
  }: {
    earlier: State | undefined;
    own: State;
    /** All rows were imported. */
    isComplete: boolean;
    /** A request was sent: then every opt-out was sent. */
    hasSent: boolean;
    /** The command line has no --consent. */
    isUnasked: boolean;
    /** No heading without a channel can apply to it too. */
    isExact: boolean;
  },
): string | undefined {
  const states = meanings.filter((meaning): meaning is State => meaning in strictness);
  const strictest = states.toSorted((one, other) => strictness[other] - strictness[one])[0];
  const isMisshapen = meanings.includes("misshapen");
  const isDoubtful = isMisshapen || meanings.includes("?");
  const isBetter = strictest !== undefined && strictness[own] < strictness[strictest];
  // A consent that was not sent is unchanged.
  // A misshapen line may hide an UNSUBSCRIBED, which NON_SUBSCRIBED must not replace.
  const isOptOutSent = hasSent && isExact && strictest !== "S" && !(strictest === "N" && isMisshapen);
  if (isBetter && (own !== earlier || (isComplete && !isDoubtful) || isOptOutSent))
    return "it is better than the strictest word";
  if (isDoubtful && own === "S" && earlier !== "S") return "a word that nobody can know made a subscriber";
  const isKept = own === (earlier ?? "N");
  if (strictest === undefined && !isDoubtful && isUnasked && !isKept)
    return "it changed, and nothing was said";
  if (isComplete && isExact && strictest !== undefined && !isDoubtful && own !== strictest && !isKept)
    return "it is none of the words";
  return undefined;
}

const stateOf = (optIn: string | undefined) =>
  (Object.keys(optIns) as State[]).find((one) => optIns[one] === optIn);

describe("The consent at the service is never weaker than the strictest value in the files", () => {
  it("for any columns, values, and orders of rows and files", async () => {
    const endings = { whole: 0, partly: 0, blocked: 0 };
    const before = fc.array(fc.option(fc.tuple(state, state), { nil: undefined }), {
      minLength: 4,
      maxLength: 4,
    });
    const consent = fc.constantFrom(undefined, "keep", "SUBSCRIBED", "NON_SUBSCRIBED", "UNSUBSCRIBED");
    await fc.assert(
      fc.asyncProperty(
        fc.array(file, { minLength: 1, maxLength: 3 }),
        before,
        fc.boolean(),
        consent,
        async (files, earlier, hasList, meant) => {
          const { code, contacts } = await imported(files, earlier, [
            ...(hasList && meant !== "keep" ? ["--list", list.id] : []),
            ...(meant === undefined ? [] : ["--consent", meant]),
          ]);
          endings[code === 0 ? "whole" : code === 1 ? "partly" : "blocked"] += 1;

          const wrong = people.flatMap(({ email, phone }, person) => {
            const contact = contacts.find((one) =>
              email === "" ? one.phone === phone : one.email === email,
            );
            const known = earlier[person];
            if (contact === undefined) return [];
            const settings = {
              isComplete: code === 0,
              hasSent: code !== 2,
              isUnasked: meant === undefined || meant === "keep",
            };
            return (["email", "phone"] as const).flatMap((channel, index) => {
              const own = stateOf(contact[`${channel}_opt_in`]);
              // A person without an address has no e-mail consent; general values may apply to the number instead.
              if (email === "" || own === undefined) return [];
              const found = problemOf(meaningsOf(files, person, channel), {
                earlier: known?.[index],
                own,
                isExact: channel === "email",
                ...settings,
              });
              return found === undefined ? [] : [`${email}, ${channel}: ${found}`];
            });
          });
          expect(wrong, `exit code ${code}, ${meant ?? "no"} --consent`).toEqual([]);
          if (code === 2) expect(contacts.length).toBe(earlier.filter((one) => one !== undefined).length);
        },
      ),
      runs(150),
    );
    // The property needs runs that send requests.
    expect(endings.whole).toBeGreaterThan(5);
    expect(endings.partly).toBeGreaterThan(1);
  });
});

describe("A refusal under a heading without a channel", () => {
  const sent = async (heading: string, word: string) => {
    const mock = await service();
    const folder = await temporaryFolder();
    const row = `a@example.com,+4791234567,yes,${word},yes`;
    await run([await csv(folder, "c.csv", `Email,Phone,Newsletter,${heading},SMS opt-in`, row)]);
    return sentBodies(mock).map(({ email_opt_in, phone_opt_in }) => [email_opt_in, phone_opt_in]);
  };

  it.each([
    ["Status", "Do not contact"],
    ["Status", "unsubscribed"],
    ["Status", "complained"],
    ["Status", "opted out of SMS"],
    ["Opt-in", "Unsubscribed"],
    ["Subscribed", "opted out"],
    ["Photo consent", "withdrawn"],
  ])("is also about the telephone number, unless it names e-mail alone: %s, %s", async (heading, word) => {
    expect(await sent(heading, word)).toEqual([["UNSUBSCRIBED", "UNSUBSCRIBED"]]);
  });

  it.each([
    ["Status", "unsubscribed from the newsletter"],
    ["Status", "do not email"],
    ["Opt-in", "no"],
    ["Spam complaint", "yes"],
  ])("is about e-mail alone if it says so, or only answers the question: %s, %s", async (heading, word) => {
    expect(await sent(heading, word)).toEqual([["UNSUBSCRIBED", "SUBSCRIBED"]]);
  });
});

describe("A telephone number's opt-out in a row without an e-mail consent", () => {
  const number = "+4791234567";
  const many = Array.from({ length: 31 }, (_, index) => `P${index}`).join(",");

  it.each<[string, string[], string[]]>([
    [
      "cannot be added to a list",
      ["Email,Phone,Newsletter,SMS opt-in", `a@example.com,${number},,no`],
      ["--list", list.id],
    ],
    [
      "has too many properties",
      [`Email,Phone,Newsletter,SMS opt-in,${many}`, `a@example.com,${number},,no,${many}`],
      [],
    ],
    [
      "has an unknown word of the e-mail consent",
      ["Email,Phone,Newsletter,SMS opt-in", `a@example.com,${number},perhaps,no`, "b@example.com,,yes,"],
      [],
    ],
    [
      "has an opt-in to e-mail beside an unknown word",
      [
        "Email,Phone,Newsletter,E-mail opt-in,SMS opt-in",
        `a@example.com,${number},perhaps,yes,no`,
        "b@example.com,,yes,yes,",
      ],
      [],
    ],
    [
      "is refused by the service",
      ["Email,Phone,Country,SMS opt-in", `a@example.com,${number},Atlantis,no`],
      [],
    ],
    [
      "is not sent again after a lost response",
      ["Email,Phone,City,SMS opt-in", `a@example.com,${number},Oslo,no`],
      [],
    ],
  ])("is sent by itself if the row %s", async (why, lines, options) => {
    const mock = await service(
      [
        {
          email: "a@example.com",
          phone: number,
          email_opt_in: "SUBSCRIBED",
          phone_opt_in: "SUBSCRIBED",
        },
      ],
      { unknownCountry: "refused" },
    );
    if (why.includes("lost")) mock.addFault({ kind: "500-before", times: 1 });

    const { code, out } = await run([await csv(await temporaryFolder(), "c.csv", ...lines), ...options]);

    expect(code).toBe(1);
    expect(out).toMatch(/row 2: .*; its opt-outs are sent anyway$/m);
    expect(sentBodies(mock)).toContainEqual({ phone: number, phone_opt_in: "UNSUBSCRIBED" });
    expect(mock.organization("real").contacts[0]).toMatchObject({
      email: "a@example.com",
      email_opt_in: "SUBSCRIBED",
      phone_opt_in: "UNSUBSCRIBED",
    });
  });

  it("is not said to be sent if its response was unreadable too", async () => {
    const mock = await service();
    mock.addFault({ kind: "truncated-json" });
    const path = await csv(
      await temporaryFolder(),
      "c.csv",
      "Email,Phone,Newsletter,SMS opt-in",
      `a@example.com,${number},,no`,
    );

    const { out } = await run([path]);

    expect(sentBodies(mock)).toHaveLength(2);
    expect(out).toContain("row 2: ");
    expect(out).not.toContain("its opt-outs are sent");
  });
});

/** Imports the files into a service with these people, and returns its state. */
async function imported(
  files: readonly ImportedFile[],
  earlier: readonly ([State, State] | undefined)[],
  options: readonly string[],
) {
  const folder = await mkdtemp(join(tmpdir(), "consent-"));
  const { mock, close } = await openService(seedsOf(earlier));
  try {
    const { code } = await run([...(await write(folder, files)), ...options]);
    return { code, contacts: mock.organization("real").contacts };
  } finally {
    await close();
    await rm(folder, { recursive: true });
  }
}

function seedsOf(earlier: readonly ([State, State] | undefined)[]): NonNullable<Seeds> {
  return earlier.flatMap((states, index) => {
    const { email, phone } = people[index]!;
    if (states === undefined) return [];
    const consents = { email_opt_in: optIns[states[0]], phone_opt_in: optIns[states[1]] };
    return [{ ...(email === "" ? { phone } : { email }), ...consents }];
  });
}

async function write(folder: string, files: readonly ImportedFile[]): Promise<string[]> {
  const paths: string[] = [];
  for (const [index, { columns: own, delimiter, rows }] of files.entries()) {
    const path = join(folder, `${index}.csv`);
    const lines = rows.map(({ person, isUpper, hasPhone, cells, shape }) => {
      const { email, phone } = people[person]!;
      const texts = cells.map(({ text }) => text);
      const line = [isUpper ? email.toUpperCase() : email, hasPhone || email === "" ? phone : "", ...texts];
      return shape === 1 ? [...line, "more"] : line.slice(0, line.length + shape);
    });
    const table = [["Email", "Phone", ...own.map(({ heading }) => heading)], ...lines];
    await writeFile(path, table.map((line) => `${line.join(delimiter)}\n`).join(""));
    paths.push(path);
  }
  return paths;
}
