import { ConfigurationError } from "../errors.ts";
import type { CheckpointValue } from "./checkpoint.ts";
import { rowPart } from "./fingerprint.ts";
import type { RecordedRun } from "./recorded-run.ts";

/** How a recorded row stands; the first two are ends, with the others it may have been carried out, and had none. */
type RecordedState = "succeeded" | "superseded" | "sent" | "in-doubt";

/** What is recorded of a row. */
export interface RecordedRow {
  /** `sent` may be sent again; `in-doubt` must not. */
  readonly state: RecordedState;
  readonly fingerprint: string;
  /** How often the row has changed, from 1. */
  readonly version: number;
  /** The consents that its calls stated, as `consentText` writes them, with line breaks between them. */
  readonly consent: string;
}

/** The record of one row over one run. Without a checkpoint it keeps nothing. */
export class RowRecord {
  /** What an earlier run, or an earlier life of this one, recorded of the row. */
  readonly before: RecordedRow | undefined;
  readonly #run: RecordedRun | undefined;
  readonly #key: string;
  readonly #row: { fingerprint: string; version: number };
  #state: RecordedState | undefined;
  #written: Promise<void> | undefined;

  private constructor(
    run: RecordedRun | undefined,
    key: string,
    fingerprint: string,
    before: RecordedRow | undefined,
  ) {
    this.#run = run;
    this.#key = key;
    this.before = before;
    const isSame = before !== undefined && rowPart(before.fingerprint) === rowPart(fingerprint);
    this.#row = { fingerprint, version: (before?.version ?? 0) + (isSame ? 0 : 1) };
  }

  static async read(
    run: RecordedRun | undefined,
    { key, fingerprint }: { key: string; fingerprint: string },
  ): Promise<RowRecord> {
    const before = await run?.get(`row:${key}`);
    return new RowRecord(run, key, fingerprint, before && decodeRow(before));
  }

  /** Whether the row is as it was when it was recorded. */
  get isUnchanged(): boolean {
    return this.before?.fingerprint === this.#row.fingerprint;
  }

  /** The same after a kill, and another when the row has changed, also back. */
  get version(): string {
    return `${this.#row.version} ${rowPart(this.#row.fingerprint)}`;
  }

  /** Before an attempt: that the row may have been carried out. A crash must not turn a changed row into an unchanged one. */
  async sends(state: "sent" | "in-doubt", consent: string): Promise<void> {
    if (this.#state !== state && this.#state !== "in-doubt") {
      this.#state = state;
      this.#written = this.#write(state, consent, state === "in-doubt" || this.before !== undefined);
    }
    await this.#written;
  }

  async ends(state: "succeeded" | "superseded", consent: string): Promise<void> {
    await this.#write(state, consent, false);
  }

  /** Nothing of the row was carried out: it is as before. */
  async restore(): Promise<void> {
    // After it, as a call that was given up did not wait for it.
    await this.#written;
    if (this.#written) await this.#run?.set(`row:${this.#key}`, this.before && { ...this.before });
  }

  async #write(state: RecordedState, consent: string, flush: boolean): Promise<void> {
    const row: RecordedRow = { state, ...this.#row, consent };
    await this.#run?.set(`row:${this.#key}`, { ...row }, { flush });
  }
}

const states: readonly unknown[] = ["succeeded", "superseded", "sent", "in-doubt"];

function decodeRow(value: CheckpointValue): RecordedRow {
  const { state, fingerprint, version, consent } = value;
  const isRow =
    states.includes(state) &&
    typeof fingerprint === "string" &&
    typeof version === "number" &&
    typeof consent === "string";
  if (!isRow)
    throw new ConfigurationError("The checkpoint holds something else than a row where a row was recorded.");
  return { state: state as RecordedState, fingerprint, version, consent }; // Safe: it is one of the states.
}
