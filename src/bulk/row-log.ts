import { sha256, shortHash } from "../hash.ts";
import { randomUuid } from "../runtime.ts";
import { errorMessage, ignoreRejection } from "../values/error-message.ts";
import { contentLost } from "../values/kind-of.ts";
import { isRecord } from "../values/predicates.ts";
import type { Write } from "../write.ts";
import type { BulkSettings } from "./bulk-options.ts";
import type { Kept } from "./refusals.ts";
import { type ReadRow, rowError } from "./rows.ts";
import type { RowRecord } from "./run-record.ts";
import type { RunRecord } from "./run-record.ts";

/** A row in a record. */
interface RecordedRow {
  readonly record: RunRecord;
  readonly name: string;
  readonly fingerprint: string;
  /** The same after a kill, and another after each change of the row, even a change back. */
  readonly version: number;
  readonly eventId: string;
  /** Of an earlier run, or of this run before a kill, or of a row before it with the same key. */
  readonly before: RowRecord | undefined;
}

/** Records one row during one run. Without a checkpoint it records nothing. */
export class RowLog {
  readonly #row: RecordedRow | undefined;
  /** How many events of each name have a generated id. */
  readonly #events = new Map<string, number>();
  #sent: "sent" | "once" | undefined;
  /** The id of its contact, as a response of this run gave it. */
  id: string | undefined;

  private constructor(row?: RecordedRow) {
    this.#row = row;
  }

  /**
   * Without a key a row is known by its writes, and by how many rows before it have the same. Rejects with a `ValidationError`
   * if the row cannot be compared.
   */
  static async open(
    row: ReadRow<unknown>,
    record: RunRecord | undefined,
    { fingerprint: give }: Pick<BulkSettings<never>, "fingerprint">,
  ): Promise<RowLog> {
    if (!record) return new RowLog();
    const text = comparedText(row, give);
    const key = row.key ?? `${record.countAlike(text)} ${text}`;
    const [name, fingerprint] = await Promise.all([shortHash(key), shortHash(text)]);
    const before = record.row(name);
    const version = before ? before.version + Number(before.fingerprint !== fingerprint) : 1;
    const hasEvent = row.writes.some(({ write }) => write.operation === "v1.events.send");
    const eventId = hasEvent
      ? await sha256(JSON.stringify([record.id, key, `${version} ${fingerprint}`]))
      : "";
    return new RowLog({ record, name, fingerprint, version, eventId, before });
  }

  get before(): RowRecord | undefined {
    return this.#row?.before;
  }

  /** What an earlier run, or an earlier row with its key, leaves to do. */
  get fate(): "new" | "changed" | "unchanged" | "inDoubt" {
    const { before, fingerprint } = this.#row ?? {};
    if (!before || before.state === "failed") return "new";
    if (this.mustNotRepeat) return "inDoubt";
    if (before.fingerprint !== fingerprint) return "changed";
    return before.state === "sent" ? "inDoubt" : "unchanged";
  }

  /** An earlier run may have carried it out, or an earlier version of it, and it must not be repeated. */
  get mustNotRepeat(): boolean {
    return this.before?.state === "once";
  }

  /** The id of an event that has none of its own. Those of one name are told apart by their order. */
  readonly newEventId = (eventName: string): string => {
    if (!this.#row) return randomUuid();
    const number = (this.#events.get(eventName) ?? 0) + 1;
    this.#events.set(eventName, number);
    return `${this.#row.eventId}-${number}-${eventName}`;
  };

  /**
   * Records before an attempt that the row may be carried out: a kill must not make a changed row look unchanged. Also before
   * each further attempt, as a checkpoint that another run has taken over refuses it.
   */
  async sends(isRepeatable: boolean): Promise<void> {
    const state = isRepeatable && this.#sent !== "once" ? "sent" : "once";
    const isNews = state !== this.#sent;
    this.#sent = state;
    await this.#put(state, undefined, isNews && (state === "once" || this.before !== undefined));
  }

  /** Records the id between two writes: the next one may wait for long, and after a kill its contact must be known. */
  async goesOn(): Promise<void> {
    if (this.#sent && this.id !== undefined && this.id !== this.before?.id) await this.#put(this.#sent);
  }

  /** `failed`: nothing of it was carried out. What is recorded of an earlier night stands then. */
  async ends(state: RowRecord["state"], kept?: Kept): Promise<void> {
    if (state !== "failed") await this.#put(state, kept);
    else if (this.#sent && this.#row?.before) await this.#row.record.putRow(this.#row.name, this.#row.before);
    else if (this.#sent) await this.#put("failed");
  }

  async #put(state: RowRecord["state"], kept?: Kept, flush = false): Promise<void> {
    if (!this.#row) return;
    const { before, fingerprint, name, record, version } = this.#row;
    await record.putRow(name, { state, version, fingerprint, id: this.id ?? before?.id, kept }, flush);
  }
}

/**
 * What is compared over nights: the writes without their options but `consent`, or what `fingerprint` gives and the consents
 * of the writes. Empty for writes that JSON cannot carry: their endpoints refuse them.
 */
function comparedText(
  { item, writes }: ReadRow<unknown>,
  fingerprint: ((row: never) => unknown) | undefined,
): string {
  if (fingerprint) {
    // Safe: the row of the caller's own function.
    const given = fingerprint(item as never);
    ignoreRejection(given);
    try {
      return `${canonicalJson(given)} ${canonicalJson(writes.map(({ said }) => [...said]))}`;
    } catch (error) {
      throw rowError(
        `the result of \`fingerprint\` cannot be written as JSON (${errorMessage(error)}): return a string or a JSON value`,
      );
    }
  }
  try {
    return canonicalJson(writes.map(({ write }) => comparedWrite(write)));
  } catch {
    return "";
  }
}

/** A write as it is compared over nights: what is sent otherwise is no other write. */
export function comparedWrite({ options, ...write }: Write): object {
  return { ...write, options: { consent: (options as { consent?: unknown })?.consent } };
}

/** JSON, whatever the order of keys. Throws if JSON cannot carry the value. */
export function canonicalJson(value: unknown): string {
  const json = JSON.stringify(value, (_, each: unknown) => {
    if (!isRecord(each)) return each;
    // The JSON of a Map or a Promise is `{}`: all of them would have one fingerprint.
    const lost = contentLost(each);
    if (lost !== undefined) throw new TypeError(`it holds ${lost}`);
    return Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
  if (json === undefined) throw new TypeError(`it is ${typeof value}`);
  return json;
}
