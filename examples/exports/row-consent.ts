import { type ConsentSaid, parseConsent } from "./consent-cells.ts";
import { type ConsentColumn, refusedChannels } from "./consent-columns.ts";
import { consentWord, refusalsIn } from "./consent-words.ts";
import { type Channel, type OptIn, stricter } from "./contact.ts";
import { type Column, type FilePlan, isStateOrRegion, isStatusOfPerson, shownHeading } from "./file-plan.ts";
import { isAddress } from "./identifiers.ts";
import { parseNote } from "./report-note.ts";
import type { ColumnCell, RowFields } from "./row-fields.ts";

/** The consent of one channel in a row. */
export interface Said {
  /** The strictest state of all cells; undefined if there is none. */
  readonly optIn: OptIn | undefined;
  /** The unknown words, with their headings. */
  readonly notUnderstood: readonly string[];
  /** Whether a column that names the channel refuses: the refusal counts even without an address or number. */
  readonly isRefusedByName: boolean;
}

/** A cell of a column about consent. */
export interface ConsentCell extends ColumnCell {
  readonly said: ConsentSaid;
}

/** The consent of each channel in a row. */
export type RowSaid = Readonly<Record<Channel, Said>> & { readonly isSuppressed: boolean };

/** The user's meaning of unknown words of consent. */
export type Meant = OptIn | "keep" | undefined;

const both: readonly Channel[] = ["email", "phone"];

/** Collects the consents of one row's cells. */
export class RowConsent {
  readonly cells: ConsentCell[] = [];
  readonly #plan: FilePlan;
  readonly #hasEmail: boolean;
  readonly #hasAddress: boolean;
  readonly #hasPhone: boolean;
  readonly #meant: Meant;
  readonly #stated: Record<Channel, { heading: string; optIn: OptIn; isNamed: boolean }[]> = {
    email: [],
    phone: [],
  };
  readonly #notUnderstood: Record<Channel, string[]> = { email: [], phone: [] };
  readonly #strays: string[] = [];
  #isSuppressed = false;

  constructor(plan: FilePlan, fields: RowFields, meant: Meant) {
    this.#plan = plan;
    this.#hasEmail = fields.cells.has("email");
    this.#hasAddress = fields.others.some(isAddress);
    this.#hasPhone = fields.cells.has("phone") || fields.others.some((one) => !isAddress(one));
    this.#meant = meant;
    this.#addSection(plan);
    // A yes may mean that there is a number, or another one.
    for (const { column, text, channel } of fields.words) {
      const consent: ConsentColumn = { question: "refusal only", channels: [channel], isGeneral: false };
      if (column.use.kind === "left out") this.#addRefusal(column, text, consent);
      else this.#addCell(column, text, consent);
    }
  }

  #addSection({ section }: FilePlan): void {
    if (section === undefined || section === "unclear") return;
    const isOfAll = section.optIn === "UNSUBSCRIBED" || !this.#hasEmail;
    for (const channel of section.channels ?? (isOfAll ? both : ["email"]))
      this.#add(channel, "the file's name", section.optIn, section.channels?.includes("phone"));
    this.#isSuppressed = section.isSuppressed === true;
  }

  read(column: Column, text: string): void {
    const { use } = column;
    const own = use.kind === "left out" ? use.own : use;
    if (use.kind === "consent") this.#addCell(column, text, use.consent);
    else if (own?.kind === "consent") this.#addRefusal(column, text, own.consent);
    if (own?.kind === "property" || own?.kind === "field") this.#addStray(column, text);
    if (use.kind === "import note") this.#addNote(text);
  }

  said(): RowSaid {
    const of = (channel: Channel): Said => ({
      optIn: this.#stated[channel].reduce<OptIn | undefined>(
        (strictest, { optIn }) => stricter(strictest, optIn),
        undefined,
      ),
      notUnderstood: this.#notUnderstood[channel],
      isRefusedByName: this.#stated[channel].some(({ optIn, isNamed }) => isNamed && optIn !== "SUBSCRIBED"),
    });
    return { email: of("email"), phone: of("phone"), isSuppressed: this.#isSuppressed };
  }

  remarks(): string[] {
    const differing = (["email", "phone"] as const).flatMap((channel) => {
      const stated = this.#stated[channel];
      if (new Set(stated.map(({ optIn }) => optIn)).size < 2) return [];
      const headings = [...new Set(stated.map(({ heading }) => heading))].join(", ");
      return [`${headings} disagree on the ${channel} consent: the strictest counts`];
    });
    return [...differing, ...this.#strays];
  }

  #addCell(column: Column, text: string, consent: ConsentColumn): void {
    const said = parseConsent(consent, text);
    this.cells.push({ column, text, said });
    const isOptIn = said !== "not understood" && said.optIn === "SUBSCRIBED";
    const channels = this.#refusesBoth(consent, text, said) ? both : this.#channelsOf(consent, isOptIn);
    const isNamed = !consent.isGeneral;
    if (said !== "not understood") this.#addSaid(channels, column, said, isNamed);
    else if (this.#meant === "NON_SUBSCRIBED" || this.#meant === "UNSUBSCRIBED")
      this.#addSaid(channels, column, { optIn: this.#meant }, isNamed);
    else
      for (const channel of channels)
        this.#notUnderstood[channel].push(`${column.heading}: ${JSON.stringify(text)}`);
  }

  /** A heading without a channel means e-mail; in a file without addresses, or for a no, also the telephone. */
  #channelsOf(
    { channels, isGeneral }: Omit<ConsentColumn, "question">,
    isOptIn: boolean,
  ): readonly Channel[] {
    if (!isGeneral || this.#hasEmail) return channels;
    return isOptIn && (!this.#plan.isOfNumbers || this.#hasAddress) ? channels : both;
  }

  /** "Do not contact" under "Status" is also about the number in the row; a mere no only answers the question. */
  #refusesBoth({ question, isGeneral }: ConsentColumn, text: string, said: ConsentSaid): boolean {
    const isOfState = !["undeliverable", "complaint", "opt-out", "left"].includes(question);
    const isRefusal =
      said !== "not understood" && said.optIn === "UNSUBSCRIBED" && consentWord(text) !== "no";
    if (!this.#hasPhone || !isGeneral || !isOfState || !isRefusal) return false;
    const refused = refusedChannels(text);
    return refused.isGeneral || refused.channels.includes("phone");
  }

  // The column is left out by name: its opt-ins are ignored, its refusals count.
  #addRefusal(column: Column, text: string, consent: ConsentColumn): void {
    const said = parseConsent(consent, text);
    if (said === "not understood" || said.optIn === undefined || said.optIn === "SUBSCRIBED") return;
    this.cells.push({ column, text, said });
    const channels = this.#refusesBoth(consent, text, said) ? both : this.#channelsOf(consent, false);
    this.#addSaid(channels, column, said, !consent.isGeneral);
  }

  // "Lifecycle: Unsubscribed": whatever the column is called.
  #addStray(column: Column, text: string): void {
    const words: { part: string; word: string }[] = refusalsIn(text);
    const { compact } = column;
    if (isStateOrRegion(compact) || compact === "reason" || isStatusOfPerson(compact, text))
      words.push({ part: text, word: text });
    let isRefusal = false;
    for (const { part, word } of words) {
      const said = parseConsent({ question: "other" }, word);
      if (said === "not understood" || said.optIn === undefined) continue;
      isRefusal = true;
      const channels = refusedChannels(part);
      this.#addSaid(this.#channelsOf(channels, false), column, said, !channels.isGeneral);
    }
    if (isRefusal)
      this.#strays.push(`${shownHeading(column)} says that the person has not subscribed, which counts`);
  }

  #addNote(text: string): void {
    const { email, phone, isSuppressed } = parseNote(text);
    if (email !== undefined) this.#add("email", "import: note", email);
    if (phone !== undefined) this.#add("phone", "import: note", phone);
    this.#isSuppressed ||= isSuppressed;
  }

  #addSaid(
    channels: readonly Channel[],
    column: Column,
    said: Exclude<ConsentSaid, string>,
    isNamed: boolean,
  ): void {
    for (const channel of channels)
      if (said.optIn) this.#add(channel, shownHeading(column), said.optIn, isNamed);
    if (said.isSuppressed && channels.includes("email")) this.#isSuppressed = true;
  }

  #add(channel: Channel, heading: string, optIn: OptIn, isNamed = false): void {
    this.#stated[channel].push({ heading, optIn, isNamed });
  }
}
