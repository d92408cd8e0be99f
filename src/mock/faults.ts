import { countFrom, duration, enumOf, object, type Rule, string, that } from "./json-rules.ts";
import { type MockOperation, OPERATIONS } from "./operations.ts";

/** Every kind, in the order of the guide. */
export const FAULT_KINDS = [
  "reset-before",
  "reset-after",
  "hang",
  "latency",
  "429",
  "500-before",
  "500-after",
  "502-html",
  "503-retry-after",
  "truncated-json",
  "wrong-json",
  "wrong-content-type",
  "empty-body",
  "huge-body",
  "slow-body",
  "redirect",
] as const;

/**
 * The kinds of faults.
 *
 * A write is applied, and its response is lost or corrupted: `"reset-after"`, `"500-after"`, `"502-html"`, `"hang"`, `"latency"`,
 * `"truncated-json"`, `"wrong-json"`, `"wrong-content-type"`, `"empty-body"`, `"huge-body"`, `"slow-body"`.
 * A write is not applied: `"reset-before"`, `"500-before"`, `"503-retry-after"`, `"429"`, `"redirect"`.
 */
export type MockFaultKind = (typeof FAULT_KINDS)[number];

/**
 * A fault. Without `times` it affects every request that it matches.
 *
 * ```ts
 * mock.addFault({ kind: "reset-after", operation: "v1.events.send", times: 1 });
 * ```
 */
export interface MockFault {
  /** The kind of the fault. */
  kind: MockFaultKind;
  /** Default: every operation. */
  operation?: MockOperation | undefined;
  /** The number of requests that it affects; default: no limit. */
  times?: number | undefined;
  /** The number of matching requests that pass before; default 0. */
  after?: number | undefined;
  /** The probability that it affects a matching request, 0 to 1; default 1. The mock's `seed` decides. */
  probability?: number | undefined;
  /** The `Retry-After` of `"429"` and `"503-retry-after"`: seconds, a date, or `false` for none; default 1. */
  retryAfter?: number | Date | false | undefined;
  /**
   * Milliseconds before the response; default 1,000 for `"latency"`, else 0. For `"slow-body"` the time before each of
   * its ten parts, default 1,000. For `"hang"` the time until the connection breaks, default never.
   */
  delayMs?: number | undefined;
  /** The target of `"redirect"`; default another origin, `https://elsewhere.example`. */
  location?: string | undefined;
}

const fields: Record<keyof MockFault, Rule> = {
  kind: enumOf(...FAULT_KINDS),
  operation: enumOf(...OPERATIONS),
  times: countFrom(1),
  after: countFrom(0),
  probability: that(
    (value) => typeof value === "number" && value >= 0 && value <= 1,
    "must be a number from 0 to 1",
  ),
  retryAfter: that(
    (value) => value === false || value instanceof Date || (typeof value === "number" && value >= 0),
    "must be a number of seconds, a date, or false",
  ),
  delayMs: duration,
  location: string(),
};

/** A fault with a misspelt value would never match. */
export const faultRule = object(fields, { required: ["kind"] });

const REFUSING: readonly string[] = ["reset-before", "500-before", "503-retry-after", "429", "redirect"];

/** Whether the fault ends a request before the service applies it. */
export function preventsWrite(fault: MockFault | undefined): boolean {
  return fault !== undefined && REFUSING.includes(fault.kind);
}

/** Milliseconds before the response. */
export function delayOf(fault: MockFault | undefined): number {
  if (fault === undefined || fault.kind === "slow-body") return 0;
  return fault.delayMs ?? (fault.kind === "latency" ? 1_000 : 0);
}

/** Whether only the caller, or `reset()`, ends the request. */
export function hangsForEver(fault: MockFault | undefined): boolean {
  return fault?.kind === "hang" && fault.delayMs === undefined;
}

export type FaultPlan = ReturnType<typeof faultPlan>;

/** Matches faults to requests: of several that match, the one that was added first. */
export function faultPlan(faults: readonly MockFault[], random: () => number) {
  let added = 0;
  const plan = (fault: MockFault) => ({ id: (added += 1), fault, seen: 0, matched: 0 });
  let plans = faults.map(plan);
  return {
    /** Returns its number, from 1. */
    add(fault: MockFault): number {
      const planned = plan(fault);
      plans.push(planned);
      return planned.id;
    },
    /** Each fault with its number, and with how many requests it has affected. */
    list: (): (MockFault & { id: number; matched: number })[] =>
      plans.map(({ id, fault, matched }) => ({ id, ...fault, matched })),
    /** Removes one fault, or all; `false` if there is none with this number. */
    remove(id?: number): boolean {
      const kept = id === undefined ? [] : plans.filter((planned) => planned.id !== id);
      const isFound = id === undefined || kept.length < plans.length;
      plans = kept;
      return isFound;
    },
    match(operation: MockOperation | undefined): MockFault | undefined {
      let chosen: ReturnType<typeof plan> | undefined;
      for (const planned of plans) {
        const { fault } = planned;
        if (fault.operation !== undefined && fault.operation !== operation) continue;
        planned.seen += 1;
        if (chosen !== undefined || planned.seen <= (fault.after ?? 0)) continue;
        if (planned.matched >= (fault.times ?? Number.POSITIVE_INFINITY)) continue;
        if (fault.probability === undefined || random() < fault.probability) chosen = planned;
      }
      if (chosen) chosen.matched += 1;
      return chosen?.fault;
    },
  };
}
