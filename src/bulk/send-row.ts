import { AbortError, ConnectionError, type Outcome, ValidationError } from "../errors.ts";
import type { OpenedClient } from "../open-client.ts";
import { prepareWrite } from "../prepare-write.ts";
import {
  type ApiRequest,
  type Call,
  type ConsentListener,
  type PreparedCall,
  severer,
} from "../transport/call.ts";
import { rowCallOptions } from "./bulk-options.ts";
import { type Guard, type GuardedRow, RowStop } from "./guards/guard.ts";
import { RowGuards } from "./guards/row-guards.ts";
import { type Kept, type RowWrite, saysOnlyRefusals, subscribes } from "./refusals.ts";
import { hasCode, isInvalid, type RowEnd } from "./result.ts";
import type { RecordedEnd, RowLog } from "./row-log.ts";

/** What the rows of a run share. */
export interface SharedByRows {
  readonly opened: OpenedClient;
  /** Aborted when the run ends. */
  readonly stop: AbortSignal;
  readonly guards: readonly Guard[];
  readonly listener: ConsentListener;
  /** A call is about to be made. */
  readonly countCall: () => void;
  /** The row was sent, or may have been; `hasSubscribed`: it may have subscribed somebody. */
  readonly wasSent: (row: GuardedRow, hasSubscribed: boolean, formerId: string | undefined) => void;
}

/** How the call of a write ended. */
interface WriteEnd {
  readonly outcome: Outcome;
  readonly isRepeatable: boolean;
}

/**
 * Validates all writes of a row, and gives their calls. Throws a `ValidationError` with all issues; in an array their paths
 * begin with the index.
 */
export function prepareRow(
  opened: OpenedClient,
  writes: readonly RowWrite[],
  newEventId: (eventName: string) => string,
): PreparedCall[] {
  const issues: ValidationError["issues"][number][] = [];
  const calls: PreparedCall[] = [];
  const named = new Set<string>();
  for (const [index, { contacts, write }] of writes.entries()) {
    try {
      calls.push(prepareWrite(opened, write, newEventId));
    } catch (error) {
      if (!isInvalid(error)) throw error;
      const found = error.issues;
      const inArray = found.map((each) => ({ ...each, path: [index, ...each.path] }));
      issues.push(...(writes.length === 1 ? found : inArray));
    }
    if (index > 0 && !contacts.some((key) => named.has(key))) issues.push({ path: [index], ...unrelated });
    for (const key of contacts) named.add(key);
  }
  if (issues.length > 0) throw new ValidationError(issues);
  return calls;
}

const unrelated = {
  code: "unrelated",
  message: "must share an e-mail, a phone or a contactUUID with a write before it: a row is one person's",
};

/** Whether a row in doubt may be sent again. */
export function mayBeRepeated(writes: readonly RowWrite[], calls: readonly PreparedCall[]): boolean {
  return writes.every(({ said }, index) => calls[index]!.isRepeatable || saysOnlyRefusals(said));
}

const idPrefix = "contactUUID:";

/**
 * Sends the writes of a row, one after the other, from the first check to the end of the row:
 *
 * 1. All writes are validated, and all guards asked, before the first one leaves.
 * 2. Each attempt leaves with the refusals that are known at that moment (`RowGuards.restated`).
 * 3. The first write that fails ends the row.
 */
export class SendRow {
  readonly #row: GuardedRow;
  readonly #log: RowLog;
  readonly #shared: SharedByRows;
  readonly #guards: RowGuards;
  readonly #ends: WriteEnd[] = [];
  #kept: Kept = {};
  #hasSubscribed = false;

  constructor(row: GuardedRow, log: RowLog, shared: SharedByRows) {
    this.#row = row;
    this.#log = log;
    this.#shared = shared;
    this.#guards = new RowGuards(shared.guards, row);
  }

  /** The end of the row; undefined if it only waited for the end of the run. Never rejects. */
  async send(): Promise<RowEnd<unknown> | undefined> {
    const { isList, writes } = this.#row;
    try {
      const calls = prepareRow(this.#shared.opened, writes, this.#log.newEventId);
      if (this.#log.isInDoubt && !mayBeRepeated(writes, calls)) {
        // It may have been sent: later rows must not lift what it refuses.
        this.#shared.wasSent(this.#row, false, undefined);
        return { status: "unknown", error: inDoubt() };
      }
      await this.#guards.ask(this.#shared.stop);
      // A later write that could not leave would leave the earlier ones sent.
      for (const write of writes) this.#guards.restated(write);
      const values: unknown[] = [];
      for (const [index, write] of writes.entries()) {
        values.push(await this.#sendWrite(write, calls[index]!));
        if (index < writes.length - 1) await this.#log.goesOn();
      }
      return await this.#succeeded(isList ? values : values[0]);
    } catch (error) {
      return await this.#failed(error);
    }
  }

  async #sendWrite(write: RowWrite, asGiven: PreparedCall): Promise<unknown> {
    const { countCall, listener, opened, stop } = this.#shared;
    let sent: Call | undefined;
    let restated = this.#guards.restated(write);
    const gate = {
      stop,
      listener,
      enter: async (call: Call) => {
        sent = call;
        try {
          restated = this.#guards.restated(write);
          const made = restated.write === write.write ? asGiven : prepareWrite(opened, restated.write);
          call.request = made.request;
          call.isRepeatable = made.isRepeatable;
          await this.#log.sends(made.isRepeatable);
          await this.#guards.ask(call.stopWaiting.signal);
        } catch (error) {
          // Not to be tried again.
          throw error instanceof RowStop || hasCode(error, "aborted", "closed")
            ? error
            : new RowStop({ error });
        }
      },
      // Else it is made anew.
      isOpen: () => {
        if (!this.#guards.areFresh || this.#guards.restated(write).channels !== restated.channels)
          return false;
        this.#guards.leaves();
        this.#hasSubscribed ||= subscribes(restated.said);
        return true;
      },
    };
    let outcome: Outcome | undefined;
    try {
      countCall();
      const data = await opened.transport.send(asGiven, { ...rowCallOptions, gate });
      outcome = "applied";
      this.#kept = { ...this.#kept, ...restated.kept };
      this.#log.id = idIn((sent ?? asGiven).request, data) ?? this.#log.id;
      return data;
    } finally {
      outcome ??= sent?.report.outcome ?? "not-sent";
      this.#ends.push({ outcome, isRepeatable: (sent ?? asGiven).isRepeatable });
    }
  }

  async #succeeded(value: unknown): Promise<RowEnd<unknown>> {
    const { before, id } = this.#log;
    const formerId = id !== undefined && id !== before?.id ? before?.id : undefined;
    const kept = Object.keys(this.#kept).length > 0 ? this.#kept : undefined;
    const service = kept && Object.values(kept).includes("service") ? this.#guards.service : undefined;
    await this.#records("succeeded", { kept, formerId });
    return {
      status: "succeeded",
      value,
      ...(kept && { kept }),
      ...(service && { service }),
      ...(formerId !== undefined && { formerId }),
    };
  }

  async #failed(error: unknown): Promise<RowEnd<never> | undefined> {
    const outcome = this.#ends.map((end) => end.outcome).reduce(severer, "not-sent");
    const wasDone = this.#ends.filter((end) => end.outcome === "applied" || end.outcome === "unknown");
    const mustNotRepeat = wasDone.some(({ isRepeatable }) => !isRepeatable);
    await this.#records(mustNotRepeat ? "once" : wasDone.length > 0 ? "sent" : "nothing");
    const { stop } = this.#shared;
    const isInterrupted = stop.aborted && (hasCode(error, "aborted", "closed") || error === stop.reason);
    if (isInterrupted && outcome === "not-sent") return undefined;
    const isUnknown = mustNotRepeat || this.#ends.some((end) => end.outcome === "unknown");
    return endOf(error, { outcome, isUnknown, mustNotRepeat });
  }

  async #records(end: RecordedEnd, more: { kept?: Kept | undefined; formerId?: string | undefined } = {}) {
    const { formerId, kept } = more;
    if (end !== "nothing") this.#shared.wasSent(this.#row, this.#hasSubscribed, formerId);
    // A failure of the record has already ended the run; the row's end stays the same.
    await this.#log.ends(end, kept).catch(() => undefined);
  }
}

/** The error of a row that is not sent because an earlier run may have carried it out. */
function inDoubt(): ConnectionError {
  const message =
    "Not sent: an earlier run may have carried out a write of the row that must not be repeated.";
  return new ConnectionError({ message, outcome: "unknown", reason: "other" });
}

/** The id of the contact that a response names. */
function idIn({ appliedConsent, consentWrite }: ApiRequest, data: unknown): string | undefined {
  const keys = consentWrite ? appliedConsent(consentWrite, data).contacts : [];
  return keys.find((key) => key.startsWith(idPrefix))?.slice(idPrefix.length);
}

function endOf(
  error: unknown,
  { outcome, isUnknown, mustNotRepeat }: { outcome: Outcome; isUnknown: boolean; mustNotRepeat: boolean },
): RowEnd<never> {
  if (isInvalid(error)) return { status: "invalid", error };
  const why = error instanceof RowStop ? error.why : { error };
  if ("error" in why) return { status: isUnknown ? "unknown" : "failed", error: why.error };
  // Safe: a RowStop.
  const { message } = error as RowStop;
  const abort = new AbortError({ message, outcome: mustNotRepeat ? "unknown" : outcome, cause: undefined });
  return mustNotRepeat ? { status: "unknown", error: abort } : { status: "superseded", ...why, error: abort };
}
