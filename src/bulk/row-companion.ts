import type { Outcome } from "../errors.ts";
import type { Companion } from "../transport/call-options.ts";
import type { RowRecord } from "./row-record.ts";

/** What goes along with the calls of one row: makes them safe over a restart, and knows what became of them. */
export class RowCompanion implements Companion {
  readonly stop: AbortSignal;
  /** Whether anything of the row has left, or may have. */
  hasSent = false;
  readonly #record: RowRecord;
  readonly #eventId: string | undefined;
  /** Calls that must not be made twice, and were carried out, or may have been, or still may be. */
  readonly #unrepeatable = new Set<object>();
  /** Writes that have not ended, as far as the row's function can have heard. A read that nobody waits for loses nothing. */
  readonly #underWay = new Set<Promise<unknown>>();
  #events = 0;
  #recorded: Promise<void> | undefined;

  constructor(row: { stop: AbortSignal; record: RowRecord; eventId: string | undefined }) {
    this.stop = row.stop;
    this.#record = row.record;
    this.#eventId = row.eventId;
  }

  /** Whether making the row's calls again could do twice what must not be. */
  get isInDoubt(): boolean {
    return this.#unrepeatable.size > 0;
  }

  began(result: Promise<unknown>, given: Promise<unknown>): void {
    this.#underWay.add(given);
    const heard = () => this.#underWay.delete(given);
    // What the caller was given settles a moment before this, and who waits for it goes on a moment after.
    queueMicrotask(() => void result.then(heard, heard));
  }

  /** Whether a write was still under way; resolves when none is, and answers for those that nobody waited for. */
  async wasLeft(): Promise<boolean> {
    const wasLeft = this.#underWay.size > 0;
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
    return wasLeft;
  }

  /** The first event of a row has the row's own id, the others that id and their number. */
  newEventId = (): string => {
    if (this.#eventId === undefined) return crypto.randomUUID();
    this.#events++;
    return this.#events === 1 ? this.#eventId : `${this.#eventId}-${this.#events}`;
  };

  async beforeSend(call: object, isRepeatable: boolean): Promise<void> {
    if (!isRepeatable) {
      this.#unrepeatable.add(call);
      await (this.#recorded ??= this.#record.write("in-doubt"));
    }
    this.hasSent = true;
  }

  ended(call: object, outcome: Outcome): void {
    if (outcome === "not-sent" || outcome === "not-applied") this.#unrepeatable.delete(call);
  }

  /** Puts the row's success on record, or takes off a doubt that came to nothing. */
  async recordEnd(hasSucceeded: boolean): Promise<void> {
    if (hasSucceeded) await this.#record.write("succeeded");
    // After it, as a call that was given up did not wait for it.
    else if (!this.isInDoubt) await this.#recorded?.then(() => this.#record.write(undefined));
  }
}
