import { isAdaptive } from "../rate-limiter/adaptive-rate.ts";
import { widenedMs } from "../rate-limiter/sliding-window-log.ts";
import type { RateLimitStore, StoreUser } from "../rate-limiter/store.ts";
import { KnownPermits, type OwnState } from "./known-permits.ts";
import { LocalFallback } from "./local-fallback.ts";
import {
  heartbeatMs,
  inBackground,
  isReply,
  recoveryMs,
  replyTimeoutMs,
  retryIntervalMs,
  withTimeout,
  type PermitScripts,
  type ScriptReply,
  type ScriptRequest,
} from "./script-protocol.ts";

export type StoreSettings = Omit<RateLimitStore, "open">;

// Redis reserves available permits for other processes no longer than this.
const maxReservedMs = 1_000;
// All others return this long after the first: a timeout, the interval to the next attempt, and its latency (D51).
const othersReturnWithinMs = replyTimeoutMs + retryIntervalMs + 500;

/** The connection of one limiter to Redis: the permits it is granted, the states it reports, and each outage. */
export class RedisConnection {
  readonly permits: KnownPermits;
  outage: LocalFallback | undefined;
  /** Resolves when Redis has replied to the reports so far, or has failed. */
  reported: Promise<unknown> = Promise.resolve();
  /** Successes for the next release to report. */
  succeeded = 0;
  readonly #scripts: PermitScripts;
  readonly #user: StoreUser;
  readonly #settings: StoreSettings;
  #request: ScriptRequest;
  /** Until when a 429 pauses all processes, for the next release to report. */
  #refusedUntil = -Infinity;
  #refusalsUnderWay = 0;
  /** The time that Redis named for the next request; and the earliest one after its return, as others may be late. */
  #retryAt = -Infinity;
  #notBefore = -Infinity;
  /** Redis may not know all permits of this process: they are written back before the next request. */
  #mustWriteBack: boolean;
  /** When this process last returned to Redis, or found that Redis had lost its data. */
  #recoversSince = -Infinity;
  /** A Redis that lost its data does not know the other processes either: one may have started since the last reply. */
  #othersUnknownUntil = -Infinity;

  constructor(scripts: PermitScripts, settings: StoreSettings, user: StoreUser) {
    const windows = user.windows.map((window) => ({
      limit: window.limit,
      countedMs: widenedMs(window.intervalMs),
      isAdaptive: isAdaptive(window, user.windows),
    }));
    this.#scripts = scripts;
    this.#user = user;
    this.#settings = settings;
    this.permits = new KnownPermits(user);
    const { leaseMs } = settings;
    this.#request = { process: this.permits.name, windows, epoch: undefined, leaseMs };
    this.#mustWriteBack = user.restored.length > 0;
  }

  recordRefusal(pausedUntil: number): void {
    this.#refusedUntil = Math.max(this.#refusedUntil, pausedUntil);
  }

  /** The time until Redis can be asked for permits. */
  waitMs(now: number): number {
    return Math.max(0, this.#retryAt - now, this.#notBefore - now);
  }

  /** Asks Redis for so many permits; resolves with the ids of those that it granted. */
  async acquire(wanted: number): Promise<string[]> {
    const { clock } = this.#user;
    if (this.#mustWriteBack) {
      this.#mustWriteBack = !(await this.#write(this.permits.all(clock())));
      return [];
    }
    const ids = Array.from({ length: wanted }, () => this.permits.newId());
    const requestedAt = clock();
    const onLate = (): void => {
      this.permits.markUnsent(ids);
      this.report(ids);
    };
    const reply = await this.#ask(
      () => this.#scripts.acquire({ ...this.#request, ids }),
      ["granted", "waitMs"],
      onLate,
    );
    if (!reply) {
      // Redis may have granted them, though the reply was lost.
      this.permits.markUnsent(ids);
      return [];
    }
    const now = clock();
    const granted = ids.slice(0, reply.granted);
    for (const id of granted) this.permits.hold(id);
    // At least 1 ms: an early request finds no permit.
    if (reply.granted < wanted) this.#retryAt = now + Math.max(1, reply.waitMs);
    this.#onReply(reply, now);
    if (!this.outage && now <= requestedAt + this.#settings.leaseMs / 2) return granted;
    // In an outage, or after the process was suspended: the leases of the permits may have expired.
    this.returnUnused(granted);
    return [];
  }

  returnUnused(ids: readonly string[]): void {
    for (const id of ids) this.permits.release(id, "unsent", this.#user.clock());
    if (ids.length > 0) this.report(ids);
  }

  /** Reports the states of these permits; while Redis is unavailable, after its return. */
  report(ids: readonly string[]): void {
    if (this.outage) return;
    const before = this.reported;
    this.reported = this.#write(this.permits.some(ids)).then(() => before);
  }

  /** Renews the leases and shows that this process is alive, unless it has just contacted Redis. */
  heartbeat(): void {
    const now = this.#user.clock();
    this.permits.forget(now);
    const { inFlight } = this.permits;
    if (inFlight.length > 0 || now - this.permits.seenAt >= heartbeatMs / 2) this.report(inFlight);
  }

  /** Reports permits; resolves with whether Redis has stored them. */
  async #write(states: ReadonlyMap<string, OwnState>): Promise<boolean> {
    const reply = await this.#send(states, false);
    if (!reply) return false;
    this.permits.acknowledge(states);
    this.#onReply(reply, this.#user.clock(), true);
    this.#user.onChange();
    return true;
  }

  /** Reports permits, and the successes and refusals until now; after a failure these are reported with the next ones. */
  async #send(states: ReadonlyMap<string, OwnState>, isReturning: boolean): Promise<ScriptReply | undefined> {
    const now = this.#user.clock();
    const permits = Array.from(
      states,
      ([id, state]) => [id, typeof state === "number" ? now - state : state] as const,
    );
    const [succeeded, refusedUntil] = [this.succeeded, this.#refusedUntil];
    const isRefusal = refusedUntil > -Infinity;
    this.succeeded = 0;
    this.#refusedUntil = -Infinity;
    this.#refusalsUnderWay += Number(isRefusal);
    // Even after its pause, a 429 halves the rate.
    const refusal = isRefusal && { refusedForMs: Math.max(0, refusedUntil - now) };
    const request = { ...this.#request, permits, succeeded, ...refusal, isReturning };
    const reply = await this.#ask(() => this.#scripts.release(request));
    this.#refusalsUnderWay -= Number(isRefusal);
    if (!reply) {
      this.succeeded += succeeded;
      this.recordRefusal(refusedUntil);
    }
    return reply;
  }

  /** The reply of a script, with these figures; undefined if Redis is unavailable. */
  async #ask<Reply extends ScriptReply>(
    call: () => Promise<Reply>,
    figures: readonly (keyof Reply)[] = [],
    onLate?: () => void,
  ): Promise<Reply | undefined> {
    try {
      const reply = await withTimeout(call, onLate);
      if (isReply(reply, this.#request.windows.length, figures)) return reply;
      throw new Error("an invalid reply");
    } catch (error) {
      this.#onFailure(error);
      return undefined;
    }
  }

  #onReply(reply: ScriptReply, now: number, isRelease = false): void {
    const { rate } = this.#user;
    const { epoch } = this.#request;
    // Another epoch: Redis has lost the permits of this process, or never had them.
    const hasForgotten = epoch !== undefined && reply.epoch !== epoch;
    if (hasForgotten) {
      this.#recoversSince = now;
      this.#othersUnknownUntil = now + recoveryMs;
      this.permits.recover(now);
    }
    this.#request = { ...this.#request, epoch: reply.epoch };
    this.permits.update(reply, now);
    // A reply from before the report of a 429 does not include it.
    const hasRefusal = this.#refusedUntil > -Infinity || this.#refusalsUnderWay > 0;
    rate.factor = hasRefusal ? Math.min(reply.rateFactor, rate.factor) : reply.rateFactor;
    rate.pause(now, reply.pausedMs);
    // The reply to a release may show permits that are available earlier than Redis expected.
    const isEarlier = isRelease && rate.limits.every((limit, index) => reply.used[index]! < limit);
    if (isEarlier && this.#retryAt > now + maxReservedMs) this.#retryAt = now;
    if (hasForgotten && !this.outage) void this.#write(this.permits.all(now));
  }

  /** Redis is unavailable: from now on `onUnavailable` applies, and Redis is tried each second. */
  #onFailure(error: unknown): void {
    const reason = error instanceof Error ? error.message : "no reason given";
    if (!this.outage) {
      const { permits } = this;
      const hasOthers = permits.otherProcesses > 0 || this.#user.clock() < this.#othersUnknownUntil;
      this.outage = new LocalFallback(this.#user, permits, { share: this.#settings.localShare, hasOthers });
      void this.#tryUntilBack(this.outage);
    }
    this.outage.reason = reason;
    this.#user.onChange();
  }

  async #tryUntilBack(outage: LocalFallback): Promise<void> {
    let isBack = false;
    while (!isBack) {
      await new Promise<void>((resolve) => void inBackground(retryIntervalMs, resolve));
      isBack = await this.#tryToReturn(outage);
    }
    this.#user.onChange();
  }

  /** Returns to Redis, if it can be reached: first it gets all permits of this process. */
  async #tryToReturn(outage: LocalFallback): Promise<boolean> {
    const { clock } = this.#user;
    // Redis must not begin a recovery whose reply is lost (D51).
    const ping = { ...this.#request, epoch: undefined, permits: [], succeeded: 0, isReturning: false };
    if (!(await this.#ask(() => this.#scripts.release(ping)))) return false;
    // A short gap in which nothing was sent needs no recovery.
    const isReturning = outage.acquired > 0 || clock() - outage.since > 2 * heartbeatMs;
    const states = this.permits.all(clock());
    const reply = await this.#send(states, isReturning);
    if (!reply) return false;
    const now = clock();
    this.outage = undefined;
    this.#mustWriteBack = false;
    const changed = this.permits.acknowledge(states);
    if (changed.length > 0) this.report(changed);
    this.#onReply(reply, now, true);
    // Others may have missed a brief contact: they may still continue alone, or have permits that Redis has lost.
    const hadBriefContact = outage.since < this.#recoversSince + recoveryMs;
    this.#notBefore = now + (isReturning || hadBriefContact ? othersReturnWithinMs : 0);
    this.#recoversSince = now;
    if (isReturning) this.permits.recover(now, outage.leftToOthers(now));
    return true;
  }
}
