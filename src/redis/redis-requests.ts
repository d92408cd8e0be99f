import { isAdaptive } from "../rate-limiter/adaptive-rate.ts";
import { SlidingWindowLog } from "../rate-limiter/sliding-window-log.ts";
import type { Ask, Release, Reply, StoreUser } from "../rate-limiter/store.ts";
import { inBackground, replyWithin } from "./background.ts";
import { parseReply, type ScriptReply, type ScriptRequest, type WrittenPermit } from "./permit-script.ts";
import type { RunScript } from "./redis-client.ts";

/** An unavailable Redis is tried again after this time, and an idle process contacts Redis at least every two of it. */
export const retryIntervalMs = 1_000;
// More permits would only be returned unused.
const maxPerRequest = 100;

/** The last reply of Redis. */
export interface LastReply {
  readonly at: number;
  /** The name of the data. */
  readonly data: string;
  /** The permits of the other processes in each window, and those of them that are of priorities 0 to 8. */
  readonly usedElsewhere: readonly number[];
  readonly usedElsewhereByOthers: readonly number[];
}

/** Redis is unavailable. */
interface Outage {
  readonly reason: string;
  /** It replies again, and has the permits of this process: those of the others come within the next retry. */
  readonly isEnding: boolean;
}

/** The requests of one limiter to Redis, one after the other: each writes what has changed, and some ask for permits. */
export class RedisRequests {
  /** The permits of this process. */
  readonly own: SlidingWindowLog;
  lastReply: LastReply | undefined;
  outage: Outage | undefined;
  /** When Redis was last unavailable, or had lost data. */
  failedAt = -Infinity;
  /** Resolves when the requests so far have ended. */
  settled: Promise<unknown> = Promise.resolve();
  readonly #run: RunScript;
  readonly #user: StoreUser;
  readonly #base: Pick<ScriptRequest, "windows" | "leaseMs">;
  readonly #onChange: () => void;
  /** Names of permits begin with it: they are unique over all processes. */
  readonly #name = crypto.randomUUID();
  #named = 0;
  #isBeating = false;
  /** The permits whose state Redis may not know; one that is not in the log was not sent, or counts no more. */
  #unwritten = new Set<string>();
  /** What Redis does not know of the rate: successes, and until when a 429 pauses all processes. */
  #succeeded = 0;
  #refusedUntil = -Infinity;

  /** `onChange` is called when a permit may be available earlier than Redis has said, and when an outage begins or ends. */
  constructor(run: RunScript, leaseMs: number, user: StoreUser, onChange: () => void) {
    this.own = new SlidingWindowLog(user.windows, user.restored);
    this.#run = run;
    this.#user = user;
    const windows = user.windows.map((window, index) => ({
      ...window,
      countedMs: this.own.countedMs[index]!,
      isAdaptive: isAdaptive(window, user.windows),
    }));
    this.#base = { windows, leaseMs };
    this.#onChange = onChange;
    this.#mark(user.restored.map(({ id }) => id));
  }

  /** A permit that is in flight from now on. */
  hold(isLast: boolean, now: number, id = this.#newId()): Release {
    const permit = this.own.take({ isLast, id }, now);
    return (use, releasedAt) => {
      this.own.release(permit, use, releasedAt);
      this.#unwritten.add(id);
      this.#write();
      if (this.outage !== undefined) this.#onChange();
    };
  }

  /** Redis is told of successes with the next request, and of a refusal at once. */
  tell(change: "refused" | "succeeded", now: number): void {
    if (change === "succeeded") this.#succeeded += 1;
    else this.#refusedUntil = Math.max(this.#refusedUntil, now + this.#user.rate.pausedMs(now));
    this.#write();
  }

  /** Asks for permits; undefined if Redis is unavailable. */
  ask({ calls, isLast }: Ask): Promise<Reply | undefined> {
    const ids = Array.from({ length: Math.min(calls, maxPerRequest) }, () => this.#newId());
    return this.#queue(async () => (this.outage === undefined ? this.#send(ids, isLast) : undefined));
  }

  /** Writes what has changed, unless an earlier request does so; in an outage the first request after it does. */
  #write(): void {
    void this.#queue(async () => {
      const hasChanges = this.#unwritten.size > 0 || this.#refusedUntil > -Infinity;
      if (this.outage === undefined && hasChanges) await this.#send();
    });
  }

  /** Contacts Redis, if it was not contacted just before: for leases, the count of the others, and the end of an outage. */
  async beat(everyMs: number): Promise<void> {
    const isRecent = this.lastReply !== undefined && this.#user.clock() - this.lastReply.at < 1.5 * everyMs;
    if (this.outage !== undefined || !isRecent) await this.#queue(() => this.#send());
  }

  /** From the first call on, until the limiter is garbage-collected. */
  keepBeating(): void {
    if (this.#isBeating) return;
    this.#isBeating = true;
    // A lease outlives a lost beat.
    const everyMs = Math.min(retryIntervalMs, this.#base.leaseMs / 5);
    const reference = new WeakRef(this);
    const beatLater = (): void =>
      void inBackground(everyMs, () => void reference.deref()?.beat(everyMs).then(beatLater));
    beatLater();
  }

  #queue<Result>(request: () => Promise<Result>): Promise<Result> {
    const result = this.settled.then(request);
    this.settled = result;
    return result;
  }

  async #send(ids: readonly string[] = [], isLast = false): Promise<Reply | undefined> {
    const [reserve, sentAt] = [this.#user.reserve(), this.#user.clock()];
    const permits = this.#written(sentAt);
    const [succeeded, refusedUntil] = [this.#succeeded, this.#refusedUntil];
    this.#unwritten.clear();
    [this.#succeeded, this.#refusedUntil] = [0, -Infinity];
    // Even after its pause a 429 halves the rate.
    const refusedForMs = refusedUntil > -Infinity ? Math.max(0, refusedUntil - sentAt) : undefined;
    const request = { ...this.#base, permits, succeeded, refusedForMs, ids, isLast, reserve };
    // Redis may carry out a late request after newer ones, or not at all.
    const writeAgain = (): void => this.#mark([...permits.map(([id]) => id), ...ids]);
    try {
      const reply = parseReply(await replyWithin(this.#run(request), writeAgain), request);
      return this.#onReply(request, reply, sentAt);
    } catch (error) {
      writeAgain();
      this.#succeeded += succeeded;
      this.#refusedUntil = Math.max(this.#refusedUntil, refusedUntil);
      const isNew = this.outage === undefined;
      // Of the client of Redis, or its timeout.
      this.outage = { reason: (error as Error).message, isEnding: false };
      this.failedAt = this.#user.clock();
      if (isNew) this.#onChange();
    }
  }

  #onReply({ ids, isLast }: ScriptRequest, reply: ScriptReply, sentAt: number): Reply {
    const { rate } = this.#user;
    const now = this.#user.clock();
    const hasLostData = this.lastReply !== undefined && this.lastReply.data !== reply.data;
    const granted = ids.slice(0, reply.granted);
    // A Redis that has lost data first gets the permits of this process; a suspended process has lost its leases; and a 429
    // may have come meanwhile.
    const isLate = now > sentAt + this.#base.leaseMs / 2;
    const isVoid = hasLostData || isLate || rate.pausedMs(now) > 0;
    if (hasLostData) {
      this.failedAt = now;
      this.#mark(this.own.permits(now).map(({ id }) => id));
    }
    const permits = isVoid ? [] : granted.map((id) => this.hold(isLast, now, id));
    const without = (used: readonly number[], here: readonly number[]) =>
      used.map((count, index) => Math.max(0, count - here[index]!));
    this.lastReply = {
      at: now,
      data: reply.data,
      usedElsewhere: without(reply.used, this.own.used(now)),
      usedElsewhereByOthers: without(reply.usedByOthers, this.own.usedByOthers(now)),
    };
    const isBack = this.outage?.isEnding === true;
    this.outage = this.outage && !isBack ? { ...this.outage, isEnding: true } : undefined;
    // A reply from before the report of a 429 does not know of it.
    const mostFactor = this.#refusedUntil === -Infinity ? 1 : rate.factor;
    rate.factor = Math.min(reply.rateFactor, mostFactor);
    rate.pause(now, reply.pausedMs);
    if (isVoid) {
      this.#mark(granted);
      this.#write();
    }
    const hasRoom = rate.limits.every((limit, index) => reply.used[index]! < limit);
    if (isBack || (ids.length === 0 && hasRoom)) this.#onChange();
    return { permits, waitMs: isVoid ? 1 : reply.waitMs };
  }

  /** What Redis may not know, and all in flight, so that their leases are renewed. */
  #written(now: number): WrittenPermit[] {
    const written: WrittenPermit[] = [];
    const unknown = new Set(this.#unwritten);
    for (const { id = "", isLast, respondedAt } of this.own.permits(now))
      if (unknown.delete(id) || respondedAt === undefined)
        written.push([id, isLast, respondedAt === undefined ? "in flight" : now - respondedAt]);
    return [...written, ...Array.from(unknown, (id) => [id, false, "unsent"] as const)];
  }

  #mark(ids: readonly (string | undefined)[]): void {
    for (const id of ids) this.#unwritten.add(id!); // each permit has one here
  }

  #newId(): string {
    return `${this.#name}:${(this.#named += 1)}`;
  }
}
