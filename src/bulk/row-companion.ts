import type { Outcome } from "../errors.ts";
import type { Companion } from "../transport/call-options.ts";
import type { RowRecord } from "./row-record.ts";

/** What goes along with the calls of one row: makes them safe over a restart, and knows what became of them. */
export class RowCompanion implements Companion {
  readonly stop: AbortSignal;
  readonly #record: RowRecord;
  readonly #eventId: string | undefined;
  /** Calls that must not be made twice, and were carried out, or may have been, or still may be. */
  readonly #unrepeatable = new Set<object>();
  #events = 0;
  #hasSent = false;
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

  /** Whether anything of the row has left, or may have. */
  get hasSent(): boolean {
    return this.#hasSent;
  }

  /** The first event of a row has the row's own id, the others that id and their number. */
  newEventId = (): string => {
    if (this.#eventId === undefined) return crypto.randomUUID();
    this.#events++;
    return this.#events === 1 ? this.#eventId : `${this.#eventId}-${this.#events}`;
  };

  beforeSend = async (call: object, isRepeatable: boolean): Promise<void> => {
    if (!isRepeatable) {
      this.#unrepeatable.add(call);
      await (this.#recorded ??= this.#record.write("in-doubt"));
    }
    this.#hasSent = true;
  };

  ended = (call: object, outcome: Outcome): void => {
    if (outcome === "not-sent" || outcome === "not-applied") this.#unrepeatable.delete(call);
  };

  /** Puts the row's success on record, or takes off a doubt that came to nothing. */
  async recordEnd(hasSucceeded: boolean): Promise<void> {
    if (hasSucceeded) await this.#record.write("succeeded");
    else if (this.#recorded && !this.isInDoubt) await this.#record.write(undefined);
  }
}
