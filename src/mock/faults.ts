import { checkNames } from "./check-names.ts";
import type { Random } from "./random.ts";
import { type MockOperation, OPERATIONS } from "./variants.ts";

/**
 * The kinds of faults.
 *
 * A write is applied, and its response is lost or corrupted: `"reset-after"`, `"500-after"`, `"502-html"`, `"hang"`, `"latency"`,
 * `"truncated-json"`, `"wrong-json"`, `"wrong-content-type"`, `"empty-body"`, `"huge-body"`, `"slow-body"`.
 * A write is not applied: `"reset-before"`, `"500-before"`, `"503-retry-after"`, `"429"`, `"redirect"`.
 */
export type MockFaultKind =
  | "reset-before"
  | "reset-after"
  | "hang"
  | "latency"
  | "429"
  | "500-before"
  | "500-after"
  | "502-html"
  | "503-retry-after"
  | "truncated-json"
  | "wrong-json"
  | "wrong-content-type"
  | "empty-body"
  | "huge-body"
  | "slow-body"
  | "redirect";

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
  operation?: MockOperation;
  /** The number of requests that it affects; default: no limit. */
  times?: number;
  /** The number of matching requests that pass before; default 0. */
  after?: number;
  /** The probability that it affects a matching request, 0 to 1; default 1. The mock's `seed` decides. */
  probability?: number;
  /** The `Retry-After` of `"429"` and `"503-retry-after"`: seconds, a date, or `false` for none; default 1. */
  retryAfter?: number | Date | false;
  /**
   * Milliseconds before the response; default 1,000 for `"latency"`, else 0. For `"slow-body"` the time before each of
   * its ten parts, default 1,000.
   */
  delayMs?: number;
  /** The target of `"redirect"`; default another origin, `https://elsewhere.example`. */
  location?: string;
}

const KINDS: readonly MockFaultKind[] = [
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
];

/** Checks a fault: one with a misspelt value would never match. */
export function checkFault(fault: unknown): asserts fault is MockFault {
  if (typeof fault !== "object" || fault === null)
    throw new TypeError("fault: must be an object with a kind");
  const known: Readonly<Record<string, (value: unknown) => boolean>> = {
    kind: (value) => KINDS.some((kind) => kind === value),
    operation: (value) => OPERATIONS.some((operation) => operation === value),
    times: isCount,
    after: isCount,
    probability: (value) => isCount(value) && value <= 1,
    retryAfter: (value) => value === false || isCount(value) || isDate(value),
    delayMs: (value) => isCount(value) && value < 2 ** 31,
    // A header cannot carry other characters.
    location: (value) => typeof value === "string" && !/[^\t\x20-\x7e\x80-\xff]/.test(value),
  };
  checkNames("fault", fault, Object.keys(known));
  for (const [name, value] of Object.entries({ kind: undefined, ...fault })) {
    if (known[name]?.(value) === true || (value === undefined && name !== "kind")) continue;
    const choices = name === "kind" ? KINDS : name === "operation" ? OPERATIONS : undefined;
    throw new TypeError(
      `fault: ${name} cannot be ${JSON.stringify(value)}${choices ? `; there are: ${choices.join(", ")}` : ""}`,
    );
  }
}

function isDate(value: unknown): boolean {
  return value instanceof Date && !Number.isNaN(value.getTime());
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && value >= 0;
}

const REFUSING: ReadonlySet<MockFaultKind> = new Set([
  "reset-before",
  "500-before",
  "503-retry-after",
  "429",
  "redirect",
]);

/** Whether the fault ends a request before the service applies it. */
export function preventsWrite(fault: MockFault | undefined): boolean {
  return fault !== undefined && REFUSING.has(fault.kind);
}

interface PlannedFault {
  fault: MockFault;
  seen: number;
  matched: number;
}

/** Matches faults to requests: of several that match, the one that was added first. */
export class FaultPlan {
  readonly #random: Random;
  readonly #planned: PlannedFault[] = [];

  constructor(faults: readonly MockFault[], random: Random) {
    this.#random = random;
    for (const fault of faults) this.add(fault);
  }

  add(fault: MockFault): void {
    checkFault(fault);
    this.#planned.push({ fault: { ...fault }, seen: 0, matched: 0 });
  }

  match(operation: MockOperation | undefined): MockFault | undefined {
    let chosen: PlannedFault | undefined;
    for (const planned of this.#planned) {
      const { fault } = planned;
      if (fault.operation !== undefined && fault.operation !== operation) continue;
      planned.seen += 1;
      if (chosen !== undefined || planned.seen <= (fault.after ?? 0)) continue;
      if (planned.matched >= (fault.times ?? Number.POSITIVE_INFINITY)) continue;
      if (fault.probability === undefined || this.#random() < fault.probability) chosen = planned;
    }
    if (chosen) chosen.matched += 1;
    return chosen?.fault;
  }
}
