import { createInterface, type Interface } from "node:readline";
import { counted } from "../console/counted.ts";
import { InputError } from "../console/program.ts";
import { type Input, type Output, say } from "../console/terminal.ts";
import { printable } from "../console/text-width.ts";
import type { ColumnCells } from "../exports/column-cells.ts";
import type { ColumnRule, ConsentRule, Everyone, Meaning } from "../exports/column-map.ts";
import { contactFields } from "../exports/contact-columns.ts";
import { quotedWord } from "../exports/contact-values.ts";
import { type WordToAsk, wordsToAsk } from "../exports/propose-map.ts";
import { anyDate, anyOther } from "../exports/words.ts";

class OneStepBack extends Error {}

type Consent = ConsentRule["consent"];
type WordMeaning = ConsentRule["words"][string];

const kinds: Readonly<Record<string, ColumnRule>> = {
  1: { consent: "email", words: {} },
  2: { consent: "phone", words: {} },
  3: { consent: "both", words: {} },
  4: "property",
  5: "ignore",
};
const kindKeys =
  "1 consent to e-mail, 2 consent to SMS and calls, 3 consent to both, 4 a custom property, 5 leave it out";
const meanings: Readonly<Record<string, Meaning>> = {
  s: "SUBSCRIBED",
  n: "NON_SUBSCRIBED",
  u: "UNSUBSCRIBED",
  "-": "none",
  h: "hold",
};
const meaningKeys = "n never subscribed, u unsubscribed, - nothing, h hold the person back";
const everyone: Readonly<Record<string, Everyone>> = {
  1: { email: "UNSUBSCRIBED" },
  2: { phone: "UNSUBSCRIBED" },
  3: { email: "UNSUBSCRIBED", phone: "UNSUBSCRIBED" },
  4: { email: "none", phone: "none" },
};
const help = {
  column:
    "A consent says whether people want messages: its words are asked next. A custom property keeps the cells as data of the\n" +
    "person, and says nothing of a consent. If you do not know, end with Ctrl-C and ask whoever made the file.",
  word:
    "Subscribed is who has agreed, unsubscribed who has refused. With h the rows are reported, and nothing but refusals of\n" +
    "them is sent. For a consent to both, two letters tell e-mail and phone apart: su.",
  everyone:
    "A list of people who left has no column that says so: then its answer counts for everybody in it.",
};

/** Asks questions on a terminal, one after the other. Ctrl-C aborts the signal and ends them. */
export class Questions {
  readonly #output: Output;
  readonly #signal: AbortSignal;
  readonly #reader: Interface;
  readonly #lines: AsyncIterator<string>;
  /** The answers so far, for one step back: the questions before it are gone through again without asking. */
  #given: string[] = [];
  #toRepeat: string[] = [];

  constructor({ input, output, signal }: { input: Input; output: Output; signal: AbortSignal }) {
    this.#output = output;
    this.#signal = signal;
    // terminal: false leaves Ctrl-C to the process, which ends cleanly by the signal.
    this.#reader = createInterface({ input, terminal: false, signal });
    this.#lines = this.#reader[Symbol.asyncIterator]();
  }

  [Symbol.dispose](): void {
    this.#reader.close();
  }

  /** The result of a function that asks; it is called once more for each step back. */
  async answers<Result>(ask: () => Promise<Result>): Promise<Result> {
    for (;;) {
      this.#toRepeat = this.#given;
      this.#given = [];
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof OneStepBack)) throw error;
        this.#given.pop();
      }
    }
  }

  /** What a column becomes; of one whose channel is known, the words that are open. */
  async column(name: string, cells: ColumnCells, proposed: ColumnRule | undefined): Promise<ColumnRule> {
    const words = wordsToAsk(cells).filter(([word]) => word !== "" || cells.words.has(anyDate));
    const known = typeof proposed === "object" ? proposed : undefined;
    this.#say("", `What is ${JSON.stringify(printable(name))}? It holds`, ...words.map(wordLine));
    const rule =
      known === undefined || known.consent === "?"
        ? await this.#choice(
            `${kindKeys}, or a field: ${contactFields.join(", ")}`,
            help.column,
            (answer) => kinds[answer] ?? contactFields.find((field) => field === answer),
          )
        : known;
    if (typeof rule === "string") return rule;
    const { consent } = rule;
    const own: Record<string, WordMeaning> = { "": "none", ...known?.words };
    const open = Object.keys(own).filter((word) => own[word] === "?");
    const asked = new Map([...open.map((word): WordToAsk => [word, cells.words.get(word)]), ...words]);
    for (const [word, rows] of asked)
      if (word === "" || (own[word] ?? "?") === "?") own[word] = await this.#meaning([word, rows], consent);
    return { consent, words: own };
  }

  /** What a file means as a whole. */
  async everyone(name: string): Promise<Everyone> {
    this.#say(
      "",
      `${printable(name)} may be a list of people who left, by its name. Is everybody in it unsubscribed?`,
    );
    const keys = "1 from e-mail, 2 from SMS and calls, 3 from both, 4 no: only its columns count";
    return await this.#choice(keys, help.everyone, (answer) => everyone[answer]);
  }

  async confirm(question: string): Promise<boolean> {
    return /^y(es)?$/i.test(await this.#line(`${question} (y/N) `));
  }

  async #meaning(entry: WordToAsk, consent: Consent): Promise<WordMeaning> {
    this.#say(`${wordLine(entry)} means`);
    const both = consent === "both" ? "; or two of them, for e-mail and for phone" : "";
    // What nobody has seen subscribes nobody.
    const isSeen = entry[0] !== anyOther;
    return await this.#choice(
      `${isSeen ? "s subscribed, " : ""}${meaningKeys}${both}`,
      help.word,
      (answer) => {
        if (!isSeen && answer.includes("s")) return undefined;
        if (answer.length < 2 || consent !== "both") return meanings[answer];
        const [email, phone] = Array.from(answer.replace(/\s/g, ""), (key) => meanings[key]);
        return email && phone && { email, phone };
      },
    );
  }

  async #choice<Value>(
    keys: string,
    explanation: string,
    parse: (answer: string) => Value | undefined,
  ): Promise<Value> {
    const repeated = this.#toRepeat.shift();
    if (repeated === undefined) say(this.#output, `  ${keys}`);
    for (;;) {
      // A repeated answer has been parsed before.
      const answer = repeated ?? (await this.#line("  ? for help, < for one step back: ")).toLowerCase();
      const value = parse(answer);
      if (value !== undefined) {
        this.#given.push(answer);
        return value;
      }
      if (answer === "<" && this.#given.length > 0) throw new OneStepBack();
      if (answer === "?") say(this.#output, explanation, `  ${keys}`);
      else if (answer === "<") say(this.#output, "  This is the first question.");
      else say(this.#output, `  ${JSON.stringify(printable(answer))} is no answer. Possible are ${keys}`);
    }
  }

  #say(...lines: string[]): void {
    if (this.#toRepeat.length === 0) say(this.#output, ...lines);
  }

  async #line(question: string): Promise<string> {
    this.#signal.throwIfAborted();
    this.#output.write(question);
    const { value, done } = await this.#lines.next();
    this.#signal.throwIfAborted();
    if (done === true) throw new InputError("The questions were not answered. Nothing was sent.");
    return value.trim();
  }
}

function wordLine([word, rows]: WordToAsk): string {
  if (word === anyOther) return "  any other word";
  const shown = word === "" ? "(blank)" : quotedWord(printable(word));
  return rows === undefined ? `  ${shown}` : `  ${shown}: ${counted(rows, "row")}`;
}
