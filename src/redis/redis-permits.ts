import { Allowance } from "../rate-limiter/reserve.ts";
import { type CountedPermit, type Release, SlidingWindowLog } from "../rate-limiter/sliding-window-log.ts";
import type { Ask, Known, PermitStore, RateLimitStore, Reply, StoreUser } from "../rate-limiter/store.ts";
import { startTimer } from "../timer.ts";
import {
  permitsElsewhere,
  type RunScript,
  type ScriptReply,
  type ScriptRequest,
  Unreported,
} from "./permit-report.ts";

/** An unavailable Redis is tried again after this time, and an idle process contacts Redis at least every two of it. */
const retryIntervalMs = 1_000;
const replyTimeoutMs = 1_000;
// More permits would only be returned unused.
const maxPerRequest = 100;

interface LastReply {
  readonly at: number;
  readonly data: string;
  readonly elsewhere: readonly CountedPermit[];
}

interface Outage {
  readonly reason: string;
  /** Redis replies again, and has this process's permits: those of the others come within the next retry. */
  readonly isEnding: boolean;
}

/**
 * The permits of one limiter, granted by Redis, or in an outage by the share of this process. The requests to Redis go one
 * after the other: each writes what has changed, and some ask for permits.
 */
export class RedisPermits implements PermitStore {
  readonly #runScript: RunScript;
  readonly #settings: Omit<RateLimitStore, "open">;
  readonly #user: StoreUser;
  readonly #windows: ScriptRequest["windows"];
  readonly #unreported = new Unreported();
  readonly #name = crypto.randomUUID();
  #isBeating = false;
  #lastReply: LastReply | undefined;
  #outage: Outage | undefined;
  #lastRequest: Promise<unknown> = Promise.resolve();

  constructor(runScript: RunScript, settings: Omit<RateLimitStore, "open">, user: StoreUser) {
    this.#runScript = runScript;
    this.#settings = settings;
    this.#user = user;
    const { countedMs, windows } = user.log;
    this.#windows = windows.map((window, index) => ({ ...window, countedMs: countedMs[index]! }));
    this.#unreported.addPermits(this.#ownPermits(user.clock()));
  }

  take(ask: Ask, now: number): Reply | Promise<Reply> {
    this.#keepBeating();
    const refusal = this.#outageRefusal;
    if (refusal !== undefined) return { permits: [], waitMs: retryIntervalMs, refusal };
    const { log, rate, reserve } = this.#user;
    const pausedMs = rate.pausedMs(now);
    if (pausedMs > 0) return { permits: [], waitMs: pausedMs };
    if (!this.#outage) return this.#takeFromRedis(ask);
    const { calls, isLast } = ask;
    const allowance = new Allowance(log, this.#localLimits, isLast ? reserve() : 0, now);
    return allowance.takeAll(calls, now, () => this.#hold(crypto.randomUUID(), isLast, now));
  }

  async #takeFromRedis({ calls, isLast }: Ask): Promise<Reply> {
    const ids = Array.from({ length: Math.min(calls, maxPerRequest) }, () => crypto.randomUUID());
    const reply = await this.#inTurn(async () =>
      this.#outage ? undefined : await this.#request(ids, isLast),
    );
    const now = this.#user.clock();
    // In an outage there is an answer at once.
    if (!reply) return this.take({ calls, isLast }, now);
    // At least 1 ms: an early request finds no permit.
    const waitMs = reply.permits.length < calls ? Math.max(1, reply.waitMs) : 0;
    return { permits: reply.permits, waitMs };
  }

  /** A permit that is in flight from now on. */
  #hold(id: string, isLast: boolean, now: number): Release {
    const { log } = this.#user;
    const permit = log.take({ isLast, id }, now);
    return (use, releasedAt) => {
      log.release(permit, use, releasedAt);
      this.#unreported.addPermits([id]);
      this.#write();
      if (this.#outage) this.#user.onChange();
    };
  }

  known(now: number): Known {
    const { log, rate } = this.#user;
    const startAt = now + (this.#outageRefusal === undefined ? rate.pausedMs(now) : retryIntervalMs);
    if (this.warning !== undefined) return { log, limits: this.#localLimits, startAt };
    const permits = [...log.permits(now), ...(this.#lastReply?.elsewhere ?? [])];
    return { log: new SlidingWindowLog(log.windows, permits), limits: rate.limits(), startAt };
  }

  /** Redis is told of successes with the next request, and of a refusal at once. */
  tell(change: "refused" | "succeeded", now: number): void {
    const { rate } = this.#user;
    if (change === "succeeded") this.#unreported.succeeded += 1;
    else this.#unreported.refusedUntil = Math.max(this.#unreported.refusedUntil, now + rate.pausedMs(now));
    this.#write();
  }

  async settled(): Promise<void> {
    await this.#lastRequest;
    // Permits whose calls have left meanwhile are given back in this turn of the event loop.
    await new Promise((resolve) => void setTimeout(resolve));
    await this.#lastRequest;
  }

  get warning(): string | undefined {
    if (!this.#outage || this.#outageRefusal !== undefined) return undefined;
    return `the rate limit store is unavailable: ${this.#outage.reason}; this process continues with its share`;
  }

  /** Why calls are refused, while Redis is unavailable. */
  get #outageRefusal(): string | undefined {
    const { onUnavailable, localShare } = this.#settings;
    if (!this.#outage) return undefined;
    const message = `The rate limit store is unavailable: ${this.#outage.reason}.`;
    if (onUnavailable === "reject") return message;
    if (this.#user.log.windows.every(({ limit }) => limit * localShare >= 1)) return undefined;
    return `${message} \`localShare\` of a limit is less than one permit.`;
  }

  get #localLimits(): readonly number[] {
    return this.#user.rate.limits(this.#settings.localShare);
  }

  #ownPermits(now: number): string[] {
    return this.#user.log.permits(now).map(({ id }) => id);
  }

  /** From the first call on, until the limiter is garbage-collected: for leases, the count of the others, and the end of an outage. */
  #keepBeating(): void {
    if (this.#isBeating) return;
    this.#isBeating = true;
    // A lease outlives a lost beat.
    const everyMs = Math.min(retryIntervalMs, this.#settings.leaseMs / 5);
    const reference = new WeakRef(this);
    const beatLater = (): void =>
      void inBackground(() => void reference.deref()?.beat(everyMs).then(beatLater), everyMs);
    beatLater();
  }

  /** Contacts Redis, if it was not contacted just before. */
  async beat(everyMs: number): Promise<void> {
    const isRecent = this.#lastReply && this.#user.clock() - this.#lastReply.at < 1.5 * everyMs;
    if (this.#outage || !isRecent) await this.#inTurn(() => this.#request());
  }

  /** Writes what has changed, unless an earlier request does so; in an outage the first request after it does. */
  #write(): void {
    void this.#inTurn(async () => {
      if (!this.#outage && this.#unreported.isUrgent) await this.#request();
    });
  }

  #inTurn<Result>(request: () => Promise<Result>): Promise<Result> {
    const reply = this.#lastRequest.then(request);
    this.#lastRequest = reply;
    return reply;
  }

  /** Sends one request to Redis; undefined if it is unavailable. */
  async #request(ids: readonly string[] = [], isLast = false): Promise<Reply | undefined> {
    const sentAt = this.#user.clock();
    const report = this.#unreported.report(this.#user.log, sentAt);
    const [{ leaseMs }, reserve] = [this.#settings, this.#user.reserve()];
    const request = { windows: this.#windows, leaseMs, ...report, process: this.#name, ids, isLast, reserve };
    // Redis may carry out a late request after newer ones, or not at all.
    const writeAgain = () => this.#unreported.addPermits([...report.permits.map(([id]) => id), ...ids]);
    try {
      return this.#onReply(request, await replyWithin(this.#runScript(request), writeAgain), sentAt);
    } catch (error) {
      writeAgain();
      this.#unreported.failed(request, sentAt);
      const isNewOutage = !this.#outage;
      // Safe: the error is of the Redis client, or its timeout.
      this.#outage = { reason: (error as Error).message, isEnding: false };
      if (isNewOutage) this.#user.onChange();
    }
  }

  #onReply({ ids, isLast, leaseMs }: ScriptRequest, reply: ScriptReply, sentAt: number): Reply {
    const { clock, log, rate } = this.#user;
    const now = clock();
    const hasLostData = this.#lastReply !== undefined && this.#lastReply.data !== reply.data;
    const granted = ids.slice(0, reply.granted);
    // A Redis that has lost data first gets the permits of this process; a suspended process has lost its leases; and a 429
    // may have come meanwhile.
    const isVoid = hasLostData || now > sentAt + leaseMs / 2 || rate.pausedMs(now) > 0;
    if (hasLostData) this.#unreported.addPermits(this.#ownPermits(now));
    const permits = isVoid ? [] : granted.map((id) => this.#hold(id, isLast, now));
    this.#lastReply = { at: now, data: reply.data, elsewhere: permitsElsewhere(reply, log, now) };
    const isBack = this.#outage?.isEnding === true;
    this.#outage = this.#outage && !isBack ? { ...this.#outage, isEnding: true } : undefined;
    // A reply from before the report of a 429 does not know of it.
    rate.factor = Math.min(reply.rateFactor, this.#unreported.refusedUntil === -Infinity ? 1 : rate.factor);
    rate.pause(now, reply.pausedMs);
    if (isVoid) {
      this.#unreported.addPermits(granted);
      this.#write();
    }
    const waitMs = isVoid ? 1 : reply.waitMs;
    // A permit may be available earlier than Redis has said.
    const hasRoom = rate.limits().every((limit, index) => reply.used[index]! < limit);
    if (isBack || (ids.length === 0 && hasRoom)) this.#user.onChange();
    return { permits, waitMs };
  }
}

/** Rejects after a second without a reply; `onLate` is called once it comes after that. */
function replyWithin(reply: Promise<ScriptReply>, onLate: () => void): Promise<ScriptReply> {
  return new Promise((resolve, reject) => {
    const fail = (): void => {
      reject(new Error(`no reply within ${replyTimeoutMs} ms`));
      void reply.then(onLate, onLate);
    };
    const cancelTimer = startTimer(fail, replyTimeoutMs, inBackground);
    void reply.then(resolve, reject).finally(cancelTimer);
  });
}

/** A timeout that does not keep the process alive. */
function inBackground(callback: () => void, delayMs: number): ReturnType<typeof setTimeout> {
  const timer = setTimeout(callback, delayMs);
  // Where timers are numbers (browsers, edge runtimes), they do not keep the process alive.
  if (typeof timer === "object") timer?.unref();
  return timer;
}
