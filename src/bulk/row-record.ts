import { ConfigurationError } from "../errors.ts";
import type { RecordedRun } from "./recorded-run.ts";

/**
 * The state of a recorded row. `succeeded` and `superseded` are ends. `failed`: nothing of it was carried out. `sent`: it
 * may have been carried out, and may be sent again. `in-doubt`: it must not be sent again.
 */
type RecordedState = "succeeded" | "superseded" | "failed" | "sent" | "in-doubt";

/** The record of a row. */
export interface RecordedRow {
  readonly state: RecordedState;
  /** The number of the row's version, from 1. */
  readonly version: number;
  readonly fingerprint: string;
  /** The consents of its calls: `channel=STATUS`, one a line. */
  readonly consent: string;
}

/** Records one row during one run. Without a checkpoint it records nothing. */
export class RowRecord {
  /** The record of an earlier run, or of this run before a crash. */
  readonly before: RecordedRow | undefined;
  readonly #run: RecordedRun | undefined;
  readonly #key: string;
  readonly #nextKey: string;
  readonly #row: { fingerprint: string; version: number };
  /** The record of the next row with the same key, before this row was sent. */
  #next: RecordedRow | undefined;
  #state: RecordedState | undefined;
  #written: Promise<void> | undefined;

  private constructor(
    run: RecordedRun | undefined,
    { key, nextKey, fingerprint }: { key: string; nextKey: string; fingerprint: string },
    before: RecordedRow | undefined,
  ) {
    this.#run = run;
    this.#key = key;
    this.#nextKey = nextKey;
    this.before = before;
    const isSame = before?.fingerprint === fingerprint;
    this.#row = { fingerprint, version: (before?.version ?? 0) + (isSame ? 0 : 1) };
  }

  /** `nextKey` is the key of a further row with the same key. */
  static async read(
    run: RecordedRun | undefined,
    row: { key: string; nextKey: string; fingerprint: string },
  ): Promise<RowRecord> {
    return new RowRecord(run, row, await read(run, row.key));
  }

  /** Whether the row has not changed since it was recorded. */
  get isUnchanged(): boolean {
    return this.before?.fingerprint === this.#row.fingerprint;
  }

  /** The same after a crash, and another after each change of the row, even a change back. */
  get version(): string {
    return `${this.#row.version} ${this.#row.fingerprint}`;
  }

  /** Records before an attempt that the row may be carried out. A crash must not make a changed row look unchanged. */
  async sends(state: "sent" | "in-doubt", consent: string): Promise<void> {
    if (this.#state !== state && this.#state !== "in-doubt") {
      const isFirst = this.#state === undefined;
      this.#state = state;
      this.#written = (isFirst ? this.#sendNextAgain() : Promise.resolve()).then(() =>
        this.#write(state, consent, state === "in-doubt" || this.before !== undefined),
      );
    }
    await this.#written;
  }

  async ends(state: "succeeded" | "superseded", consent: string): Promise<void> {
    await this.#written;
    await this.#write(state, consent, false);
  }

  /** Nothing of the row was carried out: the earlier record stands. */
  async failed(consent: string): Promise<void> {
    await this.restore();
    if (!this.before) await this.#write("failed", consent, false);
  }

  /** Restores the earlier record. */
  async restore(): Promise<void> {
    // Wait first: a call that was given up has not waited.
    await this.#written;
    if (this.#written) await write(this.#run, this.#key, this.before);
    if (this.#next) await write(this.#run, this.#nextKey, this.#next);
  }

  /** Reverts a row that was recorded as succeeded before its call: the next run sends it. */
  async reopen(): Promise<void> {
    await this.#write("sent", "", true);
  }

  /** A later row with the same key has the last word: it is sent again after this one. */
  async #sendNextAgain(): Promise<void> {
    const next = await read(this.#run, this.#nextKey);
    if (next?.state !== "succeeded") return;
    this.#next = next;
    await write(this.#run, this.#nextKey, { ...next, state: "sent" }, true);
  }

  async #write(state: RecordedState, consent: string, flush: boolean): Promise<void> {
    await write(this.#run, this.#key, { state, ...this.#row, consent }, flush);
  }
}

async function read(run: RecordedRun | undefined, key: string): Promise<RecordedRow | undefined> {
  const value = await run?.get(`row:${key}`);
  if (value === undefined) return undefined;
  // The consent comes last, because it may hold spaces.
  const [, state, version, fingerprint, consent] = /^([a-z-]+) (\d+) (\S+) (.*)$/s.exec(value) ?? [];
  if (!states.includes(state)) {
    throw new ConfigurationError("The checkpoint holds no valid record of a row under `row:`.");
  }
  // Safe: it is one of the states, and the pattern has matched.
  return {
    state: state as RecordedState,
    version: Number(version),
    fingerprint: fingerprint!,
    consent: consent!,
  };
}

async function write(
  run: RecordedRun | undefined,
  key: string,
  row: RecordedRow | undefined,
  flush = false,
): Promise<void> {
  const value = row && `${row.state} ${row.version} ${row.fingerprint} ${row.consent}`;
  await run?.set(`row:${key}`, value, { flush });
}

const states: readonly unknown[] = ["succeeded", "superseded", "failed", "sent", "in-doubt"];
