import { type ConsentWrite, refusalsOf } from "../consent.ts";
import { AbortError, ConnectionError, type Outcome } from "../errors.ts";
import { prepareWrite } from "../prepare-write.ts";
import { randomUuid } from "../runtime.ts";
import { severer } from "../transport/call-outcome.ts";
import type { Call, PreparedCall } from "../transport/call.ts";
import { appliedConsent } from "../transport/consent-registry.ts";
import type { Turns } from "../transport/turns.ts";
import { rowCallOptions } from "./bulk-options.ts";
import { type Guard, type GuardedRow, nextMoment, RowGuards, RowStop } from "./guards/guard.ts";
import { isUnknown } from "./guards/look.ts";
import type { ProcessGuard } from "./guards/other-calls.ts";
import { fateOf, mayBeRepeated, prepareRow, type RecordedRow, recordedRow } from "./prepare-row.ts";
import { type Kept, type RestatedWrite, type RowWrite, subscribes } from "./refusals.ts";
import { hasCode, isInvalid, type RowEnd } from "./result.ts";
import type { ReadRow } from "./rows.ts";
import type { RunParts } from "./run-end.ts";
import type { RowRecord, RunRecord } from "./run-record.ts";

export interface SendingRun extends RunParts {
  readonly guards: readonly Guard[];
  readonly turns: Turns;
  readonly process: ProcessGuard;
  readonly record: RunRecord | undefined;
}

/** The end of a row; undefined if it only waited for the end of the run. */
export type SentEnd = RowEnd<unknown> | undefined;

/** Compares a row with its record, and sends it if it is new or changed. */
export async function sendRow(row: ReadRow<unknown>, run: SendingRun): Promise<SentEnd> {
  const { end, options, process, record } = run;
  if (row.problem) throw row.problem.error;
  if (end.stop.aborted) return undefined;
  if (row.writes.length === 0) return { status: "skipped" };
  const recorded = record && (await recordedRow(row, record, options));
  if (fateOf(recorded) !== "unchanged") return await new SendRow(row, recorded, run).send();
  process.learn(row.said);
  if (recorded?.before) record?.skip(row, recorded.before);
  return { status: "skipped", kept: recorded?.before?.kept };
}

/**
 * Sends the writes of a row, one after the other. All are validated, and all guards asked, before the first one leaves; each
 * attempt leaves with the refusals that are known at that moment; the first write that fails ends the row.
 */
class SendRow {
  readonly #row: GuardedRow;
  readonly #recorded: RecordedRow | undefined;
  readonly #run: SendingRun;
  readonly #guards: RowGuards;
  readonly #ends: { readonly outcome: Outcome; readonly isRepeatable: boolean }[] = [];
  /** How many events of each name have a generated id. */
  readonly #events = new Map<string, number>();
  /** What is recorded of it so far. */
  #state: "sent" | "once" | undefined;
  /** The id of its contact, as a response of this run gave it. */
  #id: string | undefined;
  #kept: Kept = {};
  #hasSubscribed = false;

  constructor(row: ReadRow<unknown>, recorded: RecordedRow | undefined, run: SendingRun) {
    this.#row = { ...row, recordedId: recorded?.before?.id, keptId: run.record?.keptId(row) };
    this.#recorded = recorded;
    this.#run = run;
    this.#guards = new RowGuards(run, this.#row);
  }

  /** Never rejects. */
  async send(): Promise<SentEnd> {
    const { isList, writes } = this.#row;
    const { end, options, process } = this.#run;
    try {
      await process.recall(this.#row);
      const calls = prepareRow(options.opened, writes, this.#newEventId);
      if (fateOf(this.#recorded) === "once" && !mayBeRepeated(writes, calls)) {
        // It may have been sent: later rows must not lift what it refuses.
        process.learn(this.#row.said);
        const error = { message: notRepeated, outcome: "unknown", reason: "other" } as const;
        return { status: "unknown", error: new ConnectionError(error) };
      }
      await this.#guards.ask(end.stop);
      // A later write that could not leave would leave the earlier ones sent.
      for (const write of writes) this.#guards.restated(write);
      const values: unknown[] = [];
      for (const [index, write] of writes.entries()) {
        // The next write may wait for long, and after a kill its contact must be known.
        if (this.#state && this.#id !== undefined && this.#id !== this.#recorded?.before?.id)
          await this.#put(this.#state);
        values.push(await this.#sendWrite(write, calls[index]!));
      }
      return await this.#succeeded(isList ? values : values[0]);
    } catch (error) {
      return await this.#failed(error);
    } finally {
      this.#guards.end();
    }
  }

  /** The id of an event that has none of its own. Those of one name are told apart by their order. */
  readonly #newEventId = (eventName: string): string => {
    if (!this.#recorded) return randomUuid();
    const number = (this.#events.get(eventName) ?? 0) + 1;
    this.#events.set(eventName, number);
    return `${this.#recorded.eventId}-${number}-${eventName}`;
  };

  async #sendWrite(write: RowWrite, asGiven: PreparedCall): Promise<unknown> {
    const { end, options, process: listener, progress, warnings } = this.#run;
    const { opened } = options;
    let sent: Call | undefined;
    let leftAt = 0;
    let restated: RestatedWrite | undefined;
    const gate = {
      stop: end.stop,
      listener,
      enter: async (call: Call) => {
        sent = call;
        restated = this.#guards.restated(write);
        call.request = restated.write === write.write ? asGiven : prepareWrite(opened, restated.write);
        await this.#recordAttempt(call.request.isRepeatable);
        await this.#guards.ask(call.stop.signal);
      },
      // Else it is made anew.
      isOpen: () => {
        if (!restated || !this.#guards.areFresh) return false;
        if (this.#guards.restated(write).channels !== restated.channels) return false;
        this.#guards.leaves();
        leftAt = nextMoment();
        this.#hasSubscribed ||= subscribes(restated.said);
        return true;
      },
    };
    let outcome: Outcome | undefined;
    let applied: readonly ConsentWrite[] | undefined;
    try {
      progress.calls++;
      const data = await opened.transport.send(asGiven, { ...rowCallOptions, gate });
      outcome = "applied";
      this.#kept = { ...restated?.kept, ...this.#kept };
      applied = appliedConsent(sent?.request ?? asGiven, data);
      const keys = applied.flatMap(({ contacts }) => contacts);
      this.#id = keys.find((key) => key.startsWith(idPrefix))?.slice(idPrefix.length) ?? this.#id;
      if (this.#formerId !== undefined) warnings.sayOnce(otherContact);
      return data;
    } finally {
      outcome ??= sent?.context.outcome ?? "not-sent";
      // From now on, for the next write too; also by what the response shows of the contact.
      if (outcome !== "not-sent") listener.learnShown(applied ?? restated?.said ?? [], leftAt);
      this.#ends.push({ outcome, isRepeatable: (sent?.request ?? asGiven).isRepeatable });
    }
  }

  /**
   * Records before an attempt that the row may be carried out: a kill must not make a changed row look unchanged. Also before
   * each further attempt, as a checkpoint that another run has taken over refuses it.
   */
  async #recordAttempt(isRepeatable: boolean): Promise<void> {
    const state = isRepeatable && this.#state !== "once" ? "sent" : "once";
    const isNews = state !== this.#state;
    this.#state = state;
    await this.#put(state, isNews && (state === "once" || this.#recorded?.before !== undefined));
  }

  async #put(state: RowRecord["state"], flush = false, kept?: Kept): Promise<void> {
    if (!this.#recorded) return;
    const { before, fingerprint, name, version } = this.#recorded;
    const line = { state, version, fingerprint, id: this.#id ?? before?.id, kept };
    // Where nothing was carried out, what is recorded of an earlier night stands.
    await this.#run.record?.putRow(name, state === "failed" && before ? before : line, flush);
  }

  /** The contact that the row leaves behind as it is. */
  get #formerId(): string | undefined {
    const before = this.#recorded?.before?.id;
    return this.#id === undefined || this.#id === before ? undefined : before;
  }

  async #succeeded(value: unknown): Promise<SentEnd> {
    const kept = Object.keys(this.#kept).length > 0 ? this.#kept : undefined;
    const service = kept && Object.values(kept).includes("service") ? this.#guards.service : undefined;
    await this.#record("succeeded", kept, this.#formerId);
    return { status: "succeeded", value, kept, service, formerId: this.#formerId };
  }

  async #failed(error: unknown): Promise<SentEnd> {
    const { stop } = this.#run.end;
    const outcome = this.#ends.map((end) => end.outcome).reduce(severer, "not-sent");
    const wasDone = this.#ends.filter((end) => end.outcome === "applied" || end.outcome === "unknown");
    const mustNotRepeat = wasDone.some(({ isRepeatable }) => !isRepeatable);
    await this.#record(mustNotRepeat ? "once" : wasDone.length > 0 ? "sent" : "failed");
    const isInterrupted = stop.aborted && (hasCode(error, "aborted", "closed") || error === stop.reason);
    if (isInterrupted && outcome === "not-sent") return undefined;
    if (isInvalid(error)) return { status: "invalid", error };
    const inDoubt = mustNotRepeat || wasDone.some((end) => end.outcome === "unknown");
    const rowOutcome = inDoubt ? "unknown" : outcome;
    const why = error instanceof RowStop ? error.why : { errorOf: () => error };
    if ("errorOf" in why) return { status: inDoubt ? "unknown" : "failed", error: why.errorOf(rowOutcome) };
    // Safe: a RowStop.
    const message = `${(error as RowStop).message}${this.#unsentOptOuts}`;
    const abort = new AbortError({ message, outcome: rowOutcome, cause: undefined });
    return inDoubt ? { status: "unknown", error: abort } : { status: "superseded", ...why, error: abort };
  }

  /** For the message of a row that is stopped. */
  get #unsentOptOuts(): string {
    const sent = this.#ends.filter(({ outcome }) => outcome === "applied").length;
    const said = this.#row.writes.slice(sent).flatMap((write) => write.said);
    const optOuts = new Set(said.flatMap(({ consent }) => refusalsOf(consent)));
    if (optOuts.size === 0) return "";
    return ` Nor was its opt-out of ${[...optOuts].join(" and ")}: send that by a call of its own.`;
  }

  async #record(state: RowRecord["state"], kept?: Kept, formerId?: string): Promise<void> {
    const { options, process, warnings } = this.#run;
    const wasSent = state !== "failed";
    // Also where the service refused it: the person has.
    if (this.#ends.some(({ outcome }) => outcome !== "not-sent")) process.learn(this.#row.said);
    if (wasSent && this.#hasSubscribed && isUnknown(this.#row, options, formerId)) warnings.unknownPeople++;
    // A failure of the record has already ended the run; the row's end stays the same.
    if (wasSent || this.#state) await this.#put(state, false, kept).catch(() => undefined);
  }
}

const notRepeated =
  "Not sent: an earlier run may have carried out a write of the row that must not be repeated.";
const otherContact =
  "a row names another contact than under its key before: `formerId` is the one that is left as it is";
const idPrefix = "contactUUID:";
