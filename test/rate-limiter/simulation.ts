import { DOCUMENTED_WINDOWS, RateLimiter, type RateLimitWindow } from "audience-sdk";
import { type Permit, VirtualTime } from "./virtual-time.ts";

/** How long a window counts: 0.05 % and 5 ms more, for clocks that are slewed. */
const widenedMs = (intervalMs: number): number => intervalMs * 1.0005 + 5;

/** Numbers from 0 to 1, the same for the same seed. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface Load {
  readonly seed: number;
  /** When each call asks for its permit. */
  readonly askedAt: readonly number[];
  /** The shortest and the longest delay of one way. */
  readonly delayMs: readonly [number, number];
  /** `"even"`: an even distribution. `"short"`: many short delays and few long ones, as in networks (even on a log scale). */
  readonly spread?: "even" | "short";
  readonly windows?: readonly RateLimitWindow[];
}

/** The delays of the calls in the order in which they leave: the same for every limiter that meets the same load. */
function delaysOf({ seed, askedAt, delayMs, spread = "even" }: Load): {
  out: number[];
  back: number[];
} {
  const random = randomFrom(seed);
  const [least, most] = delayMs;
  const delay = (): number =>
    spread === "even" ? least + (most - least) * random() : least * (most / least) ** random();
  return { out: askedAt.map(delay), back: askedAt.map(delay) };
}

export function meanRoundTripMs({ delayMs: [least, most], spread = "even" }: Load): number {
  return spread === "even" ? least + most : (2 * (most - least)) / Math.log(most / least);
}

/** Sends a load through a limiter, in virtual time; returns the arrivals and the time of the last response. */
export async function simulate(load: Load): Promise<{ arrivals: number[]; lastResponseAt: number }> {
  const time = new VirtualTime();
  const limiter = new RateLimiter({ clock: time.now, windows: load.windows ?? DOCUMENTED_WINDOWS });
  const { out, back } = delaysOf(load);
  const arrivals: number[] = [];
  let lastResponseAt = 0;
  const send = (permit: Permit): void => {
    const call = arrivals.length;
    arrivals.push(time.now() + out[call]!);
    time.after(out[call]! + back[call]!, () => {
      lastResponseAt = time.now();
      permit.release("responded");
    });
  };
  const client = {};
  await time.run(() => {
    for (const askedAt of load.askedAt) {
      time.at(askedAt, () => {
        void limiter.acquire({ client }).then(send);
      });
    }
  });
  if (arrivals.length !== load.askedAt.length) throw new Error(`only ${arrivals.length} calls left`);
  return { arrivals, lastResponseAt };
}

/** The time of the last response to a load with an ideal limiter that counts from the responses. */
export function bestLastResponse(load: Load): number {
  const windows = (load.windows ?? DOCUMENTED_WINDOWS).map(({ limit, intervalMs }) => ({
    limit,
    countedMs: widenedMs(intervalMs),
  }));
  const { out, back } = delaysOf(load);
  const responses: number[] = []; // sorted
  let leavesAt = 0;
  for (const [call, askedAt] of load.askedAt.toSorted((a, b) => a - b).entries()) {
    leavesAt = Math.max(leavesAt, askedAt);
    for (const { limit, countedMs } of windows) {
      const before = responses[call - limit];
      if (before !== undefined) leavesAt = Math.max(leavesAt, before + countedMs);
    }
    insert(responses, leavesAt + out[call]! + back[call]!);
  }
  return responses.at(-1) ?? 0;
}

function insert(sorted: number[], value: number): void {
  let index = sorted.length;
  while (index > 0 && sorted[index - 1]! > value) index -= 1;
  sorted.splice(index, 0, value);
}

/** The time at which the last of `calls` calls leaves, if every window is used to the full ("Limits"). */
export function idealMs(calls: number): number {
  const last = calls - 1;
  const seconds =
    3600 * Math.floor(last / 1000) + 60 * Math.floor((last % 1000) / 100) + Math.floor((last % 100) / 10);
  return seconds * 1_000;
}

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
