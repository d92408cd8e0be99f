import { isAdaptive } from "../rate-limiter/adaptive-rate.ts";
import { type CountedPermit, type PermitUse, SlidingWindowLog } from "../rate-limiter/sliding-window-log.ts";
import type { Ask, StoreUser } from "../rate-limiter/store.ts";
import { replyWithin } from "./background.ts";
import { parseReply, type ScriptReply, type ScriptRequest, type WrittenPermit } from "./permit-script.ts";
import type { RunScript } from "./redis-client.ts";

/** An unavailable Redis is tried again after this time, and an idle process contacts Redis at least every two of it. */
export const retryIntervalMs = 1_000;
// More permits would only be returned unused.
const maxPerRequest = 100;

/** The last reply of Redis. */
export interface Contact {
  readonly at: number;
  readonly reply: ScriptReply;
  /** The permits of this process in each window, as those of all in the reply. */
  readonly own: Pick<ScriptReply, "used" | "usedByOthers">;
}

/** Redis is unavailable. */
interface Outage {
  readonly reason: string;
  /** It replies again, and has the permits of this process: those of the others come within the next retry. */
  readonly isEnding: boolean;
}

/** What a request has brought. */
export interface Grant {
  readonly permits: readonly CountedPermit[];
  readonly waitMs: number;
}

/** What Redis is to know of the rate. */
interface Report {
  readonly succeeded: number;
  /** Until when a 429 pauses all processes. */
  readonly refusedUntil: number;
}

const nothing: Report = { succeeded: 0, refusedUntil: -Infinity };

/** The requests of one limiter to Redis, one after the other: each writes what has changed, and some ask for permits. */
export class RedisConnection {
  /** The permits of this process. */
  readonly own: SlidingWindowLog;
  contact: Contact | undefined;
  outage: Outage | undefined;
  /** Resolves when the requests so far have ended. */
  settled: Promise<unknown> = Promise.resolve();
  readonly #run: RunScript;
  readonly #user: StoreUser;
  readonly #base: Pick<ScriptRequest, "windows" | "leaseMs">;
  readonly #onChange: () => void;
  readonly #ids = newIds();
  /** The permits whose state Redis may not know; one that is not in the log was not sent, or counts no more. */
  #unwritten: Set<string>;
  #unreported = nothing;

  /** `onChange` is called when a permit may be available earlier than Redis has said, and when an outage begins or ends. */
  constructor(run: RunScript, leaseMs: number, user: StoreUser, onChange: () => void) {
    const { windows, restored } = user;
    this.own = new SlidingWindowLog(windows, restored);
    this.#run = run;
    this.#user = user;
    const ofScript = windows.map(({ limit, intervalMs }, index) => ({
      limit,
      intervalMs,
      countedMs: this.own.countedMs[index]!,
      isAdaptive: isAdaptive(windows[index]!, windows),
    }));
    this.#base = { windows: ofScript, leaseMs };
    this.#onChange = onChange;
    this.#unwritten = new Set(idsOf(restored));
  }

  /** A permit that is in flight from now on. */
  hold(isLast: boolean, now: number, id = this.#ids()): CountedPermit {
    return this.own.take({ isLast, id }, now);
  }

  release(permit: CountedPermit, use: PermitUse, now: number): void {
    this.own.release(permit, use, now);
    this.#mark(idsOf([permit]));
    this.write();
  }

  /** Redis is told of successes with the next request. */
  reportSuccess(): void {
    this.#report({ succeeded: 1, refusedUntil: -Infinity });
  }

  reportRefusal(pausedUntil: number): void {
    this.#report({ succeeded: 0, refusedUntil: pausedUntil });
    this.write();
  }

  /** Asks for permits; undefined if Redis is unavailable. */
  ask({ calls, isLast }: Ask): Promise<Grant | undefined> {
    const ids = Array.from({ length: Math.min(calls, maxPerRequest) }, () => this.#ids());
    return this.#queue(async () => (this.outage === undefined ? this.#send(ids, isLast) : undefined));
  }

  /** Writes what has changed, unless an earlier request does so; in an outage the first request after it does. */
  write(): void {
    void this.#queue(async () => {
      const hasChanges = this.#unwritten.size > 0 || this.#unreported.refusedUntil > -Infinity;
      if (this.outage === undefined && hasChanges) await this.#send();
    });
  }

  /** Contacts Redis, if it was not contacted just before: for leases, the count of the others, and the end of an outage. */
  async beat(everyMs: number): Promise<void> {
    const isRecent = this.contact !== undefined && this.#user.clock() - this.contact.at < 1.5 * everyMs;
    if (this.outage !== undefined || !isRecent) await this.#queue(() => this.#send());
  }

  #queue<Result>(request: () => Promise<Result>): Promise<Result> {
    const result = this.settled.then(request);
    this.settled = result;
    return result;
  }

  async #send(ids: readonly string[] = [], isLast = false): Promise<Grant | undefined> {
    const reserve = this.#user.reserve();
    const sentAt = this.#user.clock();
    const permits = this.#written(sentAt);
    const { succeeded, refusedUntil } = this.#unreported;
    this.#unwritten = new Set();
    this.#unreported = nothing;
    // Even after its pause a 429 halves the rate.
    const refusedForMs = refusedUntil > -Infinity ? Math.max(0, refusedUntil - sentAt) : undefined;
    const request = { ...this.#base, permits, succeeded, refusedForMs, ids, isLast, reserve };
    try {
      return this.#onReply(request, await this.#replyTo(request), sentAt);
    } catch (error) {
      this.#markAll(request);
      this.#report({ succeeded, refusedUntil });
      this.#onFailure(error);
      return undefined;
    }
  }

  async #replyTo(request: ScriptRequest): Promise<ScriptReply> {
    // A late request undoes what was written since.
    const reply = await replyWithin(this.#run(request), () => this.#markAll(request));
    const parsed = parseReply(reply, request);
    if (!parsed) throw new Error("an invalid reply");
    return parsed;
  }

  #onReply({ ids, isLast }: ScriptRequest, reply: ScriptReply, sentAt: number): Grant {
    const { clock, rate } = this.#user;
    const now = clock();
    const hasLostData = this.contact !== undefined && this.contact.reply.data !== reply.data;
    const granted = ids.slice(0, reply.granted);
    // A Redis that has lost data first gets the permits of this process; a suspended process has lost its leases; and a 429
    // may have come meanwhile.
    const isLate = now > sentAt + this.#base.leaseMs / 2;
    const isVoid = hasLostData || isLate || rate.pausedMs(now) > 0;
    if (hasLostData) this.#mark(idsOf(this.own.permits(now)));
    if (isVoid) this.#mark(granted);
    const held = isVoid ? [] : granted.map((id) => this.hold(isLast, now, id));
    const isBack = this.outage?.isEnding === true;
    const own = { used: this.own.used(now), usedByOthers: this.own.usedByOthers(now) };
    this.contact = { at: now, reply, own };
    this.outage = this.outage && !isBack ? { ...this.outage, isEnding: true } : undefined;
    // A reply from before the report of a 429 does not know of it.
    const knowsAll = this.#unreported.refusedUntil === -Infinity;
    rate.factor = knowsAll ? reply.rateFactor : Math.min(reply.rateFactor, rate.factor);
    rate.pause(now, reply.pausedMs);
    if (isVoid) this.write();
    const hasRoom = rate.limits.every((limit, index) => reply.used[index]! < limit);
    if (isBack || (ids.length === 0 && hasRoom)) this.#onChange();
    return { permits: held, waitMs: isVoid ? 1 : reply.waitMs };
  }

  #onFailure(error: unknown): void {
    const wasAway = this.outage !== undefined;
    const { message: reason } = error as Error; // of the client of Redis, or its timeout
    this.outage = { reason, isEnding: false };
    if (!wasAway) this.#onChange();
  }

  /** What Redis may not know, and all in flight, so that their leases are renewed. */
  #written(now: number): WrittenPermit[] {
    const own = new Map(this.own.permits(now).map((permit) => [permit.id!, permit])); // each has one here
    const inFlight = [...own.values()].filter(({ respondedAt }) => respondedAt === undefined);
    const ids = new Set([...this.#unwritten, ...idsOf(inFlight)]);
    return [...ids].map((id) => {
      const permit = own.get(id);
      if (!permit) return [id, false, "unsent"];
      const { isLast, respondedAt } = permit;
      return [id, isLast, respondedAt === undefined ? "in flight" : now - respondedAt];
    });
  }

  #markAll({ permits, ids }: ScriptRequest): void {
    this.#mark(permits.map(([id]) => id));
    this.#mark(ids);
  }

  #mark(ids: readonly string[]): void {
    for (const id of ids) this.#unwritten.add(id);
  }

  #report({ succeeded, refusedUntil }: Report): void {
    const before = this.#unreported;
    this.#unreported = {
      succeeded: before.succeeded + succeeded,
      refusedUntil: Math.max(before.refusedUntil, refusedUntil),
    };
  }
}

/** Names that are unique over all processes. */
function newIds(): () => string {
  const prefix = crypto.randomUUID();
  let made = 0;
  return () => `${prefix}:${(made += 1)}`;
}

function idsOf(permits: readonly CountedPermit[]): string[] {
  return permits.map(({ id }) => id!); // each has one here
}
