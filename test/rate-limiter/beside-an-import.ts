import { RateLimiter } from "audience-sdk";
import { randomFrom } from "./simulation.ts";
import { VirtualTime } from "./virtual-time.ts";

type LimiterOptions = ConstructorParameters<typeof RateLimiter>[0];

export interface Day {
  readonly seed: number;
  /** Calls of people in each hour, at random moments. */
  readonly callsOfHours: readonly number[];
  /** How many of them come at one moment. */
  readonly together?: number;
  readonly options?: LimiterOptions;
  /** Several processes: the import runs in the first, the list is read in the second, and people call in any. */
  readonly limitersOf?: (time: VirtualTime) => readonly RateLimiter[];
}

const hourMs = 3_600_000;

/**
 * An endless import of ten workers, and an endless reading of a list, both at priority 9, beside the calls of people, in
 * virtual time: the waits of the calls in milliseconds, the permits of priority 9 in each hour, and all arrivals.
 */
export async function besideAnImport({
  seed,
  callsOfHours,
  together = 1,
  options,
  limitersOf = (time) => [new RateLimiter({ clock: time.now, ...options })],
}: Day): Promise<{
  waits: number[];
  /** Which of these calls came while all of them kept to a tenth of the minute and of the hour. */
  isWithinATenth: boolean[];
  rowsOfHours: number[];
  arrivals: number[];
}> {
  const time = new VirtualTime();
  const limiters = limitersOf(time);
  const random = randomFrom(seed);
  const end = callsOfHours.length * hourMs;
  const waits: number[] = [];
  const askedAts: number[] = [];
  const isWithinATenth: boolean[] = [];
  const rowsOfHours = callsOfHours.map(() => 0);
  const arrivals: number[] = [];
  const [run, list, people] = [{}, {}, {}];
  const delayMs = (): number => 5 + 295 * random();

  /** Resolves once the call has its response. */
  async function call(limiter: RateLimiter, request: { client: object; priority: number }): Promise<void> {
    const permit = await limiter.acquire(request);
    const out = delayMs();
    arrivals.push(time.now() + out);
    await new Promise<void>((resolve) => void time.after(out + delayMs(), resolve));
    permit.release("responded");
  }

  async function work(limiter: RateLimiter, client: object): Promise<void> {
    while (time.now() < end) {
      await call(limiter, { client, priority: 9 });
      const hour = Math.floor(time.now() / hourMs);
      if (hour < rowsOfHours.length) rowsOfHours[hour]! += 1;
    }
  }

  async function visit(): Promise<void> {
    const askedAt = time.now();
    askedAts.push(askedAt);
    const number = askedAts.length - 1;
    const within = (ms: number): number =>
      askedAts.length - askedAts.findIndex((other) => other > askedAt - ms);
    isWithinATenth[number] = within(60_000) <= 10 && within(hourMs) <= 100;
    const limiter = limiters[number % limiters.length]!;
    const permit = await limiter.acquire({ client: people, priority: 5 });
    waits[number] = time.now() - askedAt;
    const out = delayMs();
    arrivals.push(time.now() + out);
    time.after(out + delayMs(), () => permit.release("responded"));
  }

  await time.run(() => {
    for (let worker = 0; worker < 10; worker += 1) void work(limiters[0]!, run);
    void work(limiters.at(1) ?? limiters[0]!, list);
    for (const [hour, calls] of callsOfHours.entries()) {
      for (let group = 0; group < calls / together; group += 1) {
        time.at((hour + random()) * hourMs, () => {
          for (let each = 0; each < together; each += 1) void visit();
        });
      }
    }
  }, end);
  return { waits, isWithinATenth, rowsOfHours, arrivals };
}

/** So many rows at once: when the last has its response, and when `estimateMs` expected it. */
export async function sendRows(
  rows: number,
  {
    priority = 9,
    othersPerHour = 0,
    earlier = [],
    beginAt = othersPerHour > 0 ? 2 * hourMs : 0,
    roundTripMs = () => 100,
    options,
    before,
  }: {
    readonly priority?: number;
    /** The others have called for two hours before. */
    readonly othersPerHour?: number;
    /** Calls that were made before, so many in one turn: the minute, and the priority if not 5. */
    readonly earlier?: readonly (readonly [calls: number, minute: number, priority?: number])[];
    readonly beginAt?: number;
    readonly roundTripMs?: () => number;
    readonly options?: LimiterOptions;
    readonly before?: (limiter: RateLimiter, time: VirtualTime) => void;
  } = {},
): Promise<{ limiter: RateLimiter; lastResponseMs: number; estimatedMs: number }> {
  const time = new VirtualTime();
  const limiter = new RateLimiter({ clock: time.now, ...options });
  let [lastResponseMs, estimatedMs, ended] = [0, 0, 0];
  const send = async (at: number): Promise<void> => {
    const permit = await limiter.acquire({ priority: at });
    await new Promise<void>((resolve) => void time.after(roundTripMs(), resolve));
    permit.release("responded");
  };
  const other = (): void => {
    if (ended === rows) return;
    void send(5);
    time.after(hourMs / othersPerHour, other);
  };
  await time.run(
    () => {
      before?.(limiter, time);
      for (const [calls, minute, at = 5] of earlier)
        time.at(minute * 60_000, () => {
          for (let call = 0; call < calls; call += 1) void send(at);
        });
      if (othersPerHour > 0) other();
      time.at(beginAt, () => {
        estimatedMs = limiter.estimateMs(rows, { priority });
        for (let row = 0; row < rows; row += 1)
          void send(priority).then(() => {
            ended += 1;
            lastResponseMs = time.now() - beginAt;
          });
      });
    },
    beginAt + 10 * hourMs,
  );
  return { limiter, lastResponseMs, estimatedMs };
}
