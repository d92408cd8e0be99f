import { AbortError, type ConfigurationError, type Outcome } from "../errors.ts";
import { severer } from "../transport/call.ts";
import type { RecordedEnd, SupersededBy } from "./events.ts";
import { endBy, hasCode, inDoubt, type RowEnd, type SupersededEnd } from "./result.ts";

/** How a call of a row ended. */
export interface CallEnd {
  readonly isWrite: boolean;
  readonly isRepeatable: boolean;
  readonly attempts: number;
  /** Over all attempts; a read was applied if it has an answer. */
  readonly outcome: Outcome;
  /** Missing if it succeeded. */
  readonly failure?: { readonly error: unknown };
  /**
   * Why the row has not ended with this failure, whatever its function makes of it. `cut-off`: the run ended before the
   * call could be sent, or sent again. `unlooked`: the service could not be asked, or asks to wait for over an hour.
   * `unasked`: `isCurrent` gave no answer. `in-doubt`: an earlier run may have carried it out.
   */
  readonly reason?: "cut-off" | "unlooked" | "unasked" | "in-doubt";
}

/** A guard got no answer; `cause` is the error of the row. It is no failure of the attempt that waits for it, nor retried as one. */
export class UnansweredError extends Error {
  readonly reason: "unlooked" | "unasked";

  constructor(reason: "unlooked" | "unasked", cause: unknown) {
    super("a guard got no answer", { cause });
    this.reason = reason;
  }
}

/** How the function of a row ended. `misused`: its promise resolved before its writes had ended, or it returned none. */
export type FunctionEnd<Value> =
  | { readonly kind: "resolved"; readonly value: Value }
  | { readonly kind: "rejected"; readonly error: unknown }
  | { readonly kind: "misused"; readonly error: ConfigurationError };

/** What the end of a row rests on. */
export interface RowFacts<Value> {
  readonly end: FunctionEnd<Value>;
  /** In the order in which they ended. */
  readonly calls: readonly CallEnd[];
  readonly superseded: SupersededEnd | undefined;
  /** The run has ended. */
  readonly isStopped: boolean;
  /** The function has a parameter for `request`: it may still make its call. */
  readonly takesRequest: boolean;
}

/** The end of a row, and what is recorded of it; undefined: nothing. */
export interface JudgedEnd<Value> {
  readonly end: RowEnd<Value>;
  readonly recorded: RecordedEnd | undefined;
  /** Nothing of the row was sent, and the run has ended: the row has no result. */
  readonly hasOnlyWaited: boolean;
}

/** The end of a row, by the ends of its calls and of its function. */
export function judgeEnd<Value>(facts: RowFacts<Value>): JudgedEnd<Value> {
  const end = endOf(facts);
  const recorded = recordedEnd(facts, end);
  const wasSent = facts.calls.some(({ attempts }) => attempts > 0);
  return { end, recorded, hasOnlyWaited: isInterrupted(end) && facts.isStopped && !wasSent };
}

function endOf<Value>({ end, calls, superseded }: RowFacts<Value>): RowEnd<Value> {
  if (end.kind === "misused") return { status: "unknown", error: end.error };
  const isUnknown = superseded
    ? calls.some((call) => mayBeUnrepeatable(call) && !isOutOfDate(call))
    : calls.some((call) => mayBeUnrepeatable(call) || isOpen(call));
  const judged = superseded ? supersededEnd(superseded, calls) : unsuperseded(end, calls);
  if (judged.status === "succeeded" || !isUnknown) return judged;
  return { status: "unknown", error: judged.error };
}

function supersededEnd(superseded: SupersededEnd, calls: readonly CallEnd[]): SupersededEnd {
  const { error } = superseded;
  if (!error || error.outcome === "applied") return superseded;
  // An earlier call of the row may have been sent.
  const isUnknown = calls.some((call) => isOpen(call) || mayBeUnrepeatable(call));
  const writes = calls.filter(({ isWrite }) => isWrite);
  const outcome = isUnknown ? "unknown" : writes.map((call) => call.outcome).reduce(severer, error.outcome);
  if (outcome === error.outcome) return superseded;
  return { ...superseded, error: new AbortError({ message: error.message, outcome, cause: error }) };
}

/** What the function must not hide comes first, even if it catches the errors of its calls. */
function unsuperseded<Value>(
  end: Exclude<FunctionEnd<Value>, { kind: "misused" }>,
  calls: readonly CallEnd[],
): RowEnd<Value> {
  if (calls.some(({ reason }) => reason === "in-doubt")) return { status: "unknown", error: inDoubt() };
  const unfinished = calls.findLast(({ reason }) => reason !== undefined)?.failure;
  if (unfinished) return endBy(unfinished.error);
  if (end.kind === "rejected") return endBy(end.error);
  // A row without a single write that was applied would be recorded, and lost.
  const failed = calls.findLast(({ isWrite, failure }) => isWrite && failure)?.failure;
  const hasApplied = calls.some(({ isWrite, failure }) => isWrite && !failure);
  return failed && !hasApplied ? endBy(failed.error) : { status: "succeeded", value: end.value };
}

function recordedEnd(facts: RowFacts<unknown>, end: RowEnd<unknown>): RecordedEnd | undefined {
  const { calls, isStopped, takesRequest } = facts;
  // The next run asks the function again.
  if (end.status === "succeeded" && calls.length === 0 && takesRequest) return undefined;
  if (end.status === "succeeded") return "succeeded";
  const mayBeApplied = calls.some(isMaybeApplied);
  if (facts.superseded && facts.end.kind !== "misused") {
    const { reason } = facts.superseded;
    if (reason !== "not-current") return `superseded-${reason satisfies SupersededBy}`;
  }
  const isAnswered =
    facts.superseded !== undefined &&
    calls.every((call) => !isMaybeApplied(call) || call.outcome === "applied");
  const isStillInDoubt = calls.some(({ reason }) => reason === "in-doubt") && !calls.some(isOpen);
  if ((isStillInDoubt && mayBeApplied) || (!isAnswered && calls.some(mayBeUnrepeatable))) return "in-doubt";
  // All that was carried out, or may have been, may be repeated: the next run sends the row, whatever it says.
  if (mayBeApplied) return "sent";
  const isUnjudged = facts.superseded !== undefined || calls.some(({ reason }) => reason === "unlooked");
  const isCutOff = isStopped && (isInterrupted(end) || calls.some(({ reason }) => reason === "cut-off"));
  return isUnjudged || isCutOff ? "unsent" : "failed";
}

/** The end of the run, or an abort of the row's own call, stopped it. */
function isInterrupted({ status, error }: RowEnd<unknown>): boolean {
  return status !== "superseded" && hasCode(error, "aborted", "closed");
}

/** By this run: what an earlier one may have carried out is recorded. */
function isMaybeApplied({ isWrite, outcome, reason }: CallEnd): boolean {
  return isWrite && reason !== "in-doubt" && (outcome === "applied" || outcome === "unknown");
}

/** It failed, and may have been applied all the same. */
function isOpen(call: CallEnd): boolean {
  return call.failure !== undefined && isMaybeApplied(call);
}

/** It was applied, and then `isCurrent` said no: nothing of it is unknown. */
function isOutOfDate({ outcome, failure }: CallEnd): boolean {
  return failure !== undefined && outcome === "applied";
}

function mayBeUnrepeatable(call: CallEnd): boolean {
  return !call.isRepeatable && isMaybeApplied(call);
}
