import type { RateLimitWindow } from "../errors.ts";
import { isAdaptive, limitsInForce, type AdaptiveRate } from "../rate-limiter/adaptive-rate.ts";
import { MeanRoundTrip, type Estimate } from "../rate-limiter/estimate.ts";
import { countsFrom, createPermit, type Permit, type PermitUse } from "../rate-limiter/permit.ts";
import { widenedMs, type WindowUsage } from "../rate-limiter/sliding-window-log.ts";
import type { AbsenceObserver, PermitStore, StoreUser } from "../rate-limiter/store.ts";
import { repeatWhileAlive } from "./background-timer.ts";
import { LocalFallback } from "./local-fallback.ts";
import { OwnPermits } from "./own-permits.ts";
import { PermitGrants } from "./permit-grants.ts";
import { heartbeatMs, type PermitScripts, type ScriptReply, type ScriptRequest } from "./permit-scripts.ts";
import { PermitWriter } from "./permit-writer.ts";
import { ScriptCalls } from "./script-calls.ts";
import { SharedCount } from "./shared-count.ts";
import { Unavailability } from "./unavailability.ts";

/** The settings of a store. */
export interface StoreSettings {
  readonly onUnavailable: "local" | "reject";
  readonly localShare: number;
  readonly leaseMs: number;
}

/** The permits of one limiter, granted by Redis, or by the local fallback while Redis is unavailable. */
export class RedisPermits implements PermitStore {
  readonly #user: StoreUser;
  readonly #settings: StoreSettings;
  readonly #calls: ScriptCalls;
  readonly #windows: ScriptRequest["windows"];
  readonly #own: OwnPermits;
  readonly #count: SharedCount;
  readonly #writer: PermitWriter;
  readonly #grants: PermitGrants;
  readonly #unavailability: Unavailability;
  readonly #roundTrip = new MeanRoundTrip();
  #epoch: string | undefined;
  #contactAt = 0;
  /** The number of other processes at the last contact. */
  #others = 0;
  #hasHeartbeat = false;

  constructor(scripts: PermitScripts, settings: StoreSettings, user: StoreUser) {
    const { windows, restored } = user;
    this.#user = user;
    this.#settings = settings;
    this.#calls = new ScriptCalls(scripts, windows.length);
    this.#windows = windows.map((window) => ({
      limit: window.limit,
      countedMs: widenedMs(window.intervalMs),
      isAdaptive: isAdaptive(window, windows),
    }));
    this.#own = new OwnPermits(windows, restored);
    this.#count = new SharedCount(windows, this.#own);
    const { clock } = user;
    const request = (): ScriptRequest => this.#request;
    const shared = { calls: this.#calls, own: this.#own, clock, request };
    this.#writer = new PermitWriter({
      ...shared,
      onReply: (reply) => this.#onReleaseReply(reply),
      onFailure: (reason) => this.#onFailure(reason),
    });
    this.#grants = new PermitGrants({
      ...shared,
      writer: this.#writer,
      isUnavailable: () => this.#fallback !== undefined,
      onReply: (reply) => this.#onReply(reply),
      onFailure: (reason) => this.#onFailure(reason),
      onChange: user.onChange,
    });
    this.#unavailability = new Unavailability({
      onUnavailable: settings.onUnavailable,
      clock,
      writer: this.#writer,
      onReturn: (fallback, { isReturning, resumeAt }) => {
        if (isReturning) this.#count.leavesToOthers(fallback.leftToOthers(clock()), clock());
        this.#grants.resumeAt(resumeAt);
      },
    });
  }

  available(now: number): number {
    if (this.#rate.pausedMs(now) > 0 || this.refusal()) return 0;
    return this.#fallback?.available(now, this.#rate.factor) ?? this.#grants.size;
  }

  acquire(now: number): Permit {
    const fallback = this.#fallback;
    // The fallback has no granted ids; a new one is reported to Redis later.
    const id = this.#grants.shift() ?? this.#own.newId();
    fallback?.acquire();
    this.#own.hold(id);
    return createPermit((use) => {
      fallback?.release(use, this.#user.clock());
      this.#release(id, use, now);
    });
  }

  demand(calls: number, now: number): void {
    this.#startHeartbeat();
    this.#grants.demand(this.#rate.pausedMs(now) > 0 ? 0 : calls, now);
  }

  nextAvailableInMs(now: number): number | undefined {
    const pausedMs = this.#rate.pausedMs(now);
    const fallback = this.#fallback;
    if (fallback) return Math.max(pausedMs, fallback.nextAvailableInMs(now, this.#rate.factor));
    return Math.max(pausedMs, this.#grants.waitMs(now)) || undefined;
  }

  refusal(): string | undefined {
    return this.#unavailability.refusal;
  }

  observe(observer: AbsenceObserver, permit: Permit | Promise<Permit>): void {
    this.#unavailability.observe(observer, permit);
  }

  estimate(now: number): Estimate {
    const startsInMs = this.nextAvailableInMs(now) ?? 0;
    const outlook = { roundTripMs: this.#roundTrip.ms, startsInMs, rateFactor: this.#rate.factor };
    return (this.#fallback ?? this.#count).estimate(now, outlook);
  }

  limitingWindow(position: number, now: number): RateLimitWindow {
    return this.#count.limitingWindow(position, now);
  }

  usage(now: number): WindowUsage[] {
    const { factor } = this.#rate;
    if (this.#fallback && !this.refusal()) return this.#fallback.usage(now, factor);
    return this.#count.usage(now, this.#grants.waitMs(now), factor);
  }

  get inFlight(): number {
    return this.#own.log.inFlight;
  }

  refused(now: number, retryAfterMs: number | undefined): void {
    this.#rate.refused(now, retryAfterMs);
    this.#writer.recordRefusal(now + this.#rate.pausedMs(now));
    this.#report([]);
    this.#user.onChange();
  }

  succeeded(): void {
    if (this.#rate.factor === 1) return;
    this.#rate.succeeded();
    this.#writer.recordSuccess();
  }

  entries(now: number): [id: string, respondedAt: number | undefined][] {
    return [...this.#own.all(now)].flatMap(([id, state]) =>
      state === "unsent" ? [] : [[id, state === "in flight" ? undefined : state]],
    );
  }

  get #rate(): AdaptiveRate {
    return this.#user.rate;
  }

  get #fallback() {
    return this.#unavailability.fallback;
  }

  get #request(): ScriptRequest {
    const { leaseMs } = this.#settings;
    return { process: this.#own.name, windows: this.#windows, epoch: this.#epoch, leaseMs };
  }

  #release(id: string, use: PermitUse, acquiredAt: number): void {
    const now = this.#user.clock();
    if (use === "responded") this.#roundTrip.add(now - acquiredAt);
    this.#own.release(id, use === "unsent" ? use : countsFrom(use, now));
    this.#report([id]);
    this.#user.onChange();
  }

  /** Reports the states of these permits; while Redis is unavailable, after its return. */
  #report(ids: readonly string[]): void {
    if (!this.#fallback) this.#writer.report(ids);
  }

  #onReply(reply: ScriptReply): void {
    const { clock, rate, onChange } = this.#user;
    const now = clock();
    // Another epoch: Redis has lost the permits of this process, or never had them.
    const hasForgotten = this.#epoch !== undefined && reply.epoch !== this.#epoch;
    if (hasForgotten) this.#count.outlastsMemory(now);
    this.#epoch = reply.epoch;
    this.#contactAt = now;
    // A Redis that lost its data does not know the other processes yet.
    this.#others = this.#count.isRecovering(now) ? Math.max(this.#others, reply.others) : reply.others;
    this.#count.update(reply.used, this.#grants.size, now);
    // A reply from before the report of a 429 does not include it.
    const { hasRefusal } = this.#writer;
    const factor = hasRefusal ? Math.min(reply.rateFactor, rate.factor) : reply.rateFactor;
    rate.follow(factor, now + reply.pausedMs);
    if (hasForgotten && !this.#fallback) void this.#writer.writeAllBack();
    onChange();
  }

  /** The reply to a release may show permits that are available earlier than expected. */
  #onReleaseReply(reply: ScriptReply): void {
    const now = this.#user.clock();
    const limits = limitsInForce(this.#user.windows, reply.rateFactor);
    const isAvailable = limits.every((limit, index) => reply.used[index]! < limit);
    if (isAvailable) this.#grants.retryNow(now);
    this.#onReply(reply);
  }

  /** Redis is unavailable: from now on `onUnavailable` applies. */
  #onFailure(reason: unknown): void {
    const now = this.#user.clock();
    this.#unavailability.begin(reason, () => this.#countAlone(now));
    this.#user.onChange();
  }

  /** The last known count, and what other processes can have acquired since, count as used. */
  #countAlone(now: number): LocalFallback {
    return new LocalFallback({
      windows: this.#user.windows,
      own: this.#own,
      others: this.#count.others(now),
      seenMsAgo: this.#others > 0 ? now - this.#contactAt : undefined,
      share: this.#settings.localShare,
      now,
    });
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
    if (inFlight.length > 0 || now - this.#contactAt >= heartbeatMs / 2) this.#report(inFlight);
  }
}
