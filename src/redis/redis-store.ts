import { Allowance } from "../rate-limiter/reserve.ts";
import { SlidingWindowLog } from "../rate-limiter/sliding-window-log.ts";
import type { Ask, Known, PermitStore, RateLimitStore, Reply, StoreUser } from "../rate-limiter/store.ts";
import type { RunScript } from "./redis-client.ts";
import { RedisRequests, retryIntervalMs } from "./redis-requests.ts";

export type StoreSettings = Omit<RateLimitStore, "open">;

/** The permits of one limiter, granted by Redis, or in an outage by the share of this process. */
export class RedisStore implements PermitStore {
  readonly #settings: StoreSettings;
  readonly #user: StoreUser;
  readonly #requests: RedisRequests;
  /** Until when there is no permit, as Redis has said: by whether it is of priority 9. */
  readonly #noneUntil = new Map<boolean, number>();
  /** So often in a row there was no permit: other processes wait for the same ones. */
  #missed = 0;

  constructor(run: RunScript, settings: StoreSettings, user: StoreUser) {
    this.#settings = settings;
    this.#user = user;
    this.#requests = new RedisRequests(run, settings.leaseMs, user, () => {
      this.#noneUntil.clear();
      user.onChange();
    });
  }

  take(ask: Ask, now: number): Reply | Promise<Reply> {
    this.#requests.keepBeating();
    const { refusal, warning } = this.#outage();
    if (refusal !== undefined) return { permits: [], waitMs: retryIntervalMs, refusal };
    const isAlone = warning !== undefined;
    const waitMs = Math.max(this.#user.rate.pausedMs(now), isAlone ? 0 : this.#noneMs(ask.isLast, now));
    if (waitMs > 0) return { permits: [], waitMs, warning };
    return isAlone ? { ...this.#takeAlone(ask, now), warning } : this.#takeFromRedis(ask);
  }

  async #takeFromRedis(ask: Ask): Promise<Reply> {
    const grant = await this.#requests.ask(ask);
    const now = this.#user.clock();
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

  #takeAlone({ calls, isLast }: Ask, now: number): Reply {
    const { own } = this.#requests;
    const allowance = new Allowance(
      own,
      this.#user.rate.limitsOf(this.#settings.localShare),
      isLast ? this.#user.reserve() : 0,
      now,
    );
    const permits: Reply["permits"][number][] = [];
    const waitMs = allowance.takeAll(calls, now, () => void permits.push(this.#requests.hold(isLast, now)));
    // By then Redis may be back.
    return { permits, waitMs: Math.min(retryIntervalMs, waitMs) };
  }

  known(now: number): Known {
    const { rate } = this.#user;
    const { failedAt, own } = this.#requests;
    const { refusal, warning } = this.#outage();
    const noneMs = refusal === undefined ? this.#noneMs(false, now) : retryIntervalMs;
    const startAt = now + Math.max(rate.pausedMs(now), noneMs);
    const known = { own, startAt, hadOutage: now - failedAt < Math.max(...own.countedMs) };
    return warning === undefined
      ? { ...known, log: this.#withElsewhere(now), limits: rate.limits }
      : { ...known, log: own, limits: rate.limitsOf(this.#settings.localShare) };
  }

  tell(change: "refused" | "succeeded", now: number): void {
    this.#requests.tell(change, now);
  }

  async settled(): Promise<void> {
    await this.#requests.settled;
    // Permits whose calls have left meanwhile are given back in this turn of the event loop.
    await new Promise((resolve) => void setTimeout(resolve));
    await this.#requests.settled;
  }

  /** The time until a permit of this class is available, as Redis has said. */
  #noneMs(isLast: boolean, now: number): number {
    return Math.max(0, (this.#noneUntil.get(isLast) ?? -Infinity) - now);
  }

  /** Why calls are refused while Redis is unavailable, or what users are told while this process goes on alone. */
  #outage(): Pick<Reply, "refusal" | "warning"> {
    const { outage } = this.#requests;
    if (outage === undefined) return {};
    const message = `rate limit store is unavailable: ${outage.reason}`;
    if (this.#settings.onUnavailable === "reject") return { refusal: `The ${message}.` };
    if (this.#user.windows.some(({ limit }) => limit * this.#settings.localShare < 1))
      return { refusal: `The ${message}. \`localShare\` of a limit is less than one permit.` };
    return { warning: `the ${message}; this process continues with its share` };
  }

  /** The permits of this process, and as many of other processes as Redis last counted, each as young as its window allows. */
  #withElsewhere(now: number): SlidingWindowLog {
    const { own, lastReply } = this.#requests;
    if (!lastReply) return own;
    const permits = [...own.permits(now)];
    const windows = own.windows.map(({ intervalMs }, index) => ({ intervalMs, index }));
    let [counted, ofOthers, respondedAt] = [0, 0, lastReply.at];
    for (const { intervalMs, index } of windows.toSorted((a, b) => a.intervalMs - b.intervalMs)) {
      for (; counted < lastReply.usedElsewhere[index]!; counted += 1) {
        const isLast = ofOthers >= lastReply.usedElsewhereByOthers[index]!;
        if (!isLast) ofOthers += 1;
        permits.push({ isLast, takenAt: respondedAt, respondedAt });
      }
      respondedAt = lastReply.at - intervalMs;
    }
    return new SlidingWindowLog(own.windows, permits);
  }
}
