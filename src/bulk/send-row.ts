import { AbortError, ConnectionError, type Outcome, ValidationError } from "../errors.ts";
import type { OpenedClient } from "../open-client.ts";
import { prepareWrite } from "../prepare-write.ts";
import { severer } from "../transport/call-context.ts";
import type { Call, PreparedCall } from "../transport/call.ts";
import { appliedConsent } from "../transport/consent-registry.ts";
import { rowCallOptions } from "./bulk-options.ts";
import { type Guard, type GuardedRow, RowStop } from "./guards/guard.ts";
import type { ProcessGuard } from "./guards/process.ts";
import { RowGuards } from "./guards/row-guards.ts";
import { isUnknown } from "./guards/service.ts";
import { type Kept, type RowWrite, saysOnlyRefusals, subscribes } from "./refusals.ts";
import { hasCode, isInvalid, type RowEnd } from "./result.ts";
import type { RowLog } from "./row-log.ts";
import type { RunParts } from "./run-end.ts";
import type { RowRecord } from "./run-record.ts";

/** A run, as its rows see it. */
export interface SendingRun extends RunParts {
  readonly guards: readonly Guard[];
  /** Also one of the guards. */
  readonly process: ProcessGuard;
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
  readonly #run: SendingRun;
  readonly #guards: RowGuards;
  readonly #ends: WriteEnd[] = [];
  #kept: Kept = {};
  #hasSubscribed = false;

  constructor(row: GuardedRow, log: RowLog, run: SendingRun) {
    this.#row = row;
    this.#log = log;
    this.#run = run;
    this.#guards = new RowGuards(run.guards, row);
  }

  /** The end of the row; undefined if it only waited for the end of the run. Never rejects. */
  async send(): Promise<RowEnd<unknown> | undefined> {
    const { isList, writes } = this.#row;
    try {
      const calls = prepareRow(this.#run.options.opened, writes, this.#log.newEventId);
      if (this.#log.mustNotRepeat && !mayBeRepeated(writes, calls)) {
        // It may have been sent: later rows must not lift what it refuses.
        this.#run.process.learn(this.#row);
        return { status: "unknown", error: notRepeated() };
      }
      await this.#guards.ask(this.#run.end.stop);
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
    const { end, options, process: listener, progress } = this.#run;
    const { opened } = options;
    let sent: Call | undefined;
    let restated = this.#guards.restated(write);
    const gate = {
      stop: end.stop,
      listener,
      enter: async (call: Call) => {
        sent = call;
        try {
          restated = this.#guards.restated(write);
          call.request = restated.write === write.write ? asGiven : prepareWrite(opened, restated.write);
          await this.#log.sends(call.request.isRepeatable);
          await this.#guards.ask(call.stop.signal);
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
      progress.calls++;
      const data = await opened.transport.send(asGiven, { ...rowCallOptions, gate });
      outcome = "applied";
      this.#kept = { ...this.#kept, ...restated.kept };
      this.#log.id = idIn(sent?.request ?? asGiven, data) ?? this.#log.id;
      return data;
    } finally {
      outcome ??= sent?.context.outcome ?? "not-sent";
      this.#ends.push({ outcome, isRepeatable: (sent?.request ?? asGiven).isRepeatable });
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
    const { stop } = this.#run.end;
    const outcome = this.#ends.map((end) => end.outcome).reduce(severer, "not-sent");
    const wasDone = this.#ends.filter((end) => end.outcome === "applied" || end.outcome === "unknown");
    const mustNotRepeat = wasDone.some(({ isRepeatable }) => !isRepeatable);
    await this.#records(mustNotRepeat ? "once" : wasDone.length > 0 ? "sent" : "failed");
    const isInterrupted = stop.aborted && (hasCode(error, "aborted", "closed") || error === stop.reason);
    if (isInterrupted && outcome === "not-sent") return undefined;
    if (isInvalid(error)) return { status: "invalid", error };
    const inDoubt = mustNotRepeat || wasDone.some((end) => end.outcome === "unknown");
    const why = error instanceof RowStop ? error.why : { error };
    if ("error" in why) return { status: inDoubt ? "unknown" : "failed", error: why.error };
    // Safe: a RowStop.
    const { message } = error as RowStop;
    const abort = new AbortError({ message, outcome: mustNotRepeat ? "unknown" : outcome, cause: undefined });
    return mustNotRepeat
      ? { status: "unknown", error: abort }
      : { status: "superseded", ...why, error: abort };
  }

  async #records(
    state: RowRecord["state"],
    { formerId, kept }: { kept?: Kept | undefined; formerId?: string | undefined } = {},
  ): Promise<void> {
    const { options, process, warnings } = this.#run;
    if (state !== "failed") process.learn(this.#row);
    if (this.#hasSubscribed && state !== "failed" && isUnknown(this.#row, options, formerId))
      warnings.unknownPeople++;
    if (formerId !== undefined)
      warnings.sayOnce(
        "a row names another contact than under its key before: `formerId` is the one that is left as it is",
      );
    // A failure of the record has already ended the run; the row's end stays the same.
    await this.#log.ends(state, kept).catch(() => undefined);
  }
}

/** The error of a row that is not sent because an earlier run may have carried it out. */
function notRepeated(): ConnectionError {
  const message =
    "Not sent: an earlier run may have carried out a write of the row that must not be repeated.";
  return new ConnectionError({ message, outcome: "unknown", reason: "other" });
}

/** The id of the contact that a response names. */
function idIn(request: PreparedCall, data: unknown): string | undefined {
  const keys = appliedConsent(request, data)?.contacts;
  return keys?.find((key) => key.startsWith(idPrefix))?.slice(idPrefix.length);
}
