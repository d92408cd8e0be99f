import { createInterface, type Interface } from "node:readline";
import { counted } from "../console/counted.ts";
import { type Input, type Output, say } from "../console/terminal.ts";
import { printable } from "../console/text-width.ts";
import { type ColumnCells, mostWords } from "../exports/column-cells.ts";
import type { ColumnRule, ConsentRule, Everyone, Meaning } from "../exports/column-map.ts";
import { contactFields } from "../exports/contact-columns.ts";
import { isNamedAsRefusal } from "../exports/floor.ts";
import { wordsToAsk } from "../exports/propose-map.ts";

/** The person at the terminal has ended the input before the last question. */
export class NoAnswerError extends Error {
  override readonly name = "NoAnswerError";
}

const channels: Readonly<Record<string, ConsentRule["consent"] | undefined>> = {
  1: "email",
  2: "phone",
  3: "both",
};

const kinds: Readonly<Record<string, ColumnRule | undefined>> = {
  1: "?",
  2: "?",
  3: "?",
  4: "property",
  5: "ignore",
};

const meanings: Readonly<Record<string, Meaning>> = {
  s: "SUBSCRIBED",
  n: "NON_SUBSCRIBED",
  u: "UNSUBSCRIBED",
  "-": "none",
  h: "hold",
};

/** Asks questions on a terminal, one after the other. Ctrl-C aborts the signal and ends them. */
export class Questions {
  readonly #output: Output;
  readonly #signal: AbortSignal;
  readonly #reader: Interface;
  readonly #lines: AsyncIterator<string>;

  constructor({ input, output, signal }: { input: Input; output: Output; signal: AbortSignal }) {
    this.#output = output;
    this.#signal = signal;
    // terminal: false leaves Ctrl-C to the process, which ends cleanly by the signal.
    this.#reader = createInterface({ input, terminal: false });
    this.#lines = this.#reader[Symbol.asyncIterator]();
    signal.addEventListener("abort", () => this.#reader.close(), { once: true });
  }

  close(): void {
    this.#reader.close();
  }

  /** What a column becomes. */
  async column(name: string, cells: ColumnCells): Promise<ColumnRule> {
    const words = wordsToAsk(cells);
    say(
      this.#output,
      "",
      `What is ${JSON.stringify(printable(name))}? It holds`,
      ...(words.length > mostWords ? ["  many different words, as addresses"] : words.map(wordLine)),
      "  1 consent to e-mail, 2 consent to SMS and calls, 3 consent to both, 4 a custom property, 5 leave it out,",
      `  or a field: ${contactFields.join(", ")}`,
    );
    const kind = await this.#choice("1 to 5, or a field", (answer) => {
      const rule = kinds[answer] ?? contactFields.find((one) => one === answer);
      return rule === undefined ? undefined : { rule, channel: channels[answer] };
    });
    if (kind.channel === undefined) return kind.rule;
    const own: Record<string, Meaning> = { "": "none" };
    for (const entry of words) own[entry.word] = await this.#meaning(entry);
    return { consent: kind.channel, words: own };
  }

  /** What a file means as a whole. */
  async everyone(name: string): Promise<Everyone | undefined> {
    say(
      this.#output,
      "",
      `${printable(name)} ${isNamedAsRefusal(name) ? "has the name of a list of people who refused" : "may mean something as a whole"}. Is everybody in it unsubscribed?`,
      "  1 from e-mail, 2 from SMS and calls, 3 from both, 4 no: only its columns count",
    );
    const answers: Readonly<Record<string, { everyone: Everyone | undefined }>> = {
      1: { everyone: { email: "UNSUBSCRIBED" } },
      2: { everyone: { phone: "UNSUBSCRIBED" } },
      3: { everyone: { email: "UNSUBSCRIBED", phone: "UNSUBSCRIBED" } },
      4: { everyone: undefined },
    };
    return (await this.#choice("1 to 4", (answer) => answers[answer])).everyone;
  }

  /** Whether to import. */
  async confirm(question: string): Promise<boolean> {
    return /^y(es)?$/i.test(await this.#line(`${question} (y/N) `));
  }

  async #meaning(entry: { word: string; people: number | undefined }): Promise<Meaning> {
    say(this.#output, wordLine(entry));
    return await this.#choice(
      "means s subscribed, n never subscribed, u unsubscribed, - nothing, h hold the person back",
      (answer) => (Object.hasOwn(meanings, answer) ? meanings[answer] : undefined),
    );
  }

  async #choice<Value>(question: string, parse: (answer: string) => Value | undefined): Promise<Value> {
    for (;;) {
      const value = parse((await this.#line(`  ${question}: `)).toLowerCase());
      if (value !== undefined) return value;
    }
  }

  async #line(question: string): Promise<string> {
    this.#signal.throwIfAborted();
    this.#output.write(question);
    const { value, done } = await this.#lines.next();
    this.#signal.throwIfAborted();
    if (done === true) throw new NoAnswerError("The questions were not answered. Nothing was sent.");
    return value.trim();
  }
}

function wordLine({ word, people }: { word: string; people: number | undefined }): string {
  const shown = word === "" ? "(blank)" : JSON.stringify(printable(word));
  return people === undefined ? `  ${shown}` : `  ${shown}: ${counted(people, "person", "people")}`;
}
