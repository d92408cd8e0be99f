import {
  settleInMs,
  type PlaceStore,
  type ReportRequest,
  type StoreState,
  type StoreWindow,
  type TakeAnswer,
  type TakeRequest,
} from "../../src/store-places/place-store.ts";
import type { VirtualTime } from "../rate-limiter/virtual-time.ts";

interface MemoryStoreOptions {
  readonly time: Pick<VirtualTime, "now" | "after">;
  /** One way, to the store and back. */
  readonly delayMs?: () => number;
  readonly onUnavailable?: "local" | "reject";
  readonly localShare?: number;
  readonly leaseMs?: number;
}

/** A store in memory that keeps every rule of `PlaceStore`, behind a network that can fail. */
export class MemoryStore implements PlaceStore {
  readonly onUnavailable: "local" | "reject";
  readonly localShare: number;
  readonly leaseMs: number;
  /** What happens to calls: they are answered, refused, never answered, or carried out without an answer. */
  network: "up" | "refuses" | "hangs" | "loses answers" = "up";
  readonly log: string[] = [];
  readonly #time: Pick<VirtualTime, "now" | "after">;
  readonly #delayMs: () => number;
  #places = new Map<string, number>();
  #epoch: string | undefined;
  #epochs = 0;
  #share = 1;
  #pausedUntil = 0;
  #settlingUntil = 0;

  constructor({
    time,
    delayMs = () => 1,
    onUnavailable = "local",
    localShare = 1 / 4,
    leaseMs = 60_000,
  }: MemoryStoreOptions) {
    this.#time = time;
    this.#delayMs = delayMs;
    this.onUnavailable = onUnavailable;
    this.localShare = localShare;
    this.leaseMs = leaseMs;
  }

  /** It comes back empty. */
  loseMemory(): void {
    this.#places = new Map();
    this.#epoch = undefined;
    this.#share = 1;
    this.#pausedUntil = 0;
    this.#settlingUntil = 0;
  }

  get held(): number {
    const now = this.#time.now();
    return [...this.#places.values()].filter((time) => time > now).length;
  }

  take(request: TakeRequest): Promise<TakeAnswer> {
    return this.#call("take", () => this.grant(request));
  }

  report(request: ReportRequest): Promise<StoreState> {
    return this.#call("report", () => this.writeDown(request));
  }

  #call<T>(name: string, carryOut: () => T): Promise<T> {
    this.log.push(name);
    return new Promise((resolve, reject) => {
      this.#time.after(this.#delayMs(), () => {
        if (this.network === "refuses") return reject(new Error("ECONNREFUSED"));
        if (this.network === "hangs") return;
        const answer = carryOut();
        if (this.network === "up") this.#time.after(this.#delayMs(), () => resolve(answer));
      });
    });
  }

  /** What `take` does, without a network. */
  grant({ windows, ids, epoch, leaseMs }: TakeRequest): TakeAnswer {
    this.#meet(epoch);
    const now = this.#time.now();
    const closedMs = Math.max(this.#pausedUntil, this.#settlingUntil) - now;
    const free = Math.min(...windows.map((window) => this.#limit(window) - this.#usedIn(window)));
    const granted = closedMs > 0 ? 0 : Math.max(0, Math.min(free, ids.length));
    for (const id of ids.slice(0, granted)) this.#places.set(id, now + leaseMs);
    const waits = windows.map((window) => this.#waitIn(window));
    const waitMs = granted < ids.length ? Math.max(closedMs, ...waits) : 0;
    return { granted, waitMs, ...this.#state(windows) };
  }

  /** What `report` does, without a network. */
  writeDown({
    windows,
    places,
    epoch,
    leaseMs,
    succeeded,
    refusedForMs,
    isReturning,
  }: ReportRequest): StoreState {
    this.#meet(epoch);
    const now = this.#time.now();
    if (isReturning && this.#settlingUntil <= now) this.#settlingUntil = now + settleInMs;
    for (const { id, state, agoMs } of places) {
      if (state === "unused") this.#places.delete(id);
      else this.#places.set(id, state === "held" ? now + leaseMs : now - agoMs);
    }
    this.#share = Math.min(1, this.#share + succeeded / 200);
    if (refusedForMs !== undefined) {
      if (this.#pausedUntil <= now) this.#share = Math.max(1 / 64, this.#share / 2);
      this.#pausedUntil = Math.max(this.#pausedUntil, now + refusedForMs);
    }
    return this.#state(windows);
  }

  #meet(epoch: string | undefined): void {
    const now = this.#time.now();
    this.#epoch ??= `epoch ${(this.#epochs += 1)}`;
    if (epoch !== undefined && epoch !== this.#epoch && this.#settlingUntil <= now)
      this.#settlingUntil = now + settleInMs;
  }

  #state(windows: readonly StoreWindow[]): StoreState {
    return {
      epoch: this.#epoch!,
      pausedMs: Math.max(0, this.#pausedUntil - this.#time.now()),
      share: this.#share,
      used: windows.map((window) => this.#usedIn(window)),
    };
  }

  #limit({ limit, shrinks }: StoreWindow): number {
    return shrinks ? Math.max(1, Math.floor(limit * this.#share)) : limit;
  }

  #usedIn({ countedMs }: StoreWindow): number {
    const after = this.#time.now() - countedMs;
    return [...this.#places.values()].filter((time) => time > after).length;
  }

  #waitIn(window: StoreWindow): number {
    const now = this.#time.now();
    const inWindow = [...this.#places.values()]
      .filter((time) => time > now - window.countedMs)
      .toSorted((a, b) => a - b);
    const mustLeave = inWindow.length + 1 - this.#limit(window);
    if (mustLeave <= 0) return 0;
    return Math.min(inWindow[mustLeave - 1]!, now) + window.countedMs - now;
  }
}
