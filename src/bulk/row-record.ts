import { ConfigurationError } from "../errors.ts";
import type { RecordedRun } from "./recorded-run.ts";

/**
 * How a recorded row stands. `succeeded` and `superseded` are ends. `failed` says that nothing of it was carried out.
 * `sent` may have been carried out and may be sent again; `in-doubt` must not.
 */
type RecordedState = "succeeded" | "superseded" | "failed" | "sent" | "in-doubt";

/** What is recorded of a row. */
export interface RecordedRow {
  readonly state: RecordedState;
  /** How often the row has changed, from 1. */
  readonly version: number;
  readonly fingerprint: string;
  /** The consents that its calls stated: `channel=STATUS`, one a line. */
  readonly consent: string;
}

/** The record of one row over one run. Without a checkpoint it keeps nothing. */
export class RowRecord {
  /** What an earlier run, or an earlier life of this one, recorded of the row. */
  readonly before: RecordedRow | undefined;
  readonly #run: RecordedRun | undefined;
  readonly #key: string;
  readonly #nextKey: string;
  readonly #row: { fingerprint: string; version: number };
  /** What was recorded of the next row with the same key, before this one was sent. */
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

  /** `nextKey` is the key of a further row that has the same key. */
  static async read(
    run: RecordedRun | undefined,
    row: { key: string; nextKey: string; fingerprint: string },
  ): Promise<RowRecord> {
    return new RowRecord(run, row, await read(run, row.key));
  }

  /** Whether the row is as it was when it was recorded. */
  get isUnchanged(): boolean {
    return this.before?.fingerprint === this.#row.fingerprint;
  }

  /** The same after a kill, and another when the row has changed, also back. */
  get version(): string {
    return `${this.#row.version} ${this.#row.fingerprint}`;
  }

  /** Before an attempt: that the row may have been carried out. A crash must not turn a changed row into an unchanged one. */
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

  /** Nothing of the row was carried out: what an earlier run recorded of it stands. */
  async failed(consent: string): Promise<void> {
    await this.restore();
    if (!this.before) await this.#write("failed", consent, false);
  }

  /** The row is as before. */
  async restore(): Promise<void> {
    // After it, as a call that was given up did not wait for it.
    await this.#written;
    if (this.#written) await write(this.#run, this.#key, this.before);
    if (this.#next) await write(this.#run, this.#nextKey, this.#next);
  }

  /** The row was recorded as done before its call: the next run sends it. */
  async reopen(): Promise<void> {
    await this.#write("sent", "", true);
  }

  /** A row that has the same key and comes after this one is the later word: it is sent again behind it. */
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
  // The consent comes last, as it may hold spaces.
  const [, state, version, fingerprint, consent] = /^([a-z-]+) (\d+) (\S+) (.*)$/s.exec(value) ?? [];
  if (!states.includes(state)) {
    throw new ConfigurationError("The checkpoint holds something else than a row where a row was recorded.");
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
