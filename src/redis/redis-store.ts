import { allowanceOf, availableTo, availableToInMs } from "../rate-limiter/reserve.ts";
import { SlidingWindowLog } from "../rate-limiter/sliding-window-log.ts";
import type { Ask, Known, PermitStore, RateLimitStore, Reply, StoreUser } from "../rate-limiter/store.ts";
import { inBackground } from "./background.ts";
import type { RunScript } from "./redis-client.ts";
import { RedisConnection, retryIntervalMs } from "./redis-connection.ts";

export type StoreSettings = Omit<RateLimitStore, "open">;

/** The permits of one limiter, granted by Redis, or in an outage by the share of this process. */
export class RedisStore implements PermitStore {
  readonly #settings: StoreSettings;
  readonly #user: StoreUser;
  readonly #connection: RedisConnection;
  /** Until when there is no permit, as Redis has said: by whether it is of priority 9. */
  readonly #noneUntil = new Map<boolean, number>();
  /** So often in a row there was no permit: other processes wait for the same ones. */
  #missed = 0;
  #isBeating = false;

  constructor(run: RunScript, settings: StoreSettings, user: StoreUser) {
    this.#settings = settings;
    this.#user = user;
    this.#connection = new RedisConnection(run, settings.leaseMs, user, () => {
      this.#noneUntil.clear();
      user.onChange();
    });
  }

  take(ask: Ask, now: number): Reply | Promise<Reply> {
    this.#beat();
    const { refusal, warning } = this.#outage();
    if (refusal !== undefined) return { permits: [], waitMs: retryIntervalMs, refusal };
    const pausedMs = this.#user.rate.pausedMs(now);
    if (pausedMs > 0) return { permits: [], waitMs: pausedMs, warning };
    if (warning !== undefined) return this.#takeAlone(ask, now, warning);
    const noneMs = this.#noneMs(ask.isLast, now);
    return noneMs > 0 ? { permits: [], waitMs: noneMs } : this.#takeFromRedis(ask);
  }

  async #takeFromRedis(ask: Ask): Promise<Reply> {
    const { clock } = this.#user;
    const grant = await this.#connection.ask(ask);
    const now = clock();
    // In an outage there is an answer at once.
    if (!grant) return this.take(ask, now);
    this.#missed = grant.permits.length > 0 ? 0 : this.#missed + 1;
    // Fifty processes that ask for the next permit at one moment would ask fifty times for each: up to a second apart.
    const apartMs = Math.min(1_000, 2 ** this.#missed) * Math.random();
    // At least 1 ms: an early request finds no permit.
    const waitMs = grant.permits.length < ask.calls ? Math.max(1, grant.waitMs + apartMs) : 0;
    if (waitMs > 0) this.#noneUntil.set(ask.isLast, now + waitMs);
    return { permits: grant.permits, waitMs };
  }

  #takeAlone(ask: Ask, now: number, warning: string): Reply {
    const { own } = this.#connection;
    const reserve = ask.isLast ? this.#user.reserve() : 0;
    const allowance = allowanceOf(own, this.#localLimits(), reserve, now);
    const length = Math.min(ask.calls, availableTo(allowance, own, now));
    const permits = Array.from({ length }, () => this.#connection.hold(ask.isLast, now));
    // By then Redis may be back.
    const waitMs = Math.min(retryIntervalMs, Math.max(1, availableToInMs(allowance, own, now)));
    return { permits, waitMs: length < ask.calls ? waitMs : 0, warning };
  }

  known(now: number): Known {
    const { rate } = this.#user;
    const { own } = this.#connection;
    const { refusal, warning } = this.#outage();
    const noneMs = refusal === undefined ? this.#noneMs(false, now) : retryIntervalMs;
    const startAt = now + Math.max(rate.pausedMs(now), noneMs);
    if (warning !== undefined) return { log: own, own, limits: this.#localLimits(), startAt };
    return { log: this.#withOthers(now), own, limits: rate.limits, startAt };
  }

  tell(change: "refused" | "succeeded", now: number): void {
    this.#connection.tell(change, now);
  }

  async settled(): Promise<void> {
    await this.#connection.settled;
    // Permits whose calls have left meanwhile are given back in this turn of the event loop.
    await new Promise((resolve) => void setTimeout(resolve));
    await this.#connection.settled;
  }

  /** Until a permit of this class is available, as Redis has said, in milliseconds. */
  #noneMs(isLast: boolean, now: number): number {
    return Math.max(0, (this.#noneUntil.get(isLast) ?? -Infinity) - now);
  }

  /** The share of this process of each limit, or less after a 429. */
  #localLimits(): number[] {
    const { rate, windows } = this.#user;
    const { localShare } = this.#settings;
    return rate.limitsOf(
      windows.map((window) => ({ ...window, limit: Math.floor(window.limit * localShare) })),
    );
  }

  /** Why calls are refused while Redis is unavailable, or what users are told while this process goes on alone. */
  #outage(): Pick<Reply, "refusal" | "warning"> {
    const { outage } = this.#connection;
    if (outage === undefined) return {};
    const message = `rate limit store is unavailable: ${outage.reason}`;
    const { onUnavailable, localShare } = this.#settings;
    if (onUnavailable === "reject") return { refusal: `The ${message}.` };
    if (this.#user.windows.some(({ limit }) => limit * localShare < 1))
      return { refusal: `The ${message}. \`localShare\` of a limit is less than one permit.` };
    return { warning: `the ${message}; this process continues with its share` };
  }

  /** The permits of this process, and as many of the others as Redis last counted, each as young as its window allows. */
  #withOthers(now: number): SlidingWindowLog {
    const { own, lastReply } = this.#connection;
    if (!lastReply) return own;
    const permits = [...own.permits(now)];
    let [counted, respondedAt] = [0, lastReply.at];
    const windows = own.windows.map(({ intervalMs }, index) => ({
      intervalMs,
      used: lastReply.usedByOthers[index]!,
    }));
    for (const { intervalMs, used } of windows.toSorted((a, b) => a.intervalMs - b.intervalMs)) {
      for (; counted < used; counted += 1) permits.push({ isLast: true, takenAt: respondedAt, respondedAt });
      respondedAt = lastReply.at - intervalMs;
    }
    return new SlidingWindowLog(own.windows, permits);
  }

  /** From the first call on, until this store is garbage-collected. */
  #beat(): void {
    if (this.#isBeating) return;
    this.#isBeating = true;
    // A lease outlives a lost beat.
    keepBeating(new WeakRef(this.#connection), Math.min(retryIntervalMs, this.#settings.leaseMs / 5));
  }
}

function keepBeating(reference: WeakRef<RedisConnection>, everyMs: number): void {
  inBackground(everyMs, () => {
    const connection = reference.deref();
    void connection?.beat(everyMs).then(() => keepBeating(reference, everyMs));
  });
}
