import fc from "fast-check";
import { expect, it } from "vitest";
import type { ColumnRule, Meaning } from "../../examples/exports/column-map.ts";
import { runs } from "../properties/runs.ts";
import { emailConsents, mapOf, openService, runAlone, table as tableOf } from "./importer-fixture.ts";

const optIns = { S: "SUBSCRIBED", N: "NON_SUBSCRIBED", U: "UNSUBSCRIBED" } as const;
type State = keyof typeof optIns;
/** "-" is no statement. */
type Truth = State | "-";

/** What a reader of the language understands; of these words the importer knows only those of an ignored column. */
const languages: readonly { headings: string[]; words: Record<Truth, string[]>; isIgnored?: true }[] = [
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
  {
    headings: ["Remark", "Notes"],
    words: { S: [], N: [], U: ["Bounced", "do not contact", "Opted-out"], "-": ["", "likes tea"] },
    isIgnored: true,
  },
];

const column = fc.constantFrom(...languages).chain(({ headings, words, isIgnored = false }) =>
  fc.record({
    heading: fc.constantFrom(...headings),
    words: fc.constant(words),
    isIgnored: fc.constant(isIgnored),
    isAnswered: fc.boolean(),
  }),
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
  const lines = rows.map(({ person, isUpper, cells }) => [
    isUpper ? addressOf(person).toUpperCase() : addressOf(person),
    ...cells.map(({ text }) => text),
  ]);
  const headings = ["Email", ...columns.map(({ heading }) => heading)];
  return await tableOf(...[headings, ...lines].map((cells) => cells.join(",")));
}

function ruleOf(words: Record<Truth, string[]>): ColumnRule {
  const entries = Object.entries(words).flatMap(([truth, own]) =>
    own.map((word): [string, Meaning] => [word, meanings[truth as Truth]]),
  );
  return { consent: "email", words: Object.fromEntries(entries) };
}

it("The consent at the service is never better than the strictest word that a reader of the language sees, for any table, whose columns are answered or not, with any --consent", async () => {
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
          .map(({ heading, words, isIgnored }) => [heading, isIgnored ? "ignore" : ruleOf(words)] as const);
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
