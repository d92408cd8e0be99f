import type { IoredisLike } from "audience-sdk/redis";
import type { VirtualTime } from "../rate-limiter/virtual-time.ts";
import type { ScriptReply, ScriptRequest } from "./script-in-redis.ts";

interface MemoryRedisOptions {
  readonly time: Pick<VirtualTime, "now" | "after">;
  /** The delay of one way. */
  readonly delayMs?: () => number;
}

type Request = ScriptRequest & { readonly newData: string };

/** A Redis in memory that knows the one script, in a second implementation, behind a network that can fail. */
export class MemoryRedis implements IoredisLike {
  /** `"hangs"`: a request has no effect and no reply. `"loses replies"`: it has its effect, but no reply. */
  network: "up" | "refuses" | "hangs" | "loses replies" = "up";
  /** The requests that have left. */
  readonly requests: Request[] = [];
  readonly #time: Pick<VirtualTime, "now" | "after">;
  readonly #delayMs: () => number;
  #permits = new Map<string, { isLast: boolean; at: number }>();
  #taken: { id: string; at: number }[] = [];
  #waiting: { process: string; isLast: boolean; dueAt: number }[] = [];
  #rate = { factor: 1, pausedUntil: 0, slowedAt: -Infinity };
  #data: string | undefined;
  /** Or as long as a lost call may take to arrive. */
  #longestLeaseMs = 5_000;

  constructor({ time, delayMs = () => 1 }: MemoryRedisOptions) {
    this.#time = time;
    this.#delayMs = delayMs;
  }

  loseMemory(): void {
    this.#permits = new Map();
    this.#taken = [];
    this.#waiting = [];
    this.#rate = { factor: 1, pausedUntil: 0, slowedAt: -Infinity };
    this.#data = undefined;
    this.#longestLeaseMs = 5_000;
  }

  /** The permits that count in a window of this length: their names, with the times from which on they do. */
  permitsWithin(ms: number): [id: string, at: number][] {
    const permits = [...this.#permits].map(([id, { at }]): [string, number] => [id, at]);
    return permits.filter(([, at]) => at > this.#time.now() - ms);
  }

  /** The last permits of priority 9, as many as go together. */
  get turns(): string[] {
    return this.#taken.map(({ id }) => id);
  }

  get inFlight(): number {
    return [...this.#permits.values()].filter(({ at }) => at > this.#time.now()).length;
  }

  evalsha(): Promise<unknown> {
    throw new Error("Not called: its name shows the package.");
  }

  eval(_script: string, _keys: number, ...rest: string[]): Promise<unknown> {
    const request = JSON.parse(rest.at(-1)!) as Request; // written by the store
    this.requests.push(request);
    return new Promise((resolve, reject) => {
      this.#time.after(this.#delayMs(), () => {
        if (this.network === "refuses") return reject(new Error("ECONNREFUSED"));
        if (this.network === "hangs") return;
        const reply = JSON.stringify(this.run(request));
        if (this.network === "up") this.#time.after(this.#delayMs(), () => resolve(reply));
      });
    });
  }

  /** The script. */
  run(request: Request): ScriptReply {
    const { windows, ids, isLast, reserve, leaseMs } = request;
    const now = this.#time.now();
    this.#data ??= request.newData;
    this.#write(request, now);
    this.#report(request, now);
    const longest = windows.length - 1;
    const limits = windows.map(({ limit }, index) =>
      index < longest ? Math.max(1, Math.floor(limit * this.#rate.factor)) : limit,
    );
    const before = this.#used(request, now);
    const hasReserve = isLast && reserve > 0;
    const kept = keptPermits(limits, before.usedByOthers, reserve);
    const rooms = limits.map((limit, index) =>
      hasReserve ? limit - Math.max(0, kept[index]! - before.usedByOthers[index]!) : limit,
    );
    const isPaced = hasReserve && before.usedByOthers[longest]! > 0;
    const share = isPaced ? limits[longest]! - kept[longest]! : Infinity;
    const turnMs = isPaced ? this.#turnMs(share, windows[longest]!.countedMs, now) : undefined;
    const toHalf =
      Math.ceil(share / 2) - (isPaced ? before.used[longest]! - before.usedByOthers[longest]! : 0);
    const early = turnMs && this.#taken.filter(({ at }) => turnMs(at) > 0).length;
    const rest = rooms.map((room, index) => room - before.used[index]!);
    const free =
      Math.min(...rest, early === undefined ? toHalf : 10 - early) - this.#waitingBefore(request, now, now);
    const pausedMs = Math.max(0, this.#rate.pausedUntil - now);
    const granted = pausedMs > 0 ? 0 : Math.max(0, Math.min(ids.length, free));
    for (const id of ids.slice(0, granted)) {
      this.#permits.set(id, { isLast, at: now + leaseMs });
      if (isLast) this.#taken = [...this.#taken, { id, at: Math.ceil(now) }].slice(-10);
    }
    const withGranted = (count: number): number => count + granted;
    const used = before.used.map(withGranted);
    if (granted > 0) this.#waiting = this.#waiting.filter((waiter) => !isSame(waiter, request));
    const ahead = this.#waitingBefore(request, now);
    const comesInMs = this.#waitMs(request, { used, rooms, turnMs, ahead, hasReserve }, now);
    // Those before it are late.
    const waitMs = granted < ids.length ? Math.max(pausedMs, comesInMs || (granted === 0 ? 1_000 : 0)) : 0;
    if (waitMs > 0) this.#wait(request, Math.ceil(now + Math.min(waitMs, 60_000)), now);
    return {
      data: this.#data,
      granted,
      waitMs,
      used,
      younger: this.#younger(request, now),
      pausedMs,
      rateFactor: this.#rate.factor,
    };
  }

  #write({ permits, leaseMs, windows }: Request, now: number): void {
    const longestMs = Math.max(...windows.map(({ countedMs }) => countedMs));
    this.#longestLeaseMs = Math.max(this.#longestLeaseMs, leaseMs);
    for (const [id, { at }] of this.#permits) if (at <= now - longestMs) this.#permits.delete(id);
    for (const [id, isLast, state] of permits) {
      if (state !== "unsent") {
        const at = state === "in flight" ? now + leaseMs : now - state;
        this.#permits.set(id, { isLast, at: Math.min(at, now + this.#longestLeaseMs) });
        continue;
      }
      this.#permits.delete(id);
      this.#taken = this.#taken.filter((permit) => permit.id !== id);
    }
  }

  #report({ succeeded, refusedForMs }: Request, now: number): void {
    const rate = this.#rate;
    rate.factor = Math.min(1, rate.factor + succeeded / 200);
    if (refusedForMs === undefined) return;
    if (rate.pausedUntil <= now && now - rate.slowedAt >= 500) {
      rate.slowedAt = Math.floor(now);
      rate.factor = Math.max(1 / 64, rate.factor / 2);
    }
    rate.pausedUntil = Math.max(rate.pausedUntil, Math.ceil(now + refusedForMs));
  }

  #used({ windows }: Request, now: number): { used: number[]; usedByOthers: number[] } {
    const [used, usedByOthers] = [windows.map(() => 0), windows.map(() => 0)];
    for (const { at, isLast } of this.#permits.values()) {
      for (const [index, { countedMs, limit }] of windows.entries()) {
        if (at <= now - countedMs) continue;
        used[index] = Math.min(limit, used[index]! + 1);
        if (!isLast) usedByOthers[index] = Math.min(limit, usedByOthers[index]! + 1);
      }
    }
    return { used, usedByOthers };
  }

  /** How many are younger than a sixth of each window, than two sixths, and so on. */
  #younger({ windows }: Request, now: number): ScriptReply["younger"] {
    const permits = [...this.#permits.values()];
    return windows.flatMap(({ countedMs, limit }) =>
      [1, 2, 3, 4, 5, 6].map((sixths) => {
        const ageMs = (sixths * countedMs) / 6;
        const younger = permits.filter(({ at }) => at > now - ageMs);
        const byOthers = younger.filter(({ isLast }) => !isLast);
        return [ageMs, Math.min(limit, younger.length), Math.min(limit, byOthers.length)] as const;
      }),
    );
  }

  /**
   * How much later than now a permit may be taken, after one that was taken at a time: ten permits are as far apart as ten of
   * an even pace. It is the pace, when that permit is taken, which nothing at the next 24 full parts of the window forbids.
   */
  #turnMs(share: number, countedMs: number, now: number): ((takenAt: number) => number) | undefined {
    const last = [...this.#permits.values()].filter(({ isLast }) => isLast);
    const usedIn = (ms: number): number => last.filter(({ at }) => at > now - ms).length;
    if (usedIn(countedMs) < share / 2) return undefined;
    const partMs = countedMs / 24;
    const parts = Array.from({ length: 24 }, (_, index) => (Math.floor(now / partMs) + 1 + index) * partMs);
    const looks = parts.map((at) => ({ inMs: at - now, left: share - usedIn(countedMs - (at - now)) }));
    return (takenAt) => {
      // After so long w: ten permits in (now - takenAt + w) are no more than `left` in (inMs - w).
      const waits = looks.map(({ inMs, left }) => {
        const some = Math.max(0, left);
        return (10 * inMs - some * (now - takenAt)) / (10 + some);
      });
      const slowest = (100 * countedMs) / share - (now - takenAt);
      return Math.ceil(Math.min(slowest, Math.max(0, ...waits)));
    };
  }

  /** The processes that go first: those of its class that wait longer, and before priority 9 all of the others. */
  #waitingBefore(request: Request, now: number, dueBy = Infinity): number {
    const live = this.#waiting.filter(({ dueAt }) => dueAt + 1_000 >= now);
    const own = live.findIndex((waiter) => isSame(waiter, request));
    const sameClass = (own === -1 ? live : live.slice(0, own)).filter(
      ({ isLast }) => isLast === request.isLast,
    );
    const before = [...sameClass, ...(request.isLast ? live.filter(({ isLast }) => !isLast) : [])];
    return before.filter(({ dueAt }) => dueAt <= dueBy).length;
  }

  /** A process that waits already keeps its turn. */
  #wait({ process, isLast }: Request, dueAt: number, now: number): void {
    this.#waiting = this.#waiting.filter((waiter) => waiter.dueAt + 1_000 >= now);
    const own = this.#waiting.find((waiter) => isSame(waiter, { process, isLast }));
    if (own) own.dueAt = dueAt;
    else this.#waiting.push({ process, isLast, dueAt });
  }

  /** The time until each window has room for one more beside those that go first, and priority 9 its turn. */
  #waitMs({ windows }: Request, { used, rooms, turnMs, ahead, hasReserve }: Turn, now: number): number {
    const waits = windows.map(({ countedMs }, index) => {
      const room = Math.max(1, rooms[index]! - ahead);
      const times: number[] = [];
      for (const { at } of this.#permits.values()) if (at > now - countedMs) times.push(at);
      const newestFirst = times.sort((a, b) => b - a);
      const leavesInMs = (at: number): number => Math.min(at, now) + countedMs - now;
      let waitMs = used[index]! < room ? 0 : leavesInMs(newestFirst[room - 1]!);
      if (index === windows.length - 1 && turnMs && this.#taken.length === 10)
        waitMs = Math.max(waitMs, turnMs(this.#taken[0]!.at));
      const next = newestFirst[used[index]! - 1];
      return hasReserve && next !== undefined ? Math.min(waitMs, leavesInMs(next)) : waitMs;
    });
    return Math.max(0, ...waits);
  }
}

interface Turn {
  readonly used: number[];
  readonly rooms: number[];
  readonly turnMs: ((takenAt: number) => number) | undefined;
  readonly ahead: number;
  readonly hasReserve: boolean;
}

type Waiter = Pick<Request, "process" | "isLast">;

function isSame(waiter: Waiter, { process, isLast }: Waiter): boolean {
  return waiter.process === process && waiter.isLast === isLast;
}

/** What priority 9 leaves of each window: a share, or what the others use and a tenth more, but one permit at least remains. */
function keptPermits(limits: readonly number[], usedByOthers: readonly number[], reserve: number): number[] {
  // A product such as 0.07 · 100 is not exact.
  return limits.map((limit, index) =>
    Math.min(limit - 1, Math.ceil(Math.max(reserve * limit - 1e-9, (usedByOthers[index]! * 11) / 10))),
  );
}
