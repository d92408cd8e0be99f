import type { Method, Operation } from "../endpoint.ts";
import type { Outcome } from "../errors.ts";
import { randomUuid } from "../runtime.ts";

/** What errors, hooks and channels tell of a call, an invalid one too: its identity, its costs and its outcome. */
export interface CallContext {
  readonly operation: Operation;
  readonly method: Method;
  /** The template of the call's path: an id in the real one may be an e-mail address. */
  readonly path: string;
  /** The call's id, made when something asks for it: a read must not need random values before it is sent (D100). */
  requestId: string | undefined;
  uniqueIdentifier: string | undefined;
  attempts: number;
  /** Time that the call waited in the client, in milliseconds. */
  queuedMs: number;
  outcome: Outcome;
}

/** The identity of a call, as hooks, channels and errors show it. */
export function identityOf(context: CallContext) {
  const { operation, method, path } = context;
  return { requestId: (context.requestId ??= randomUuid()), operation, method, path };
}

const bySeverity: readonly Outcome[] = ["not-sent", "not-applied", "unknown", "applied"];

/** The outcome of two writes together: the one that may have changed more. */
export function severer(one: Outcome, other: Outcome): Outcome {
  return bySeverity.indexOf(other) > bySeverity.indexOf(one) ? other : one;
}

/** Raises the call's outcome to that of an attempt. A read changes nothing, so it is at worst not applied. */
export function recordOutcome(context: CallContext, outcome: Outcome): void {
  const counted = context.method === "GET" && outcome === "unknown" ? "not-applied" : outcome;
  context.outcome = severer(context.outcome, counted);
}
