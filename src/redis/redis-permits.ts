import type { RateLimitWindow } from "../errors.ts";
import { isAdaptive } from "../rate-limiter/adaptive-rate.ts";
import type { Estimate } from "../rate-limiter/estimate.ts";
import { widenedMs, type WindowUsage } from "../rate-limiter/sliding-window-log.ts";
import type { PermitStore, ReleasePermit, StoreUser } from "../rate-limiter/store.ts";
import { LocalFallback } from "./local-fallback.ts";
import { OwnPermits, permitStates, type OwnState } from "./own-permits.ts";
import {
  heartbeatMs,
  inBackground,
  recoveryMs,
  replyTimeoutMs,
  retryIntervalMs,
  ScriptCalls,
  type PermitScripts,
  type ScriptReply,
} from "./permit-scripts.ts";
import { SharedCount } from "./shared-count.ts";

/** The settings of a store. */
export interface StoreSettings {
  readonly onUnavailable: "local" | "reject";
  readonly localShare: number;
  readonly leaseMs: number;
}

/** The time in which Redis is unavailable. */
interface Outage {
  readonly since: number;
  readonly fallback: LocalFallback;
  /** The latest. */
  reason: string;
}

// More permits would only be returned unused.
const maxPerRequest = 100;
// Redis reserves available permits for other processes no longer than this.
const maxReservedMs = 1_000;
// All others return this long after the first: a timeout, the interval to the next attempt, and its latency (D51).
const othersReturnWithinMs = replyTimeoutMs + retryIntervalMs + 500;

/** The permits of one limiter, granted by Redis, or by the local fallback while Redis is unavailable. */
export class RedisPermits implements PermitStore {
  readonly #user: StoreUser;
  readonly #settings: StoreSettings;
  readonly #calls: ScriptCalls;
  readonly #own: OwnPermits;
  readonly #count: SharedCount;
  /** Granted by Redis, but not assigned to a call yet; and the number of calls that wait. */
  #granted: string[] = [];
  #demand = 0;
  #isRequesting = false;
  /** Redis may not know all permits of this process: they are written back before the next request. */
  #mustWriteBack: boolean;
  /** The time that Redis named for the next request; and the earliest one after its return, as others may be late. */
  #retryAt = -Infinity;
  #notBefore = -Infinity;
  #outage: Outage | undefined;
  #backAt = -Infinity;
  #hasHeartbeat = false;

  constructor(scripts: PermitScripts, settings: StoreSettings, user: StoreUser) {
    this.#user = user;
    this.#settings = settings;
    this.#own = new OwnPermits(user.windows, user.restored);
    this.#count = new SharedCount(user.windows, this.#own.log);
    this.#mustWriteBack = this.#own.size > 0;
    const windows = user.windows.map((window) => ({
      limit: window.limit,
      countedMs: widenedMs(window.intervalMs),
      isAdaptive: isAdaptive(window, user.windows),
    }));
    const { leaseMs } = settings;
    this.#calls = new ScriptCalls(scripts, { process: this.#own.name, windows, epoch: undefined, leaseMs });
  }

  get inFlight(): number {
    return this.#own.log.inFlight;
  }

  acquire(now: number): ReleasePermit | undefined {
    if (this.#user.rate.pausedMs(now) > 0 || this.refusal() !== undefined) return undefined;
    const fallback = this.#outage?.fallback;
    if (fallback && fallback.available(now) === 0) return undefined;
    // A permit of the fallback is reported to Redis later.
    const id = fallback ? this.#own.newId() : this.#granted.shift();
    if (id === undefined) return undefined;
    fallback?.acquire();
    this.#own.hold(id);
    return (use, releasedAt) => {
      fallback?.log.release(use, releasedAt);
      this.#own.release(id, use, releasedAt);
      this.#report([id]);
    };
  }

  /** Asks Redis for permits, one request at a time. Unused grants are returned. */
  demand(calls: number, now: number): void {
    this.#startHeartbeat();
    this.#returnUnused(this.#granted.splice(0));
    this.#demand = this.#user.rate.pausedMs(now) > 0 ? 0 : calls;
    if (this.#demand === 0 || this.#waitMs(now) > 0 || this.#isRequesting || this.#outage) return;
    this.#isRequesting = true;
    // One request for all calls that begin to wait in this tick of the event loop.
    void Promise.resolve().then(() => (this.#mustWriteBack ? this.#writeBackFirst() : this.#request()));
  }

  nextAvailableInMs(now: number): number | undefined {
    const pausedMs = this.#user.rate.pausedMs(now);
    if (this.#outage) return Math.max(pausedMs, this.#outage.fallback.nextAvailableInMs(now));
    return Math.max(pausedMs, this.#waitMs(now)) || undefined;
  }

  estimate(now: number, roundTripMs: number): Estimate {
    const startAt = now + (this.nextAvailableInMs(now) ?? 0);
    if (this.#outage) return this.#outage.fallback.estimate(now, roundTripMs, startAt);
    return this.#count.estimate(now, this.#user.rate.limits, roundTripMs, startAt);
  }

  limitingWindow(position: number, now: number): RateLimitWindow {
    return this.#count.limitingWindow(position, now, this.#user.rate.limits);
  }

  usage(now: number): WindowUsage[] {
    if (this.#outage && this.refusal() === undefined) return this.#outage.fallback.usage(now);
    return this.#count.usage(now, this.#user.rate.limits, this.#waitMs(now));
  }

  entries(now: number): [id: string, respondedAt: number | undefined][] {
    return [...this.#own.all(now)].flatMap(([id, state]) =>
      state === "unsent" ? [] : [[id, state === "in flight" ? undefined : state]],
    );
  }

  refused(now: number): void {
    this.#calls.recordRefusal(now + this.#user.rate.pausedMs(now));
    this.#report([]);
  }

  succeeded(): void {
    this.#calls.recordSuccess();
  }

  refusal(): string | undefined {
    if (!this.#outage) return undefined;
    const message = `The rate limit store is unavailable: ${this.#outage.reason}.`;
    const { onUnavailable, localShare } = this.#settings;
    if (onUnavailable === "reject") return message;
    const isTooSmall = this.#user.windows.some(({ limit }) => Math.floor(limit * localShare) < 1);
    return isTooSmall ? `${message} \`localShare\` of a limit is less than one permit.` : undefined;
  }

  warning(): string | undefined {
    if (!this.#outage || this.refusal() !== undefined) return undefined;
    return `the rate limit store is unavailable: ${this.#outage.reason}; this process continues with its share`;
  }

  /** The time until the next request. */
  #waitMs(now: number): number {
    return Math.max(0, this.#retryAt - now, this.#notBefore - now);
  }

  async #writeBackFirst(): Promise<void> {
    this.#mustWriteBack = !(await this.#write(this.#own.all(this.#user.clock())));
    this.#isRequesting = false;
    this.#user.onChange();
  }

  async #request(): Promise<void> {
    const { clock } = this.#user;
    const permits = Math.min(Math.max(1, this.#demand), maxPerRequest);
    const ids = Array.from({ length: permits }, () => this.#own.newId());
    const requestedAt = clock();
    const reply = await this.#calls
      .acquire(ids, () => this.#returnUnused(ids))
      .catch((reason: unknown) => {
        // Redis may have granted them, though the reply was lost.
        this.#own.markUnsent(ids);
        return this.#failed(reason);
      });
    this.#isRequesting = false;
    if (!reply) return;
    const now = clock();
    const granted = ids.slice(0, reply.granted);
    // At least 1 ms: an early request finds no permit.
    if (reply.granted < permits) this.#retryAt = now + Math.max(1, reply.waitMs);
    // The process was suspended: the leases of its permits may have expired.
    if (this.#outage || now > requestedAt + this.#settings.leaseMs / 2) this.#returnUnused(granted);
    else this.#granted = granted;
    this.#replied(reply);
  }

  #returnUnused(ids: readonly string[]): void {
    this.#own.markUnsent(ids);
    if (ids.length > 0) this.#report(ids);
  }

  /** Reports the states of these permits; while Redis is unavailable, after its return. */
  #report(ids: readonly string[]): void {
    if (!this.#outage) void this.#write(this.#own.some(ids));
  }

  /** Reports permits; resolves with whether Redis has stored them. */
  async #write(states: ReadonlyMap<string, OwnState>): Promise<boolean> {
    const stored = await this.#store(states, false);
    if (stored) this.#replied(stored.reply, true);
    return stored !== undefined;
  }

  /** Resolves with the ids that have changed meanwhile; with undefined if Redis is unavailable. */
  async #store(states: ReadonlyMap<string, OwnState>, isReturning: boolean) {
    const now = this.#user.clock();
    try {
      const reply = await this.#calls.release(permitStates(states, now), now, isReturning);
      return { reply, changed: this.#own.acknowledge(states) };
    } catch (reason) {
      return this.#failed(reason);
    }
  }

  #replied(reply: ScriptReply, isRelease = false): void {
    const { clock, rate, onChange } = this.#user;
    const now = clock();
    const { request } = this.#calls;
    // Another epoch: Redis has lost the permits of this process, or never had them.
    const hasForgotten = request.epoch !== undefined && reply.epoch !== request.epoch;
    if (hasForgotten) this.#count.recover(now);
    request.epoch = reply.epoch;
    this.#count.update(reply, this.#granted.length, now);
    // A reply from before the report of a 429 does not include it.
    const factor = this.#calls.hasRefusal ? Math.min(reply.rateFactor, rate.factor) : reply.rateFactor;
    rate.follow(factor, now + reply.pausedMs);
    // The reply to a release may show permits that are available earlier than Redis expected.
    const isEarlier = isRelease && rate.limits.every((limit, index) => reply.used[index]! < limit);
    if (isEarlier && this.#retryAt > now + maxReservedMs) this.#retryAt = now;
    if (hasForgotten && !this.#outage) void this.#write(this.#own.all(now));
    onChange();
  }

  /** Redis is unavailable: from now on `onUnavailable` applies, and Redis is tried each second. */
  #failed(error: unknown): undefined {
    const reason = error instanceof Error ? error.message : "no reason given";
    if (this.#outage) this.#outage.reason = reason;
    else {
      this.#outage = { since: this.#user.clock(), fallback: this.#countAlone(), reason };
      void this.#tryUntilBack(this.#outage);
    }
    this.#user.onChange();
  }

  /** The last known count, and what other processes can have acquired since, count as used. */
  #countAlone(): LocalFallback {
    const { windows, rate, clock } = this.#user;
    const { otherProcesses, seenAt } = this.#count;
    const now = clock();
    return new LocalFallback({
      windows,
      rate,
      own: this.#own.log,
      others: this.#count.others(now),
      seenMsAgo: otherProcesses > 0 ? now - seenAt : undefined,
      share: this.#settings.localShare,
      now,
    });
  }

  async #tryUntilBack(outage: Outage): Promise<void> {
    do await new Promise<void>((resolve) => void inBackground(retryIntervalMs, resolve));
    while (!(await this.#return(outage)));
  }

  /** Returns to Redis, if it can be reached: first it gets all permits of this process. */
  async #return({ since, fallback }: Outage): Promise<boolean> {
    const { clock } = this.#user;
    try {
      // Redis must not begin a recovery whose reply is lost (D51).
      await this.#calls.ping();
    } catch (reason) {
      this.#failed(reason);
      return false;
    }
    // A short gap in which nothing was sent needs no recovery.
    const isReturning = fallback.acquired > 0 || clock() - since > 2 * heartbeatMs;
    const stored = await this.#store(this.#own.all(clock()), isReturning);
    if (!stored) return false;
    const now = clock();
    // Others may have missed a brief contact, and may still continue alone.
    const hadBriefContact = since < this.#backAt + recoveryMs;
    this.#notBefore = now + (isReturning || hadBriefContact ? othersReturnWithinMs : 0);
    this.#outage = undefined;
    this.#backAt = now;
    this.#mustWriteBack = false;
    if (stored.changed.length > 0) this.#report(stored.changed);
    this.#replied(stored.reply, true);
    if (isReturning) this.#count.recover(now, fallback.leftToOthers(now));
    return true;
  }

  /** Heartbeats as long as the limiter exists, so that a Redis that lost its data gets its permits back in time. */
  #startHeartbeat(): void {
    if (this.#hasHeartbeat) return;
    this.#hasHeartbeat = true;
    // Short enough that a lease survives one lost heartbeat.
    const everyMs = Math.min(heartbeatMs, this.#settings.leaseMs / 3);
    repeatWhileAlive(this, everyMs, (permits) => permits.#heartbeat());
  }

  /** Renews the leases and shows that this process is alive, unless it has just contacted Redis. */
  #heartbeat(): void {
    const now = this.#user.clock();
    this.#own.forget(now);
    const { inFlight } = this.#own;
    if (inFlight.length > 0 || now - this.#count.seenAt >= heartbeatMs / 2) this.#report(inFlight);
  }
}

/** Repeats the callback until the owner is garbage-collected. */
function repeatWhileAlive<T extends object>(owner: T, everyMs: number, callback: (owner: T) => void): void {
  const reference = new WeakRef(owner);
  const next = (): void => {
    inBackground(everyMs, () => {
      const alive = reference.deref();
      if (!alive) return;
      callback(alive);
      next();
    });
  };
  next();
}
