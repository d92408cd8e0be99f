import type { PermitStore, RateLimitStore, StoreUser } from "../rate-limiter/store.ts";
import type { LocalFallback } from "./local-fallback.ts";
import { RedisConnection, type StoreSettings } from "./redis-connection.ts";
import { heartbeatMs, inBackground, retryIntervalMs, type PermitScripts } from "./script-protocol.ts";

export function storeOf(scripts: PermitScripts, settings: StoreSettings): RateLimitStore {
  return { ...settings, open: (limiter) => redisStore(scripts, settings, limiter) };
}

// More permits would only be returned unused.
const maxPerRequest = 100;

/** The permits of one limiter, granted by Redis, or by the local fallback while Redis is unavailable. */
function redisStore(scripts: PermitScripts, settings: StoreSettings, user: StoreUser): PermitStore {
  const { rate, windows } = user;
  const connection = new RedisConnection(scripts, settings, user);
  const { permits } = connection;
  /** Granted by Redis, but not assigned to a call yet; and the number of calls that wait. */
  let granted: string[] = [];
  let wanted = 0;
  let request: Promise<void> | undefined;
  let heartbeat: ReturnType<typeof setTimeout> | undefined;

  async function requestPermits(): Promise<void> {
    // One request for all calls that begin to wait in this tick of the event loop.
    await Promise.resolve();
    granted = await connection.acquire(Math.min(Math.max(1, wanted), maxPerRequest));
    request = undefined;
    user.onChange();
  }

  function refusal(): string | undefined {
    if (!connection.outage) return undefined;
    const message = `The rate limit store is unavailable: ${connection.outage.reason}.`;
    if (settings.onUnavailable === "reject") return message;
    const isTooSmall = windows.some(({ limit }) => Math.floor(limit * settings.localShare) < 1);
    return isTooSmall ? `${message} \`localShare\` of a limit is less than one permit.` : undefined;
  }

  /** The count of this process alone, if its calls go on without Redis. */
  function fallback(): LocalFallback | undefined {
    return refusal() === undefined ? connection.outage : undefined;
  }

  function nextAvailableInMs(now: number): number | undefined {
    const pausedMs = rate.pausedMs(now);
    if (!connection.outage) return Math.max(pausedMs, connection.waitMs(now)) || undefined;
    return Math.max(pausedMs, fallback()?.nextAvailableInMs(now) ?? retryIntervalMs);
  }

  return {
    get inFlight() {
      return permits.own.inFlight;
    },
    acquire(now) {
      if (rate.pausedMs(now) > 0 || refusal() !== undefined) return undefined;
      const alone = fallback();
      const id = alone ? alone.acquire(now) : granted.shift();
      if (id === undefined) return undefined;
      return (use, releasedAt) => {
        alone?.release(use, releasedAt);
        permits.release(id, use, releasedAt);
        connection.report([id]);
      };
    },
    /** Asks Redis for permits, one request at a time. Unused grants are returned. */
    demand(calls, now) {
      // Short enough that a lease survives one lost heartbeat.
      heartbeat ??= keepBeating(new WeakRef(connection), Math.min(heartbeatMs, settings.leaseMs / 3));
      connection.returnUnused(granted.splice(0));
      wanted = rate.pausedMs(now) > 0 ? 0 : calls;
      const mustWait = connection.outage !== undefined || connection.waitMs(now) > 0;
      if (wanted > 0 && !mustWait) request ??= requestPermits();
    },
    nextAvailableInMs,
    known(now) {
      const startAt = now + (nextAvailableInMs(now) ?? 0);
      const alone = fallback();
      if (alone) return { log: alone.logs.alone, limitsAt: (time) => alone.limits(time), startAt };
      return { log: permits.log(now), limitsAt: () => rate.limits, startAt };
    },
    usage(now) {
      const waitMs = fallback()?.nextAvailableInMs(now) ?? connection.waitMs(now);
      return permits.usage(now, rate.limits, waitMs);
    },
    entries: (now) =>
      [...permits.all(now)].flatMap(([id, state]) =>
        state === "unsent" ? [] : [[id, state === "in flight" ? undefined : state]],
      ),
    refused(now) {
      connection.recordRefusal(now + rate.pausedMs(now));
      connection.report([]);
    },
    succeeded: () => void (connection.succeeded += 1),
    refusal,
    warning() {
      const alone = fallback();
      return (
        alone && `the rate limit store is unavailable: ${alone.reason}; this process continues with its share`
      );
    },
    /** Redis may grant permits for calls that have left: they are returned, which is reported, too. */
    async settled() {
      await request;
      await connection.reported;
    },
  };
}

/**
 * A heartbeat every `everyMs`, until the connection is garbage-collected: a Redis that lost its data gets the permits of an
 * idle limiter back in time.
 */
function keepBeating(connection: WeakRef<RedisConnection>, everyMs: number) {
  return inBackground(everyMs, () => {
    const alive = connection.deref();
    if (!alive) return;
    alive.heartbeat();
    keepBeating(connection, everyMs);
  });
}
