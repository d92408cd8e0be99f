import type { PermitUse } from "./sliding-window-log.ts";

/** The right to send one request. */
export interface Permit {
  /** Gives it back. The first call counts; the others then do nothing. */
  release(use: PermitUse): void;
}

/** The request of one call for its permit. */
export interface PermitRequest {
  /** 0 goes first, 9 last; default 5. */
  readonly priority?: number | undefined;
  /** Clients are served by round robin; the same object is the same client. */
  readonly client?: object | undefined;
  /** Aborted while the call waits: it rejects at once with the signal's reason, and costs nothing. */
  readonly signal?: AbortSignal | undefined;
  readonly maxWaitMs?: number | undefined;
  /** The time until the call's deadline, in milliseconds: it also limits the wait. */
  readonly deadlineInMs?: number | undefined;
  readonly maxQueued?: number | undefined;
  /** From `takePosition`, if the call has waited for another one since: it goes before all that came after it. */
  readonly position?: number | undefined;
  /** A call that was refused for its rate goes first when the pause ends: of all, or of those of priority 9. */
  readonly isRequeued?: boolean | undefined;
  /** Notified of the warning of a shared store, or its end: with the permit, and at each change while the call waits. */
  readonly observer?: { storeWarning(warning: string | undefined): void } | undefined;
  /** Called once, when the call must wait, in its own async context. */
  readonly onWait?: ((wait: ExpectedWait) => void) | undefined;
}

/** A wait for a permit, as it is expected when it begins. */
export interface ExpectedWait {
  readonly waitMs: number;
  /** The call is of priority 9, and waits longer than another would: it leaves room for these. */
  readonly isForOthers: boolean;
}

/** A promise with the functions that settle it. Who waits for it goes on in an async context of its own. */
export class Deferred<T> {
  resolve!: (value: T | PromiseLike<T>) => void; // by the constructor of the promise
  reject!: (reason: unknown) => void; // likewise
  readonly promise = new Promise<T>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });
}
