import { AbortError, isAudienceError, type Outcome, type ValidationError } from "../errors.ts";
import type { OpenedClient } from "../open-client.ts";
import { prepareWrite } from "../prepare-write.ts";
import { type Call, type ConsentListener, type PreparedCall, severer } from "../transport/call.ts";
import { rowCallOptions } from "./bulk-options.ts";
import { type Guard, type GuardedRow, RowGuards, RowStop, type RowWrite } from "./guard.ts";
import { type PreparedWrite, prepareRow } from "./prepare-row.ts";
import { type Kept, type RestatedWrite, saidBy, saysOnlyRefusals, subscribes } from "./refusals.ts";
import { hasCode, inDoubt, type RowEnd } from "./result.ts";
import type { RecordedEnd, RowLog } from "./row-log.ts";
import type { ReadRow } from "./rows.ts";

/** What the rows of a run share. */
export interface SharedByRows {
  readonly opened: OpenedClient;
  /** Aborted when the run ends. */
  readonly stop: AbortSignal;
  readonly guards: readonly Guard[];
  readonly watch: ConsentListener;
  /** A call is about to be made. */
  readonly countCall: () => void;
}

/** The end of a row: what its caller gets, and what is recorded. Without a result the row only waited for the run's end. */
export interface SentRow {
  readonly end: RowEnd<unknown> | undefined;
  readonly recorded: RecordedEnd | undefined;
  /** Somebody may have become subscribed. */
  readonly hasSubscribed?: boolean;
  readonly id?: string | undefined;
}

/** How the calls of a write ended together. */
interface WriteEnd {
  readonly outcome: Outcome;
  readonly isRepeatable: boolean;
}

const idPrefix = "contactUUID:";

/**
 * Sends the writes of a row, one after the other, from the first check to the end of the row:
 *
 * 1. All writes are validated, and all guards asked, before the first one leaves.
 * 2. Each write leaves with the refusals that are known at that moment (`RowGuards.restated`). Where one becomes known while
 *    it waits, it is made anew.
 * 3. The first write that fails ends the row.
 */
export class SendRow {
  readonly #row: ReadRow<unknown>;
  readonly #log: RowLog;
  readonly #shared: SharedByRows;
  readonly #guards: RowGuards;
  readonly #writes: readonly RowWrite[];
  readonly #ends: WriteEnd[] = [];
  #kept: Kept = {};
  #hasSubscribed = false;
  #id: string | undefined;

  constructor(row: ReadRow<unknown>, guarded: GuardedRow, log: RowLog, shared: SharedByRows) {
    this.#row = row;
    this.#log = log;
    this.#shared = shared;
    this.#writes = guarded.writes;
    this.#guards = new RowGuards(shared.guards, guarded);
  }

  /** Never rejects. */
  async send(): Promise<SentRow> {
    try {
      const prepared = prepareRow(this.#shared.opened, this.#writes, this.#log.newEventId);
      if (
        this.#log.isInDoubt &&
        prepared.some(({ call, of }) => !call.isRepeatable && !saysOnlyRefusals(of.said))
      )
        return { end: { status: "unknown", error: inDoubt() }, recorded: undefined };
      await this.#guards.ask(this.#shared.stop);
      // A later write that could not leave would leave the earlier ones sent.
      for (const { of } of prepared) this.#guards.restated(of);
      const values: unknown[] = [];
      for (const each of prepared) values.push(await this.#sendWrite(each));
      return this.#succeeded(this.#row.isList ? values : values[0]);
    } catch (error) {
      return this.#ended(error);
    }
  }

  async #sendWrite({ of, call: own }: PreparedWrite): Promise<unknown> {
    let earlier: Outcome = "not-sent";
    for (;;) {
      const restated = this.#guards.restated(of);
      const call = restated.write === of.write ? own : prepareWrite(this.#shared.opened, restated.write);
      try {
        return await this.#sendCall(of, call, restated);
      } catch (error) {
        if (error instanceof RowStop) earlier = severer(earlier, error.outcome);
        if (error instanceof RowStop && error.why.kind === "outdated") continue;
        const outcome =
          error instanceof RowStop || !isAudienceError(error) ? earlier : severer(earlier, error.outcome);
        this.#ends.push({ outcome, isRepeatable: call.isRepeatable });
        throw error;
      }
    }
  }

  async #sendCall(
    of: RowWrite,
    call: PreparedCall,
    { channels, kept, write }: RestatedWrite,
  ): Promise<unknown> {
    const { countCall, opened, stop, watch } = this.#shared;
    const isAsBefore = () => this.#guards.restated(of).channels === channels;
    const gate = {
      stop,
      listener: watch,
      isInFront: true,
      enter: async (sent: Call) => {
        try {
          await this.#log.sends(call.isRepeatable);
          await this.#guards.ask(sent.stopWaiting.signal);
          if (!isAsBefore()) throw new RowStop({ kind: "outdated" });
        } catch (error) {
          if (isAudienceError(error)) throw error;
          const reason = error instanceof RowStop ? error : new RowStop({ kind: "failed", error });
          throw Object.assign(reason, { outcome: sent.report.outcome });
        }
      },
      isOpen: () => {
        if (!this.#guards.areFresh || !isAsBefore()) return false;
        this.#guards.leaves();
        this.#hasSubscribed ||= subscribes(saidBy(write));
        return true;
      },
    };
    countCall();
    const { data } = await opened.transport.send(call, { ...rowCallOptions, gate }).withResponse();
    this.#ends.push({ outcome: "applied", isRepeatable: call.isRepeatable });
    this.#kept = { ...this.#kept, ...kept };
    const { appliedConsent, consentWrite } = call.request;
    const keys = consentWrite ? appliedConsent(consentWrite, data).contacts : [];
    this.#id = keys.find((key) => key.startsWith(idPrefix))?.slice(idPrefix.length) ?? this.#id;
    return data;
  }

  #succeeded(value: unknown): SentRow {
    const before = this.#log.before?.id;
    const formerId =
      before !== undefined && this.#id !== undefined && this.#id !== before ? before : undefined;
    const kept = Object.keys(this.#kept).length > 0 ? this.#kept : undefined;
    const service = kept && Object.values(kept).includes("service") ? this.#guards.service : undefined;
    const end: RowEnd<unknown> = {
      status: "succeeded",
      value,
      ...(kept && { kept }),
      ...(service && { service }),
      ...(formerId !== undefined && { formerId }),
    };
    return { end, recorded: "succeeded", hasSubscribed: this.#hasSubscribed, id: this.#id };
  }

  #ended(error: unknown): SentRow {
    const outcome = this.#ends.map((end) => end.outcome).reduce(severer, "not-sent");
    const wasDone = this.#ends.filter((end) => end.outcome === "applied" || end.outcome === "unknown");
    const mustNotRepeat = wasDone.some(({ isRepeatable }) => !isRepeatable);
    const recorded = mustNotRepeat ? "once" : wasDone.length > 0 ? "sent" : "nothing";
    const isInterrupted =
      this.#shared.stop.aborted &&
      (hasCode(error, "aborted", "closed") || error === this.#shared.stop.reason);
    if (isInterrupted && wasDone.length === 0 && outcome === "not-sent") return { end: undefined, recorded };
    const isUnknown = mustNotRepeat || this.#ends.some((end) => end.outcome === "unknown");
    return {
      end: endOf(error, { outcome, isUnknown, mustNotRepeat }),
      recorded,
      hasSubscribed: this.#hasSubscribed,
      id: this.#id,
    };
  }
}

function endOf(
  error: unknown,
  { outcome, isUnknown, mustNotRepeat }: { outcome: Outcome; isUnknown: boolean; mustNotRepeat: boolean },
): RowEnd<never> {
  // Safe: the class of the code.
  if (hasCode(error, "validation")) return { status: "invalid", error: error as ValidationError };
  const why = error instanceof RowStop ? error.why : { kind: "failed" as const, error };
  if (why.kind === "failed") return { status: isUnknown ? "unknown" : "failed", error: why.error };
  const { message } = error as Error; // a RowStop
  if (why.kind === "superseded" && !mustNotRepeat) {
    const { reason, service } = why;
    const abort = new AbortError({ message, outcome, cause: undefined });
    return { status: "superseded", reason, ...(service && { service }), error: abort };
  }
  return { status: "unknown", error: new AbortError({ message, outcome: "unknown", cause: undefined }) };
}
