import { ConfigurationError, ConnectionError } from "../errors.ts";
import { contentLost } from "../schema/kind-of.ts";
import { isRecord } from "../schema/predicates.ts";
import type { RecordedRun } from "./checkpoint.ts";
import type { RowEnd } from "./result.ts";
import { sha256 } from "./sha256.ts";
import { recordStated, type StatedEnd, type StatedLines } from "./stated-consent.ts";

/**
 * `succeeded` and `superseded` are ends. `failed`: nothing of the row was carried out. `sent`: it may have been carried
 * out, and may be sent again. `in-doubt`: it must not be sent again. The last two are for a row that was in doubt and has
 * changed: of its calls only the repeatable ones may be sent.
 */
const states = [
  "succeeded",
  "superseded",
  "failed",
  "sent",
  "in-doubt",
  "sent-in-doubt",
  "superseded-in-doubt",
] as const;

type RecordedState = (typeof states)[number];

/** The identity of a row in its run. */
export interface RowKey {
  readonly key: string;
  /** The key of a further row with the same key. */
  readonly nextKey: string;
  readonly fingerprint: string;
  /** Why the row has no key, and is not sent. */
  readonly problem?: { readonly error: unknown };
}

/** The record of a row. */
export interface RecordedRow {
  readonly state: RecordedState;
  /** The number of the row's version, from 1. */
  readonly version: number;
  /** The number of the run that wrote it. */
  readonly run: number;
  readonly fingerprint: string;
  /** What its calls have stated of the contact's consent, and since when ("stated-consent.ts"). */
  readonly consent: string;
}

/** Whether this run has met the row before: then it goes on after a crash or an early end. */
export function hasMet(run: RecordedRun | undefined, before: RecordedRow | undefined): boolean {
  return run !== undefined && before !== undefined && before.run >= run.since;
}

/** The error of a row, or of a call of it, that is not sent because of its record. */
export function inDoubt(): ConnectionError {
  const message = "Not sent again: an earlier run may have carried it out.";
  return new ConnectionError({ message, outcome: "unknown", reason: "other" });
}

/** Records one row during one run. Without a checkpoint it records nothing. */
export class RowRecord {
  /** The record of an earlier run, or of this run before a crash. */
  readonly before: RecordedRow | undefined;
  /** The id of the row's event, if it has none of its own; undefined without a checkpoint. */
  eventId: string | undefined;
  readonly #run: RecordedRun | undefined;
  readonly #row: RowKey;
  /** Whether the row has not changed since it was recorded. */
  readonly #isUnchanged: boolean;
  readonly #version: number;
  /** The record of the next row with the same key, if this row made that one be sent again. */
  #nextBefore: RecordedRow | undefined;
  #state: "sent" | "in-doubt" | undefined;
  #written = Promise.resolve();

  private constructor(run: RecordedRun | undefined, row: RowKey, before: RecordedRow | undefined) {
    this.#run = run;
    this.#row = row;
    this.before = before;
    this.#isUnchanged = before?.fingerprint === row.fingerprint;
    this.#version = (before?.version ?? 0) + (this.#isUnchanged ? 0 : 1);
  }

  static async read(run: RecordedRun | undefined, row: RowKey): Promise<RowRecord> {
    const record = new RowRecord(run, row, await read(run, row.key));
    // The same after a crash, and another after each change of the row, even a change back.
    const version = `${record.#version} ${row.fingerprint}`;
    if (run && !record.earlierEnd) record.eventId = await eventIdOf(run.id, row.key, version);
    return record;
  }

  /** The end that an earlier run recorded, if it still holds. */
  get earlierEnd(): RowEnd<never> | undefined {
    if (!this.#isUnchanged) return undefined;
    if (this.before?.state === "in-doubt") return { status: "unknown", error: inDoubt() };
    if (this.before?.state === "succeeded") return { status: "skipped" };
    return this.before?.state.startsWith("superseded") ? { status: "superseded" } : undefined;
  }

  /** An earlier run may have carried out an unrepeatable call of the row: none is sent now. */
  get refusesUnrepeatable(): boolean {
    return this.before?.state.endsWith("in-doubt") ?? false;
  }

  /**
   * Records before an attempt that the row may be carried out. A crash must not make a changed row look unchanged. Also
   * before each further attempt, as hours may lie between them: a checkpoint that another run has taken over refuses it.
   */
  async sends(state: "sent" | "in-doubt", stated: StatedLines): Promise<void> {
    const before = this.#state;
    const recorded = before === "in-doubt" ? before : state;
    this.#state = recorded;
    const flush = recorded !== before && (recorded === "in-doubt" || this.before !== undefined);
    this.#written = this.#written.then(async () => {
      if (before === undefined) await this.#sendNextAgain();
      await this.#write(recorded, stated, { flush });
    });
    await this.#written;
  }

  async ends(
    state: "succeeded" | "superseded" | "sent" | "in-doubt",
    stated: StatedLines,
    end: StatedEnd = "unfinished",
  ): Promise<void> {
    await this.#written;
    await this.#write(state, stated, { end });
  }

  /** Nothing of the row was carried out: an earlier record stands, but for what the row has stated. */
  async failed(stated: StatedLines): Promise<void> {
    await this.restore();
    const { before } = this;
    if (!this.#run || !before) return await this.#write("failed", stated);
    const consent = this.#record(stated, "unfinished");
    await write(this.#run, this.#row.key, { ...before, run: this.#run.number, consent });
  }

  /** Restores the earlier record. */
  async restore(): Promise<void> {
    await this.#written;
    if (this.#state) await write(this.#run, this.#row.key, this.before);
    if (this.#nextBefore) await write(this.#run, this.#row.nextKey, this.#nextBefore);
  }

  /** Reverts a row that was recorded as succeeded before its call: the next run sends it. */
  async reopen(): Promise<void> {
    await this.#write("sent", [], { flush: true });
  }

  /** A later row with the same key has the last word: it is sent again after this one. */
  async #sendNextAgain(): Promise<void> {
    const next = await read(this.#run, this.#row.nextKey);
    if (next?.state !== "succeeded") return;
    this.#nextBefore = next;
    await write(this.#run, this.#row.nextKey, { ...next, state: "sent" }, true);
  }

  async #write(
    state: RecordedState,
    stated: StatedLines,
    { end = "unfinished", flush }: { end?: StatedEnd; flush?: boolean } = {},
  ): Promise<void> {
    const { key, fingerprint } = this.#row;
    // A success ends an earlier doubt.
    const keepsDoubt = this.refusesUnrepeatable && (state === "sent" || state === "superseded");
    const recorded = keepsDoubt ? (`${state}-in-doubt` as const) : state;
    const consent = this.#record(stated, end);
    const run = this.#run?.number ?? 0;
    const row = { state: recorded, version: this.#version, run, fingerprint, consent };
    await write(this.#run, key, row, flush);
  }

  /** A row that this run meets for the first time may have made its decision before all that was written during the run. */
  #record(stated: StatedLines, end: StatedEnd): string {
    const { since = 0, number = 0 } = this.#run ?? {};
    const run = hasMet(this.#run, this.before) ? number : since;
    return recordStated(this.before?.consent ?? "", stated, { run, end });
  }
}

async function read(run: RecordedRun | undefined, key: string): Promise<RecordedRow | undefined> {
  const value = await run?.get(`row:${key}`);
  if (value === undefined) return undefined;
  // The consent comes last, because it may hold spaces.
  const [, given, version, number, fingerprint = "", consent = ""] =
    /^(\S+) (\d+) (\d+) (\S+) (.*)$/s.exec(value) ?? [];
  const state = states.find((each) => each === given);
  if (!state) throw new ConfigurationError("The checkpoint holds no valid record of a row under `row:`.");
  return { state, version: Number(version), run: Number(number), fingerprint, consent };
}

async function write(
  run: RecordedRun | undefined,
  key: string,
  row: RecordedRow | undefined,
  flush = false,
): Promise<void> {
  const value = row && `${row.state} ${row.version} ${row.run} ${row.fingerprint} ${row.consent}`;
  await run?.set(`row:${key}`, value, { flush });
}

/**
 * The fingerprint of a value: a hash of its JSON, independent of the order of keys. Throws if JSON cannot carry the
 * value.
 */
export async function fingerprintOf(value: unknown): Promise<string> {
  // 96 bits: the probability that two of a million rows collide is 6 in 10^18.
  return (await sha256(canonicalJson(value))).slice(0, 24);
}

/** The generated id of an event: the same for the same parts, in every run and after a crash. */
async function eventIdOf(...parts: readonly string[]): Promise<string> {
  return await sha256(JSON.stringify(parts));
}

function canonicalJson(value: unknown): string {
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
