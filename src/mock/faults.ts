import { checkNames } from "./check-names.ts";
import type { Random } from "./random.ts";
import { type MockOperation, OPERATIONS } from "./variants.ts";

/**
 * What can go wrong, and whether a write that it strikes is carried out.
 *
 * Carried out, then the response is spoiled: `"reset-after"`, `"500-after"`, `"502-html"`, `"hang"`, `"latency"`,
 * `"truncated-json"`, `"wrong-json"`, `"wrong-content-type"`, `"empty-body"`, `"huge-body"`, `"slow-body"`.
 * Not carried out: `"reset-before"`, `"500-before"`, `"503-retry-after"`, `"429"`, `"redirect"`.
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
 * One thing that goes wrong. Without `times` it strikes every request that it is meant for.
 *
 * ```ts
 * mock.addFault({ kind: "reset-after", operation: "v1.events.send", times: 1 });
 * ```
 */
export interface MockFault {
  /** What goes wrong. */
  kind: MockFaultKind;
  /** Default: every operation. */
  operation?: MockOperation;
  /** How often it strikes; default: without end. */
  times?: number;
  /** How many of the requests it is meant for pass before; default 0. */
  after?: number;
  /** How likely it strikes, 0 to 1; default 1. The mock's `seed` decides which. */
  probability?: number;
  /** The `Retry-After` of `"429"` and `"503-retry-after"`: seconds, a date, or none; default 1. */
  retryAfter?: number | Date | false;
  /**
   * Milliseconds before the response; for `"latency"` 1,000 by default, else 0. For `"slow-body"` the time between two
   * of its ten pieces, by default 1,000.
   */
  delayMs?: number;
  /** Where `"redirect"` leads; default another origin, `https://elsewhere.example`. */
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

/** Says at once what is wrong with a fault: one with a typing error would never strike. */
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
    // What no header can carry would break the response, and not lead anywhere.
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

/** Whether the service never gets to carry out what a struck request asks for. */
export function preventsWrite(fault: MockFault | undefined): boolean {
  return fault !== undefined && REFUSING.has(fault.kind);
}

interface PlannedFault {
  fault: MockFault;
  seen: number;
  matched: number;
}

/** Which fault strikes which request: of several that are due, the one that was added first. */
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
