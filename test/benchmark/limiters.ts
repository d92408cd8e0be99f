// The service's three limits, kept by each limiter as its documentation says, in virtual time: the figures do not depend
// on the machine. The count of the service comes from the sources of the mock, as no entry offers it without a service.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { DOCUMENTED_WINDOWS, RateLimiter } from "audience-sdk";
import Bottleneck from "bottleneck";
import { RateLimiter as ServiceLimiter } from "../../src/mock/rate-window.ts";
import { idealMs, randomFrom } from "../rate-limiter/simulation.ts";
import { VirtualTime } from "../rate-limiter/virtual-time.ts";
import { median, missing, table } from "./report.ts";

const calls = 2_000;
const seeds = [1, 2, 3, 4, 5];
/** The shortest and the longest delay of one way. */
const delayMs = [5, 300] as const;

/** Resolves to the wait that a refusal asks for; 0 if the service accepts the call. */
type Send = () => Promise<number>;
/** Sends when the limiter permits; the priority is that of our limiter and of bottleneck: 0 first, 9 last. */
type Schedule = (send: Send, priority?: number) => Promise<number>;
type CreateLimiter = (time: VirtualTime) => Schedule;

export interface Arrival {
  readonly atMs: number;
  readonly isRefused: boolean;
}

interface Simulation {
  readonly arrivals: readonly Arrival[];
  readonly endMs: number;
}

export const limiterPeers = {
  "p-throttle, strict": ["p-throttle"],
  "rate-limiter-flexible": ["rate-limiter-flexible"],
};

const ours: CreateLimiter = ({ now }) => {
  const limiter = new RateLimiter({ clock: now });
  return async (send, priority) => {
    const permit = await limiter.acquire({ priority });
    const retryAfterMs = await send();
    permit.release("responded");
    if (retryAfterMs > 0) limiter.refused(retryAfterMs);
    else limiter.succeeded();
    return retryAfterMs;
  };
};

/** A call passes the limiter of the hour, then that of the minute, then that of the second. */
const bottlenecks: CreateLimiter = () => {
  const [second, minute, hour] = DOCUMENTED_WINDOWS.map(({ limit, intervalMs }) => {
    const refresh = { reservoirRefreshAmount: limit, reservoirRefreshInterval: intervalMs };
    return new Bottleneck({ reservoir: limit, ...refresh });
  });
  minute?.chain(second);
  hour?.chain(minute);
  return async (send, priority = 5) => hour?.schedule({ priority }, send) ?? 0;
};

/** What is used of it. */
interface PThrottle {
  default: (options: { limit: number; interval: number; strict: true }) => (inner: Schedule) => Schedule;
}

async function throttles(folder: string): Promise<CreateLimiter> {
  // Safe: the package's index exports this function.
  const { default: pThrottle } = (await importFrom(folder, "p-throttle/index.js")) as PThrottle;
  return () =>
    DOCUMENTED_WINDOWS.map(({ limit, intervalMs }) =>
      pThrottle({ limit, interval: intervalMs, strict: true }),
    ).reduce<Schedule>(
      (inner, throttle) => throttle(inner),
      (send) => send(),
    );
}

/** What is used of it. */
interface RateLimiterFlexible {
  RateLimiterMemory: new (options: { points: number; duration: number }) => object;
  RateLimiterQueue: new (limiter: object) => { removeTokens(count: number): Promise<number> };
}

async function queues(folder: string): Promise<CreateLimiter> {
  // Safe: the package's index exports these classes.
  const { RateLimiterMemory, RateLimiterQueue } = (await importFrom(
    folder,
    "rate-limiter-flexible/index.js",
  )) as RateLimiterFlexible;
  return () => {
    const [second, minute, hour] = DOCUMENTED_WINDOWS.map(({ limit, intervalMs }) => {
      return new RateLimiterQueue(new RateLimiterMemory({ points: limit, duration: intervalMs / 1_000 }));
    });
    return async (send) => {
      for (const queue of [hour, minute, second]) await queue?.removeTokens(1);
      return send();
    };
  };
}

function importFrom(folder: string, path: string): Promise<unknown> {
  return import(pathToFileURL(join(folder, "node_modules", path)).href);
}

/** All calls at once; a refused one goes through the limiter again after the wait that the service asks for. */
async function simulate(create: CreateLimiter, seed: number): Promise<Simulation> {
  const time = new VirtualTime();
  const random = randomFrom(seed);
  const service = new ServiceLimiter({ windows: DOCUMENTED_WINDOWS });
  const arrivals: Arrival[] = [];
  let answered = 0;
  let endMs = 0;
  const wait = (ms: number) => new Promise<void>((resolve) => void time.after(ms, resolve));
  const travel = () => wait(Math.round(delayMs[0] + (delayMs[1] - delayMs[0]) * random()));
  const send = async () => {
    await travel();
    const waitMs = service.acquire("one address", time.now());
    arrivals.push({ atMs: time.now(), isRefused: waitMs > 0 });
    await travel();
    return Math.ceil(waitMs / 1_000) * 1_000;
  };
  const call = async (schedule: Schedule) => {
    for (;;) {
      const retryAfterMs = await schedule(send);
      if (retryAfterMs === 0) break;
      await wait(retryAfterMs);
    }
    answered += 1;
    endMs = time.now();
  };
  await runWithIntervals(
    time,
    () => answered < calls,
    () => {
      const schedule = create(time);
      for (let at = 0; at < calls; at += 1) void call(schedule);
    },
  );
  if (answered !== calls) throw new Error(`only ${answered} of ${calls} calls were answered`);
  return { arrivals, endMs };
}

/** For bottleneck, which refills its reservoirs by an interval; it goes on while `isOpen`. */
async function runWithIntervals(
  time: VirtualTime,
  isOpen: () => boolean,
  program: () => void,
): Promise<void> {
  const realSetInterval = globalThis.setInterval;
  try {
    await time.run(() => {
      globalThis.setInterval = ((callback: () => void, ms: number) => {
        const tick = () => {
          callback();
          if (isOpen()) time.after(ms, tick);
        };
        return time.after(ms, tick);
      }) as unknown as typeof setInterval; // Safe: as with the other timers, a number is its handle.
      program();
    });
  } finally {
    globalThis.setInterval = realSetInterval;
  }
}

/** The most calls that arrived within any window of this length, refused ones too. */
function mostWithin(intervalMs: number, arrivals: readonly Arrival[]): number {
  let first = 0;
  let most = 0;
  for (const [last, { atMs }] of arrivals.entries()) {
    while (arrivals[first] !== undefined && arrivals[first]!.atMs <= atMs - intervalMs) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

/** The table; and for the picture the arrivals of one simulation of each, and the calls beside an import. */
export async function compareLimiters(folders: ReadonlyMap<string, string>) {
  const limiters = new Map([
    ["audience-sdk", ours],
    ["bottleneck", bottlenecks],
  ]);
  for (const [name, load] of [
    ["p-throttle, strict", throttles],
    ["rate-limiter-flexible", queues],
  ] as const) {
    const folder = folders.get(name);
    if (folder !== undefined) limiters.set(name, await load(folder));
  }
  const meanRoundTripMs = delayMs[0] + delayMs[1];
  const ideal = idealMs(calls) + meanRoundTripMs;
  const arrivalsOf = new Map<string, readonly Arrival[]>();
  const beside: Beside[] = [];
  const rows: string[][] = [];
  for (const [name, create] of limiters) {
    const besideImport = await simulateImport(name, create);
    beside.push(besideImport);
    const runs: Simulation[] = [];
    for (const seed of seeds) runs.push(await simulate(create, seed));
    arrivalsOf.set(name, runs[0]?.arrivals ?? []);
    const of = (value: (run: Simulation) => number) => median(runs.map(value));
    rows.push([
      name,
      (of(({ endMs }) => endMs) / ideal).toFixed(3),
      String(of(({ arrivals }) => arrivals.filter(({ isRefused }) => isRefused).length)),
      ...DOCUMENTED_WINDOWS.map(({ intervalMs }) =>
        of(({ arrivals }) => mostWithin(intervalMs, arrivals)).toLocaleString("en"),
      ),
      ...waitsOf(besideImport),
    ]);
  }
  const header = ["limiter", "time to the ideal", "refusals", "most in 1 s", "in 1 min", "in 1 h"];
  header.push("a call beside an import waits, median", "at most");
  const text = [table(header, rows), ...missing(Object.keys(limiterPeers), [...limiters.keys()])].join(
    "\n\n",
  );
  return { text, arrivalsOf, beside };
}

const hourMs = 3_600_000;
export const hours = 3;
const workers = 10;
const rowPriority = 9;
/** Calls of people in each hour. */
export const callsPerHour = 60;

/** A call beside an import. */
interface CallBeside {
  readonly askedAtMs: number;
  readonly waitMs: number;
}

export interface Beside {
  readonly name: string;
  readonly calls: readonly CallBeside[];
  readonly rows: number;
}

/** Ten workers that send row after row at priority 9, and calls of people at random moments, at priority 5. */
async function simulateImport(name: string, create: CreateLimiter): Promise<Beside> {
  const time = new VirtualTime();
  const random = randomFrom(1);
  const visits: CallBeside[] = [];
  let rows = 0;
  const isOpen = (): boolean => time.now() < hours * hourMs;
  const responseTime = () => new Promise<void>((resolve) => void time.after(10 + 590 * random(), resolve));
  await runWithIntervals(
    time,
    () => visits.length < callsPerHour * hours,
    () => {
      const schedule = create(time);
      const work = async (): Promise<void> => {
        while (isOpen()) {
          await schedule(async () => {
            if (isOpen()) rows += 1;
            await responseTime();
            return 0;
          }, rowPriority);
        }
      };
      const visit = async (): Promise<void> => {
        const askedAtMs = time.now();
        await schedule(async () => {
          visits.push({ askedAtMs, waitMs: time.now() - askedAtMs });
          await responseTime();
          return 0;
        }, 5);
      };
      for (let worker = 0; worker < workers; worker += 1) void work();
      for (let call = 0; call < callsPerHour * hours; call += 1)
        time.at((Math.floor(call / callsPerHour) + random()) * hourMs, () => void visit());
    },
  );
  return { name, calls: visits, rows };
}

/** The median and the longest wait. */
function waitsOf({ calls: visits }: Beside): string[] {
  const waits = visits.map(({ waitMs }) => waitMs);
  return [median(waits), Math.max(...waits)].map((ms) =>
    ms < 60_000 ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`,
  );
}
