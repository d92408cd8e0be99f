import { checkNames } from "./check-names.ts";
import type { MockServiceOptions } from "./interface.ts";
import { isObject } from "./is-object.ts";
import type { MockRateLimitOptions, MockRateWindow } from "./rate-window.ts";

const names = ["windows", "algorithm", "retryAfter", "countRefused", "phaseMs"];
const algorithms: readonly unknown[] = ["sliding", "fixed", "token-bucket", undefined];
const retryAfterForms: readonly unknown[] = ["seconds", "date", false, undefined];

/** Checks the values of rate limits that have the right shape. */
export function checkRateLimits(rateLimits: MockServiceOptions["rateLimits"]): void {
  if (rateLimits === undefined || rateLimits === false || rateLimits === "documented") return;
  if (!("windows" in rateLimits)) return checkWindows(rateLimits, "rateLimits");
  checkNames("rateLimits", rateLimits, names);
  checkAlgorithm(rateLimits);
  checkWindows(rateLimits.windows, "rateLimits.windows");
}

function checkAlgorithm({ algorithm, retryAfter, countRefused, phaseMs }: MockRateLimitOptions): void {
  if (!algorithms.includes(algorithm))
    throw new TypeError("rateLimits: algorithm must be one of sliding, fixed, token-bucket");
  if (!retryAfterForms.includes(retryAfter))
    throw new TypeError('rateLimits: retryAfter must be "seconds", "date" or false');
  if (countRefused !== undefined && typeof countRefused !== "boolean")
    throw new TypeError("rateLimits: countRefused must be a boolean");
  if (phaseMs !== undefined && !Number.isFinite(phaseMs))
    throw new TypeError("rateLimits: phaseMs must be a number of milliseconds");
}

function checkWindows(windows: readonly MockRateWindow[], path: string): void {
  if (windows.length === 0)
    throw new TypeError("rateLimits must hold at least one window; false is for no limit");
  for (const [index, window] of windows.entries()) {
    if (isObject(window)) checkNames(`${path}[${index}]`, window, ["limit", "intervalMs"]);
    const { limit, intervalMs } = Object(window) as Partial<Record<keyof MockRateWindow, unknown>>;
    const isUsable = Number.isSafeInteger(limit) && Number(limit) >= 1 && isLength(intervalMs);
    if (!isUsable)
      throw new TypeError(`${path}[${index}]: a window needs a limit from 1 and an intervalMs above 0`);
  }
}

function isLength(intervalMs: unknown): boolean {
  return typeof intervalMs === "number" && intervalMs > 0 && intervalMs !== Infinity;
}
