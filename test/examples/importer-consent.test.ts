import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MockConsentChange, MockFault, MockService } from "audience-sdk/mock";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ColumnRule, Meaning } from "../../examples/exports/column-map.ts";
import { runs } from "../properties/runs.ts";
import {
  csv,
  emailConsents,
  list,
  mapOf,
  openService,
  run,
  runAlone,
  runOnMock,
  sentBodies,
  service,
  temporaryFolder,
} from "./importer-fixture.ts";

const optIns = { S: "SUBSCRIBED", N: "NON_SUBSCRIBED", U: "UNSUBSCRIBED" } as const;
type State = keyof typeof optIns;
/** "-" is no statement. */
type Truth = State | "-";

/** What a reader of the language understands; the importer knows none of these words. */
const languages: readonly { headings: string[]; words: Record<Truth, string[]> }[] = [
  {
    headings: ["Newsletter", "Werbung erwünscht", "Status"],
    words: {
      S: ["ja", "angemeldet", "aktiv"],
      N: ["offen"],
      U: ["nein", "abgemeldet", "gesperrt"],
      "-": ["", "unbekannt"],
    },
  },
  {
    headings: ["Inscrit", "Abonnement", "État"],
    words: { S: ["oui", "abonné"], N: ["en attente"], U: ["non", "désinscrit", "plainte"], "-": [""] },
  },
  {
    headings: ["Подписка", "Статус"],
    words: {
      S: ["да", "подписан"],
      N: ["ожидает"],
      U: ["нет", "отписан", "жалоба"],
      "-": ["", "не указано"],
    },
  },
  {
    headings: ["メルマガ", "状態"],
    words: { S: ["希望する", "登録"], N: ["仮登録"], U: ["希望しない", "解除", "停止"], "-": [""] },
  },
  {
    headings: ["İzin", "Durum"],
    words: { S: ["evet", "aktif"], N: ["beklemede"], U: ["hayır", "iptal", "şikayet"], "-": [""] },
  },
  {
    headings: ["النشرة", "الحالة"],
    words: { S: ["نعم", "مشترك"], N: ["معلق"], U: ["لا", "ملغى"], "-": [""] },
  },
  {
    headings: ["flag", "code", "typ"],
    words: { S: ["1", "A"], N: ["2"], U: ["0", "-1", "X", "[45]"], "-": ["", String.raw`\\N`, "NULL"] },
  },
  {
    headings: ["opt_out_at", "Datum der Abmeldung"],
    words: { S: [], N: [], U: ["2026-01-02", "2.1.2026 10:00", "1767312000"], "-": ["", "0000-00-00"] },
  },
];

const column = fc
  .constantFrom(...languages)
  .chain(({ headings, words }) =>
    fc.record({ heading: fc.constantFrom(...headings), words: fc.constant(words), isAnswered: fc.boolean() }),
  );
const table = fc.array(column, { minLength: 1, maxLength: 3 }).chain((columns) =>
  fc.record({
    columns: fc.constant(columns),
    rows: fc.array(
      fc.record({
        person: fc.nat(3),
        isUpper: fc.boolean(),
        cells: fc.tuple(
          ...columns.map(({ words }) =>
            fc
              .constantFrom<Truth>("S", "N", "U", "-")
              .filter((truth) => words[truth].length > 0)
              .chain((truth) => fc.constantFrom(...words[truth]).map((text) => ({ truth, text }))),
          ),
        ),
      }),
      { minLength: 1, maxLength: 8 },
    ),
  }),
);
type Table = typeof table extends fc.Arbitrary<infer Value> ? Value : never;

const strictness: Readonly<Record<Truth, number>> = { "-": 0, S: 1, N: 2, U: 3 };
const meanings: Readonly<Record<Truth, Meaning>> = { ...optIns, "-": "none" };
const addressOf = (person: number) => `p${person}@example.com`;

/** The strictest word about each person. */
function truths({ rows }: Table): Map<string, Truth> {
  const found = new Map<string, Truth>();
  for (const { person, cells } of rows)
    for (const { truth } of cells) {
      const known = found.get(addressOf(person)) ?? "-";
      found.set(addressOf(person), strictness[truth] > strictness[known] ? truth : known);
    }
  return found;
}

async function writtenTable({ columns, rows }: Table): Promise<string> {
  const lines = rows.map(({ person, isUpper, cells }) =>
    [isUpper ? addressOf(person).toUpperCase() : addressOf(person), ...cells.map(({ text }) => text)].join(
      ",",
    ),
  );
  return await csv(
    await temporaryFolder(),
    "people.csv",
    ["Email", ...columns.map(({ heading }) => heading)].join(","),
    ...lines,
  );
}

function ruleOf(words: Record<Truth, string[]>): ColumnRule {
  const entries = Object.entries(words).flatMap(([truth, own]) =>
    own.map((word): [string, Meaning] => [word, meanings[truth as Truth]]),
  );
  return { consent: "email", words: Object.fromEntries(entries) };
}

describe("The consent at the service is never better than the strictest word that a reader of the language sees", () => {
  it("for any table, whose columns are answered or not, with any --consent", async () => {
    const codes = { 0: 0, 1: 0, 2: 0 };
    const consent = fc.constantFrom(undefined, "keep", "SUBSCRIBED", "NON_SUBSCRIBED");
    await fc.assert(
      fc.asyncProperty(table, consent, async (own, meant) => {
        // A heading that comes twice has another name in the map.
        const headings = own.columns.map(({ heading }) => heading);
        fc.pre(new Set(headings).size === headings.length);
        const { mock, close } = openService();
        try {
          const path = await writtenTable(own);
          const answers = own.columns
            .filter((one) => one.isAnswered)
            .map(({ heading, words }) => [heading, ruleOf(words)] as const);
          if (answers.length > 0) await mapOf(path, { Email: "email", ...Object.fromEntries(answers) });
          const { code } = await runAlone([path, ...(meant === undefined ? [] : ["--consent", meant])]);
          codes[code as 0 | 1 | 2] += 1;

          const known = truths(own);
          const better = Object.entries(emailConsents(mock)).filter(([email, state]) => {
            const truth = known.get(email) ?? "-";
            return (
              truth !== "-" && state !== undefined && strictness[truth] > strictness[state.charAt(0) as State]
            );
          });
          expect(better).toEqual([]);
          const unanswered = own.rows.flatMap(({ cells }) =>
            cells.filter(({ truth }, index) => truth !== "-" && own.columns[index]?.isAnswered !== true),
          );
          if (code !== 2) expect(unanswered).toEqual([]);
        } finally {
          close();
        }
      }),
      runs(300),
    );
    // The property needs imports, and questions.
    expect(codes[0]).toBeGreaterThan(5);
    expect(codes[2]).toBeGreaterThan(5);
  });
});

const statuses = fc.constantFrom<State>("S", "S", "S", "N", "U");
/** Most nights are without it. */
const sometimes = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: value });
const nights = fc.array(
  fc.record({
    rows: fc.array(fc.record({ says: statuses, city: fc.nat(2) }), { minLength: 3, maxLength: 3 }),
    /** Who unsubscribes at the service before the night. */
    clicks: fc.uniqueArray(fc.nat(2), { maxLength: 2 }),
    /** Of those that are not retried: each ends a row. */
    fault: sometimes(
      fc.record({
        kind: fc.constantFrom<MockFault["kind"]>("truncated-json", "wrong-json", "empty-body", "redirect"),
        after: fc.nat(4),
        times: fc.integer({ min: 1, max: 3 }),
      }),
    ),
    /** The number of requests after which somebody presses Ctrl-C. */
    stopsAfter: sometimes(fc.nat(5)),
  }),
  { minLength: 2, maxLength: 5 },
);
type Night = typeof nights extends fc.Arbitrary<(infer Value)[]> ? Value : never;

/** A person and their row, as the world knows them. */
class Reader {
  state: State | undefined;
  hasClicked = false;
  /** The row's last success said S, and it has said so on each night since. */
  isSureOptIn = false;
  /** The person left while that was so. */
  hasLeft = false;
  wrong: string | undefined;
}

class Newsletter {
  readonly readers = Array.from({ length: 3 }, () => new Reader());
  readonly #words: Record<Truth, string[]>;
  readonly #mock: MockService;
  readonly #folder: string;

  constructor(mock: MockService, folder: string, words: Record<Truth, string[]>) {
    this.#mock = mock;
    this.#folder = folder;
    this.#words = words;
  }

  /** Returns the exit code, and whether each row was imported, or is that of a person who has left. */
  async night({ rows, clicks, fault, stopsAfter }: Night, options: readonly string[]) {
    for (const person of clicks) this.#click(person);
    for (const [person, { says }] of rows.entries())
      if (says !== "S") Object.assign(this.readers[person]!, { isSureOptIn: false, hasLeft: false });
    const lines = rows.map(
      ({ says, city }, person) => `${addressOf(person)},${this.#words[says][0]},City ${city}`,
    );
    const path = await csv(this.#folder, "people.csv", "Email,Wort,Stadt", ...lines);
    if (fault) this.#mock.addFault(fault);
    const before = this.#history.length;
    const args = [path, "--resume", join(this.#folder, "people.ckpt"), ...options];
    const stop = new AbortController();
    let requests = 0;
    const fetch: MockService["fetch"] = (input, init) => {
      if (stopsAfter !== null && requests++ >= stopsAfter) stop.abort();
      return this.#mock.fetch(input, init);
    };
    const { code } = await runOnMock(this.#mock, args, { ...this.#mock.clientOptions, fetch }, stop.signal);
    for (const { email = "", to } of this.#history.slice(before)) this.#judge(rows, email, to);
    const isDone = code === 0;
    if (isDone)
      for (const [person, { says }] of rows.entries()) this.readers[person]!.isSureOptIn = says === "S";
    return { code, isDone };
  }

  get #history(): readonly MockConsentChange[] {
    return this.#mock.organization("real").consentHistory;
  }

  #click(person: number): void {
    const reader = this.readers[person]!;
    if (reader.state === undefined) return;
    this.#mock.unsubscribe(addressOf(person));
    Object.assign(reader, { state: "U", hasClicked: true, hasLeft: reader.isSureOptIn });
  }

  #judge(rows: Night["rows"], email: string, to: string | boolean): void {
    const person = Number(/\d/.exec(email));
    const reader = this.readers[person]!;
    reader.state = String(to).charAt(0) as State; // Safe: one of the statuses
    const { says } = rows[person]!;
    if (strictness[reader.state] < strictness[says])
      reader.wrong = `${email}: ${says} became ${reader.state}`;
    if (reader.state === "S" && reader.hasLeft) reader.wrong = `${email} had left`;
  }
}

describe("A table with a map, imported night after night with --resume, through faults, clicks and Ctrl-C", () => {
  it.each([[[]], [["--list", list.id]]])(
    "subscribes nobody against the word of the row, or who has left since, and loses no row: %j",
    async (options) => {
      const codes = new Set<number>();
      let left = 0;
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...languages.slice(0, 6)), nights, async ({ words }, plan) => {
          const { mock, close } = openService();
          const folder = await mkdtemp(join(tmpdir(), "newsletter-"));
          try {
            await mapOf(join(folder, "people.csv"), {
              Email: "email",
              Wort: ruleOf(words),
              Stadt: "property",
            });
            const newsletter = new Newsletter(mock, folder, words);
            const { readers } = newsletter;
            const night = async (each: Night) => {
              const { code, isDone } = await newsletter.night(each, options);
              codes.add(code);
              return isDone;
            };
            for (const each of plan) await night(each);
            left += readers.filter(({ hasLeft }) => hasLeft).length;
            const calm = { ...plan.at(-1)!, clicks: [], fault: null, stopsAfter: null };
            for (let times = 0; times < 15 && !(await night(calm)); times++);

            expect(readers.flatMap(({ wrong }) => wrong ?? [])).toEqual([]);
            const lost = calm.rows.filter(({ says }, person) => {
              const { hasClicked, state } = readers[person]!;
              // A refusal stands, also one that an earlier file has said.
              const hasRefused = state === "U" && plan.some(({ rows }) => rows[person]!.says === "U");
              return !hasClicked && !hasRefused && state !== says;
            });
            expect(lost).toEqual([]);
          } finally {
            close();
            await rm(folder, { recursive: true });
          }
        }),
        runs(100, 4),
      );
      // The property needs nights that are done, that fail and that are stopped, and people who leave.
      expect(codes).toEqual(new Set([0, 1, 130]));
      expect(left).toBeGreaterThan(0);
    },
  );
});

describe("A telephone number's opt-out in a row without an e-mail consent", () => {
  const number = "+4791234567";

  it("is sent by itself after a lost response, after which the row is not sent again", async () => {
    const contact = { email: "a@example.com", phone: number, email_opt_in: "SUBSCRIBED" } as const;
    const mock = service([{ ...contact, phone_opt_in: "SUBSCRIBED" }]);
    mock.addFault({ kind: "500-before", times: 1 });
    const lines = ["Email,Phone,City,SMS opt-in", `a@example.com,${number},Oslo,no`];

    const { code, out } = await run([await csv(await temporaryFolder(), "c.csv", ...lines)]);

    expect(code).toBe(1);
    expect(out).toMatch(/row 2: .*; its opt-outs are sent anyway$/m);
    expect(sentBodies(mock)).toContainEqual({ phone: number, phone_opt_in: "UNSUBSCRIBED" });
    expect(mock.organization("real").contacts[0]).toMatchObject({ ...contact, phone_opt_in: "UNSUBSCRIBED" });
  });

  it("is not said to be sent if its response was unreadable too", async () => {
    const mock = service();
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
