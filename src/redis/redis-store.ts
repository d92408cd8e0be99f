import type { RateLimitWindow } from "../errors.ts";
import type { WindowUsage } from "../rate-limiter/sliding-window-log.ts";
import type { PermitStore, RateLimitStore, ReleasePermit, StoreUser } from "../rate-limiter/store.ts";
import { RedisConnection, type StoreSettings } from "./redis-connection.ts";
import { heartbeatMs, inBackground, type PermitScripts } from "./script-protocol.ts";

export function storeOf(scripts: PermitScripts, settings: StoreSettings): RateLimitStore {
  return { ...settings, open: (limiter) => new RedisStore(scripts, settings, limiter) };
}

// More permits would only be returned unused.
const maxPerRequest = 100;

/** The permits of one limiter, granted by Redis, or by the local fallback while Redis is unavailable. */
class RedisStore implements PermitStore {
  readonly #user: StoreUser;
  readonly #settings: StoreSettings;
  readonly #connection: RedisConnection;
  /** Granted by Redis, but not assigned to a call yet; and the number of calls that wait. */
  #granted: string[] = [];
  #demand = 0;
  #request: Promise<void> | undefined;
  #hasHeartbeat = false;

  constructor(scripts: PermitScripts, settings: StoreSettings, user: StoreUser) {
    this.#user = user;
    this.#settings = settings;
    this.#connection = new RedisConnection(scripts, settings, user);
  }

  get inFlight(): number {
    return this.#connection.permits.own.inFlight;
  }

  acquire(now: number): ReleasePermit | undefined {
    if (this.#user.rate.pausedMs(now) > 0 || this.refusal() !== undefined) return undefined;
    const { permits } = this.#connection;
    const fallback = this.#connection.outage?.fallback;
    const id = fallback ? fallback.acquire(now) : this.#granted.shift();
    if (id === undefined) return undefined;
    return (use, releasedAt) => {
      fallback?.release(use, releasedAt);
      permits.release(id, use, releasedAt);
      this.#connection.report([id]);
    };
  }

  /** Asks Redis for permits, one request at a time. Unused grants are returned. */
  demand(calls: number, now: number): void {
    this.#startHeartbeat();
    this.#connection.returnUnused(this.#granted.splice(0));
    this.#demand = this.#user.rate.pausedMs(now) > 0 ? 0 : calls;
    const mustWait = this.#connection.outage !== undefined || this.#connection.waitMs(now) > 0;
    if (this.#demand > 0 && !mustWait) this.#request ??= this.#requestPermits();
  }

  nextAvailableInMs(now: number): number | undefined {
    const pausedMs = this.#user.rate.pausedMs(now);
    const { outage } = this.#connection;
    if (outage) return Math.max(pausedMs, outage.fallback.nextAvailableInMs(now));
    return Math.max(pausedMs, this.#connection.waitMs(now)) || undefined;
  }

  respondedAt(position: number, now: number, roundTripMs: number): number {
    const startAt = now + (this.nextAvailableInMs(now) ?? 0);
    const expected = { limits: this.#user.rate.limits, roundTripMs, startAt };
    const { outage, permits } = this.#connection;
    return (outage?.fallback ?? permits).respondedAt(position, now, expected);
  }

  limitingWindow(position: number, now: number): RateLimitWindow | undefined {
    return this.#connection.permits.limitingWindow(position, now, this.#user.rate.limits);
  }

  usage(now: number): WindowUsage[] {
    const { outage, permits } = this.#connection;
    const isAlone = outage && this.refusal() === undefined;
    const waitMs = isAlone ? outage.fallback.nextAvailableInMs(now) : this.#connection.waitMs(now);
    return permits.usage(now, this.#user.rate.limits, waitMs);
  }

  entries(now: number): [id: string, respondedAt: number | undefined][] {
    return [...this.#connection.permits.all(now)].flatMap(([id, state]) =>
      state === "unsent" ? [] : [[id, state === "in flight" ? undefined : state]],
    );
  }

  refused(now: number): void {
    this.#connection.calls.recordRefusal(now + this.#user.rate.pausedMs(now));
    this.#connection.report([]);
  }

  succeeded(): void {
    this.#connection.calls.recordSuccess();
  }

  refusal(): string | undefined {
    const { outage } = this.#connection;
    if (!outage) return undefined;
    const message = `The rate limit store is unavailable: ${outage.reason}.`;
    const { onUnavailable, localShare } = this.#settings;
    if (onUnavailable === "reject") return message;
    const isTooSmall = this.#user.windows.some(({ limit }) => Math.floor(limit * localShare) < 1);
    return isTooSmall ? `${message} \`localShare\` of a limit is less than one permit.` : undefined;
  }

  warning(): string | undefined {
    const { outage } = this.#connection;
    if (!outage || this.refusal() !== undefined) return undefined;
    return `the rate limit store is unavailable: ${outage.reason}; this process continues with its share`;
  }

  /** Redis may grant permits for calls that have left: they are returned, which is reported, too. */
  async settled(): Promise<void> {
    await this.#request;
    await this.#connection.reported;
  }

  async #requestPermits(): Promise<void> {
    // One request for all calls that begin to wait in this tick of the event loop.
    await Promise.resolve();
    this.#granted = await this.#connection.acquire(Math.min(Math.max(1, this.#demand), maxPerRequest));
    this.#request = undefined;
    this.#user.onChange();
  }

  /** Heartbeats as long as the limiter exists, so that a Redis that lost its data gets its permits back in time. */
  #startHeartbeat(): void {
    if (this.#hasHeartbeat) return;
    this.#hasHeartbeat = true;
    // Short enough that a lease survives one lost heartbeat.
    keepBeating(new WeakRef(this.#connection), Math.min(heartbeatMs, this.#settings.leaseMs / 3));
  }
}

/** A heartbeat every `everyMs`, until the connection is garbage-collected. */
function keepBeating(connection: WeakRef<RedisConnection>, everyMs: number): void {
  inBackground(everyMs, () => {
    const alive = connection.deref();
    if (!alive) return;
    alive.heartbeat();
    keepBeating(connection, everyMs);
  });
}
