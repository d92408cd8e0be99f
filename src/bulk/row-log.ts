import { sha256, shortHash } from "../hash.ts";
import { randomUuid } from "../runtime.ts";
import { comparedText } from "./fingerprint.ts";
import type { RowRecord } from "./record-lines.ts";
import type { RunRecord } from "./record.ts";
import type { Kept } from "./refusals.ts";
import type { ReadRow, RowIdentity } from "./rows.ts";

/** How a row ended, for the next run. `nothing`: nothing of it was carried out. */
export type RecordedEnd = RowRecord["state"] | "nothing";

/** Records one row during one run. Without a checkpoint it records nothing. */
export class RowLog {
  /** The record of an earlier run, or of this run before a kill, or of a row before it with the same key. */
  readonly before: RowRecord | undefined;
  readonly #record: RunRecord;
  readonly #name: string;
  readonly #print: string;
  readonly #version: number;
  /** Of the row in this version, for its events; undefined without a checkpoint. */
  readonly #eventId: string | undefined;
  /** How many events of each name have a generated id. */
  readonly #events = new Map<string, number>();
  #sent: "sent" | "once" | undefined;

  private constructor(record: RunRecord, name: string, print: string, eventId?: string) {
    this.#record = record;
    this.#name = name;
    this.#print = print;
    this.before = record.row(name);
    this.#version = nextVersion(this.before, print);
    this.#eventId = eventId;
  }

  /** `text`: what is compared over nights. */
  static async open(record: RunRecord, key: string, text: string): Promise<RowLog> {
    if (!record.isRecorded) return new RowLog(record, "", "");
    const [name, print] = await Promise.all([shortHash(key), shortHash(text)]);
    // The same after a kill, and another after each change of the row, even a change back.
    const version = nextVersion(record.row(name), print);
    const eventId = await sha256(JSON.stringify([record.id, key, `${version} ${print}`]));
    return new RowLog(record, name, print, eventId);
  }

  /** Whether its success is recorded, and it has not changed since. */
  get isDone(): boolean {
    return this.before?.state === "succeeded" && !this.isChanged;
  }

  get isChanged(): boolean {
    return this.before?.print !== this.#print;
  }

  /** An earlier run may have carried it out, or an earlier version of it, and it must not be repeated. */
  get isInDoubt(): boolean {
    return this.before?.state === "once";
  }

  /** The id of an event that has none of its own. Those of one name are told apart by their order. */
  readonly newEventId = (eventName: string): string => {
    if (this.#eventId === undefined) return randomUuid();
    const number = (this.#events.get(eventName) ?? 0) + 1;
    this.#events.set(eventName, number);
    return `${this.#eventId}-${number}-${eventName}`;
  };

  /**
   * Records before an attempt that the row may be carried out: a kill must not make a changed row look unchanged. Also before
   * each further attempt, as a checkpoint that another run has taken over refuses it.
   */
  async sends(isRepeatable: boolean): Promise<void> {
    if (!this.#record.isRecorded) return;
    const state = isRepeatable && this.#sent !== "once" ? "sent" : "once";
    const isNews = state !== this.#sent;
    this.#sent = state;
    await this.#put(state, {}, isNews && (state === "once" || this.before !== undefined));
  }

  /** For a check: the row will have been sent, for a further one with its key. */
  foresee(): void {
    const row = { version: this.#version, print: this.#print, id: this.before?.id, kept: undefined };
    this.#record.foresee(this.#name, { ...row, state: "succeeded" });
  }

  async ends(
    end: RecordedEnd,
    details: { readonly id?: string | undefined; readonly kept?: Kept } = {},
  ): Promise<void> {
    if (!this.#record.isRecorded) return;
    if (end !== "nothing") return await this.#put(end, details);
    // What is recorded of an earlier night stands.
    if (this.#sent && this.before) await this.#record.putRow(this.#name, this.before);
    else if (this.#sent) await this.#put("failed", details);
  }

  async #put(
    state: RowRecord["state"],
    { id, kept }: { id?: string | undefined; kept?: Kept },
    flush = false,
  ) {
    const row = { state, version: this.#version, print: this.#print, id: id ?? this.before?.id, kept };
    await this.#record.putRow(this.#name, row, flush);
  }
}

/** Opens the logs of rows. Without a key a row is known by its writes, and by how many rows before it have the same. */
export class RowLogs<Row> {
  readonly #record: RunRecord;
  readonly #identity: RowIdentity<Row>;
  readonly #twins = new Map<string, number>();

  constructor(record: RunRecord, identity: RowIdentity<Row>) {
    this.#record = record;
    this.#identity = identity;
  }

  /** Rejects with a `ValidationError` if the row cannot be compared. */
  async open(row: ReadRow<Row>): Promise<RowLog> {
    if (!this.#record.isRecorded) return await RowLog.open(this.#record, "", "");
    // What JSON cannot carry is refused by its endpoint.
    const text = comparedText(row, this.#identity) ?? "";
    if (row.key !== undefined) return await RowLog.open(this.#record, row.key, text);
    const count = (this.#twins.get(text) ?? 0) + 1;
    this.#twins.set(text, count);
    return await RowLog.open(this.#record, `${count} ${text}`, text);
  }
}

function nextVersion(before: RowRecord | undefined, print: string): number {
  return before ? before.version + Number(before.print !== print) : 1;
}
