import type { StoreSettings } from "../../src/redis/redis-connection.ts";
import {
  aliveForMs,
  recoveryMs,
  type AcquireReply,
  type AcquireRequest,
  type PermitScripts,
  type ReleaseRequest,
  type ScriptReply,
  type ScriptRequest,
  type ScriptWindow,
} from "../../src/redis/script-protocol.ts";
import type { VirtualTime } from "../rate-limiter/virtual-time.ts";

interface MemoryScriptsOptions extends Partial<StoreSettings> {
  readonly time: Pick<VirtualTime, "now" | "after">;
  /** The delay of one way. */
  readonly delayMs?: () => number;
}

/** A second implementation of the scripts, in memory, behind a network that can fail. It has no fair queue. */
export class MemoryScripts implements PermitScripts, StoreSettings {
  readonly onUnavailable: "local" | "reject";
  readonly localShare: number;
  readonly leaseMs: number;
  /** `"hangs"`: a request has no effect and no reply. `"loses replies"`: it has its effect, but no reply. */
  network: "up" | "refuses" | "hangs" | "loses replies" = "up";
  readonly log: string[] = [];
  readonly #time: Pick<VirtualTime, "now" | "after">;
  readonly #delayMs: () => number;
  #permits = new Map<string, number>();
  #alive = new Map<string, number>();
  #epoch: string | undefined;
  #epochs = 0;
  #rateFactor = 1;
  #pausedUntil = 0;
  #slowedAt = -Infinity;
  #recoveringUntil = 0;

  constructor({
    time,
    delayMs = () => 1,
    onUnavailable = "local",
    localShare = 1 / 4,
    leaseMs = 60_000,
  }: MemoryScriptsOptions) {
    this.#time = time;
    this.#delayMs = delayMs;
    this.onUnavailable = onUnavailable;
    this.localShare = localShare;
    this.leaseMs = leaseMs;
  }

  /** Redis loses all its data. */
  loseMemory(): void {
    this.#permits = new Map();
    this.#alive = new Map();
    this.#epoch = undefined;
    this.#rateFactor = 1;
    this.#pausedUntil = 0;
    this.#slowedAt = -Infinity;
    this.#recoveringUntil = 0;
  }

  get inFlight(): number {
    const now = this.#time.now();
    return [...this.#permits.values()].filter((time) => time > now).length;
  }

  acquire(request: AcquireRequest): Promise<AcquireReply> {
    return this.#call("acquire", () => this.acquireNow(request));
  }

  release(request: ReleaseRequest): Promise<ScriptReply> {
    return this.#call("release", () => this.releaseNow(request));
  }

  #call<T>(name: string, carryOut: () => T): Promise<T> {
    this.log.push(name);
    return new Promise((resolve, reject) => {
      this.#time.after(this.#delayMs(), () => {
        if (this.network === "refuses") return reject(new Error("ECONNREFUSED"));
        if (this.network === "hangs") return;
        const reply = carryOut();
        if (this.network === "up") this.#time.after(this.#delayMs(), () => resolve(reply));
      });
    });
  }

  /** `acquire` without a network. */
  acquireNow(request: AcquireRequest): AcquireReply {
    this.#begin(request);
    const { windows, ids, leaseMs } = request;
    const now = this.#time.now();
    const closedMs = Math.max(this.#pausedUntil, this.#recoveringUntil) - now;
    const available = Math.min(...windows.map((window) => this.#limit(window) - this.#usedIn(window)));
    const granted = closedMs > 0 ? 0 : Math.max(0, Math.min(available, ids.length));
    for (const id of ids.slice(0, granted)) this.#permits.set(id, now + leaseMs);
    const waits = windows.map((window) => this.#waitIn(window));
    const waitMs = granted < ids.length ? Math.max(closedMs, ...waits) : 0;
    return { granted, waitMs, ...this.#reply(request) };
  }

  /** `release` without a network. */
  releaseNow(request: ReleaseRequest): ScriptReply {
    this.#begin(request);
    const { permits, leaseMs, succeeded, refusedForMs, isReturning } = request;
    const now = this.#time.now();
    if (isReturning) this.#recover();
    for (const [id, state] of permits) {
      if (state === "unsent") this.#permits.delete(id);
      else this.#permits.set(id, state === "in flight" ? now + leaseMs : now - state);
    }
    this.#rateFactor = Math.min(1, this.#rateFactor + succeeded / 200);
    if (refusedForMs !== undefined) {
      if (this.#pausedUntil <= now && now - this.#slowedAt >= 500) {
        this.#slowedAt = now;
        this.#rateFactor = Math.max(1 / 64, this.#rateFactor / 2);
      }
      this.#pausedUntil = Math.max(this.#pausedUntil, now + refusedForMs);
    }
    return this.#reply(request);
  }

  #begin({ epoch, process }: ScriptRequest): void {
    this.#alive.set(process, this.#time.now());
    this.#epoch ??= `epoch ${(this.#epochs += 1)}`;
    if (epoch !== undefined && epoch !== this.#epoch) this.#recover();
  }

  #recover(): void {
    const now = this.#time.now();
    if (this.#recoveringUntil <= now) this.#recoveringUntil = now + recoveryMs;
  }

  #reply({ windows, process }: ScriptRequest): ScriptReply {
    const since = this.#time.now() - aliveForMs;
    const alive = [...this.#alive].filter(([name, at]) => name !== process && Math.floor(at) >= since);
    return {
      epoch: this.#epoch!,
      pausedMs: Math.max(0, this.#pausedUntil - this.#time.now()),
      rateFactor: this.#rateFactor,
      used: windows.map((window) => this.#usedIn(window)),
      others: alive.length,
    };
  }

  #limit({ limit, isAdaptive }: ScriptWindow): number {
    return isAdaptive ? Math.max(1, Math.floor(limit * this.#rateFactor)) : limit;
  }

  #usedIn({ countedMs }: ScriptWindow): number {
    const after = this.#time.now() - countedMs;
    return [...this.#permits.values()].filter((time) => time > after).length;
  }

  #waitIn(window: ScriptWindow): number {
    const now = this.#time.now();
    const inWindow = [...this.#permits.values()]
      .filter((time) => time > now - window.countedMs)
      .toSorted((a, b) => a - b);
    const mustLeave = inWindow.length + 1 - this.#limit(window);
    if (mustLeave <= 0) return 0;
    return Math.min(inWindow[mustLeave - 1]!, now) + window.countedMs - now;
  }
}
