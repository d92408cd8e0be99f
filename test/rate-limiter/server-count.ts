import type { RateLimitWindow } from "../../src/errors.ts";

/** How many of these arrivals a server with sliding windows refuses. Refused arrivals do not count in a window. */
export function refusedBySliding(arrivals: readonly number[], windows: readonly RateLimitWindow[]): number {
  const accepted: number[] = [];
  const heads = windows.map(() => 0);
  let refused = 0;
  for (const at of arrivals.toSorted((a, b) => a - b)) {
    let isAvailable = true;
    for (const [index, { limit, intervalMs }] of windows.entries()) {
      while (accepted[heads[index]!] !== undefined && accepted[heads[index]!]! <= at - intervalMs)
        heads[index]! += 1;
      if (accepted.length - heads[index]! >= limit) isAvailable = false;
    }
    if (isAvailable) accepted.push(at);
    else refused += 1;
  }
  return refused;
}

/** The same for fixed windows, each with its own phase. */
export function refusedByFixed(
  arrivals: readonly number[],
  windows: readonly RateLimitWindow[],
  phases: readonly number[],
): number {
  const counts = windows.map(() => new Map<number, number>());
  let refused = 0;
  for (const at of arrivals.toSorted((a, b) => a - b)) {
    const cells = windows.map(({ intervalMs }, index) =>
      Math.floor((at + phases[index]! * intervalMs) / intervalMs),
    );
    const isAvailable = windows.every(({ limit }, index) => (counts[index]!.get(cells[index]!) ?? 0) < limit);
    if (!isAvailable) refused += 1;
    else
      for (const [index, cell] of cells.entries())
        counts[index]!.set(cell, (counts[index]!.get(cell) ?? 0) + 1);
  }
  return refused;
}

/** The same for token buckets of size `limit` that fill evenly. */
export function refusedByTokenBucket(
  arrivals: readonly number[],
  windows: readonly RateLimitWindow[],
): number {
  const tokens = windows.map(({ limit }) => limit);
  let last = 0;
  let refused = 0;
  for (const at of arrivals.toSorted((a, b) => a - b)) {
    for (const [index, { limit, intervalMs }] of windows.entries()) {
      tokens[index] = Math.min(limit, tokens[index]! + ((at - last) * limit) / intervalMs);
    }
    last = at;
    if (tokens.some((left) => left < 1)) refused += 1;
    else for (const index of tokens.keys()) tokens[index]! -= 1;
  }
  return refused;
}
