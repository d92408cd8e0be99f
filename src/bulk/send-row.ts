import { type ConsentWrite, refusalsOf } from "../consent.ts";
import { AbortError, ConnectionError, type Outcome } from "../errors.ts";
import { prepareWrite, type RowWrite } from "../prepare-write.ts";
import { severer } from "../transport/call-outcome.ts";
import type { Call, PreparedCall } from "../transport/call.ts";
import { appliedConsent } from "../transport/consent-registry.ts";
import { rowCallOptions } from "./bulk-options.ts";
import { type GuardedRow, type GuardedRun, nextMoment, ofKind, RowGuards, RowStop } from "./guards/guard.ts";
import { isUnknown } from "./guards/look.ts";
import type { ProcessGuard } from "./guards/other-calls.ts";
import { mayBeRepeated, prepareRow, type RecordedRow, recordedRow } from "./prepare-row.ts";
import { type Kept, type RestatedWrite, subscribes } from "./refusals.ts";
import { hasCode, isInvalid, type RowEnd, type SupersededReason } from "./result.ts";
import type { ReadRow } from "./rows.ts";
import type { RunParts } from "./run-parts.ts";
import type { RowRecord, RunRecord } from "./run-record.ts";

export interface SendingRun extends RunParts, GuardedRun {
  readonly processGuard: ProcessGuard;
  readonly record: RunRecord | undefined;
}

/** The end of a row; undefined if it only waited for the end of the run. */
type SentEnd = RowEnd<unknown> | undefined;

/** Compares a row with its record, and sends it if it is new or changed. */
export async function sendRow(row: ReadRow<unknown>, run: SendingRun): Promise<SentEnd> {
  const { options, processGuard, record, runEnd } = run;
  if (row.problem) throw row.problem.error;
  if (runEnd.stop.aborted) return undefined;
  if (row.writes.length === 0) return { status: "skipped" };
  const recorded = record && (await recordedRow(row, record, options));
  if (recorded?.fate !== "unchanged") return await new SendRow(row, recorded, run).send();
  processGuard.learn(row.consents);
  return { status: "skipped", kept: recorded.before?.kept };
}

/**
 * Sends the writes of a row, one after the other. All are validated, and all guards asked, before the first one leaves; each
 * attempt leaves with the refusals that are known at that moment; the first write that fails ends the row.
 */
class SendRow {
  readonly #row: GuardedRow;
  readonly #recordedRow: RecordedRow | undefined;
  readonly #run: SendingRun;
  readonly #guards: RowGuards;
  readonly #writeEnds: { readonly outcome: Outcome; readonly isRepeatable: boolean }[] = [];
  /** The state of the row in the record, as its attempts have put it. */
  #recordState: "sent" | "once" | undefined;
  /** The id of the row's contact, as a response of this run gave it. */
  #contactId: string | undefined;
  #kept: Kept = {};
  #hasSubscribed = false;

  constructor(row: ReadRow<unknown>, recorded: RecordedRow | undefined, run: SendingRun) {
    this.#row = { ...row, recordedId: recorded?.before?.id, keptId: run.record?.keptId(row) };
    this.#recordedRow = recorded;
    this.#run = run;
    this.#guards = new RowGuards(run, this.#row);
  }

  /** Sends the row. Never rejects. */
  async send(): Promise<SentEnd> {
    const { gaveArray, writes } = this.#row;
    const { options, processGuard, runEnd } = this.#run;
    try {
      await processGuard.recallRefusals(this.#row);
      const preparedWrites = prepareRow(options.opened, writes, this.#recordedRow?.newEventId);
      if (this.#recordedRow?.fate === "once" && !mayBeRepeated(writes, preparedWrites)) {
        // The row may have been sent: later rows must not lift what it refuses.
        processGuard.learn(this.#row.consents);
        const error = { message: notRepeatedMessage, outcome: "unknown", reason: "other" } as const;
        return { status: "unknown", error: new ConnectionError(error) };
      }
      await this.#guards.ask(runEnd.stop);
      // Judges all writes before the first is sent: a refusal may stop a later one.
      for (const write of writes) this.#guards.restated(write);
      const values: unknown[] = [];
      for (const [index, write] of writes.entries()) {
        // The row's next write may wait for long, and after a kill the record must know its contact.
        if (this.#recordState && this.#hasNewContact) await this.#putRow(this.#recordState);
        values.push(await this.#sendWrite(write, preparedWrites[index]!));
      }
      return await this.#succeeded(gaveArray ? values : values[0]);
    } catch (error) {
      return await this.#failed(error);
    } finally {
      this.#guards.end();
    }
  }

  async #sendWrite(write: RowWrite, preparedWrite: PreparedCall): Promise<unknown> {
    const { options, processGuard, progress, runEnd, warnings } = this.#run;
    const { opened } = options;
    let sentCall: Call | undefined;
    let leftAt = 0;
    let restated: RestatedWrite | undefined;
    const gate = {
      stop: runEnd.stop,
      listener: processGuard,
      enter: async (call: Call) => {
        sentCall = call;
        restated = this.#guards.restated(write);
        call.request = restated.write === write.write ? preparedWrite : prepareWrite(opened, restated.write);
        await this.#recordAttempt(call.request.isRepeatable);
        await this.#guards.ask(call.stop.signal);
      },
      // An attempt that must not leave enters again.
      isOpen: () => {
        if (!restated || !this.#guards.areFresh) return false;
        if (this.#guards.restated(write).channels !== restated.channels) return false;
        this.#guards.leaves();
        leftAt = nextMoment();
        this.#hasSubscribed ||= subscribes(restated.consents);
        return true;
      },
    };
    let outcome: Outcome | undefined;
    let applied: readonly ConsentWrite[] | undefined;
    try {
      progress.calls++;
      const data = await opened.transport.send(preparedWrite, { ...rowCallOptions, gate });
      outcome = "applied";
      this.#kept = { ...restated?.kept, ...this.#kept };
      applied = appliedConsent(sentCall?.request ?? preparedWrite, data);
      const contactKeys = applied.flatMap(({ contacts }) => contacts);
      const [idKey] = ofKind("contactUUID", contactKeys);
      this.#contactId = idKey?.slice("contactUUID:".length) ?? this.#contactId;
      if (this.#formerId !== undefined) warnings.warnOnce(otherContactWarning);
      return data;
    } finally {
      outcome ??= sentCall?.context.outcome ?? "not-sent";
      // Refusals of this write count from now on, for the row's next write too, and so does what the response shows.
      if (outcome !== "not-sent") processGuard.learnShown(applied ?? restated?.consents ?? [], leftAt);
      this.#writeEnds.push({ outcome, isRepeatable: (sentCall?.request ?? preparedWrite).isRepeatable });
    }
  }

  /**
   * Records before an attempt that the row may be carried out: a kill must not make a changed row look unchanged. Also before
   * each further attempt, as a checkpoint that another run has taken over refuses the line.
   */
  async #recordAttempt(isRepeatable: boolean): Promise<void> {
    const state = isRepeatable && this.#recordState !== "once" ? "sent" : "once";
    const isNews = state !== this.#recordState;
    this.#recordState = state;
    await this.#putRow(state, isNews && (state === "once" || this.#recordedRow?.before !== undefined));
  }

  async #putRow(state: RowRecord["state"], flush = false, kept?: Kept): Promise<void> {
    if (!this.#recordedRow) return;
    const { before, fingerprint, name, version } = this.#recordedRow;
    const rowRecord = { state, version, fingerprint, id: this.#contactId ?? before?.id, kept };
    // Where nothing of the row was carried out, its record of an earlier night stands.
    await this.#run.record?.putRow(name, state === "failed" && before ? before : rowRecord, flush);
  }

  /** The id of the contact that the row named before, which is left as it is. */
  get #formerId(): string | undefined {
    return this.#hasNewContact ? this.#recordedRow?.before?.id : undefined;
  }

  get #hasNewContact(): boolean {
    return this.#contactId !== undefined && this.#contactId !== this.#recordedRow?.before?.id;
  }

  async #succeeded(value: unknown): Promise<SentEnd> {
    const kept = Object.keys(this.#kept).length > 0 ? this.#kept : undefined;
    const service = kept && Object.values(kept).includes("service") ? this.#guards.service : undefined;
    await this.#recordEnd("succeeded", kept, this.#formerId);
    return { status: "succeeded", value, kept, service, formerId: this.#formerId };
  }

  async #failed(error: unknown): Promise<SentEnd> {
    const { stop } = this.#run.runEnd;
    const outcome = this.#writeEnds.map((end) => end.outcome).reduce(severer, "not-sent");
    const doneEnds = this.#writeEnds.filter((end) => end.outcome === "applied" || end.outcome === "unknown");
    const mustNotRepeat = doneEnds.some(({ isRepeatable }) => !isRepeatable);
    await this.#recordEnd(mustNotRepeat ? "once" : doneEnds.length > 0 ? "sent" : "failed");
    const isInterrupted = stop.aborted && (hasCode(error, "aborted", "closed") || error === stop.reason);
    if (isInterrupted && outcome === "not-sent") return undefined;
    if (isInvalid(error)) return { status: "invalid", error };
    const inDoubt = mustNotRepeat || doneEnds.some((end) => end.outcome === "unknown");
    const rowOutcome = inDoubt ? "unknown" : outcome;
    const why = error instanceof RowStop ? error.why : { errorOf: () => error };
    if ("errorOf" in why) return { status: inDoubt ? "unknown" : "failed", error: why.errorOf(rowOutcome) };
    // Safe: a RowStop.
    const message = `${(error as RowStop).message}${this.#unsentOptOuts(why.reason)}`;
    const abort = new AbortError({ message, outcome: rowOutcome, cause: undefined });
    return inDoubt ? { status: "unknown", error: abort } : { status: "superseded", ...why, error: abort };
  }

  /** The opt-outs that were not sent, for the message of a row that a guard has stopped. */
  #unsentOptOuts(reason: SupersededReason): string {
    const sentCount = this.#writeEnds.filter(({ outcome }) => outcome === "applied").length;
    const consents = this.#row.writes.slice(sentCount).flatMap((write) => write.consents);
    const optOuts = new Set(consents.flatMap(({ consent }) => refusalsOf(consent)));
    if (optOuts.size === 0) return "";
    // A row that is not current may say an opt-out that the person has since taken back.
    const wayOut = reason === "not-current" ? "" : ": send that by a call of its own";
    return ` Nor was its opt-out of ${[...optOuts].join(" and ")}${wayOut}.`;
  }

  async #recordEnd(state: RowRecord["state"], kept?: Kept, formerId?: string): Promise<void> {
    const { options, processGuard, progress } = this.#run;
    const wasSent = state !== "failed";
    // Also where the service refused the row: the person has refused.
    if (this.#writeEnds.some(({ outcome }) => outcome !== "not-sent")) processGuard.learn(this.#row.consents);
    if (wasSent && this.#hasSubscribed && isUnknown(this.#row, options, formerId)) progress.unknownPeople++;
    // A failure of the record has already ended the run; the row's end stays the same.
    if (wasSent || this.#recordState) await this.#putRow(state, false, kept).catch(() => undefined);
  }
}

const notRepeatedMessage =
  "Not sent: an earlier run may have carried out a write of the row that must not be repeated.";
const otherContactWarning =
  "a row names another contact than under its key before: `formerId` is the one that is left as it is";
