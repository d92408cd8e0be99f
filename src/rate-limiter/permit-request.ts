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
  /** The share of each window that a call of priority 9 leaves to the others; default: that of the limiter. */
  readonly reserve?: number | undefined;
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
  /** Called once, when the call must wait. */
  readonly onWait?: ((wait: ExpectedWait) => void) | undefined;
}

/** A wait for a permit, as it is expected when it begins. */
export interface ExpectedWait {
  readonly waitMs: number;
  /** The call is of priority 9, and waits longer than another would: it leaves room for these. */
  readonly isForOthers: boolean;
}

/** What a call learns of its permit. The permit is the last news. */
export interface News {
  /** The warning of a shared store that is unavailable. */
  readonly warning: string | undefined;
  readonly permit?: Permit;
  /** The call must wait. */
  readonly wait?: ExpectedWait;
}

interface Link {
  readonly news: News;
  readonly rest: Promise<Link>;
}

/**
 * The news of a call that waits. The call reads them by `await`, so that what it does with them, a line of a log or a hook,
 * runs in its own async context and not in that of the call by which the queue was served.
 */
export class NewsFeed {
  readonly #first: Promise<Link>;
  #resolve!: (link: Link) => void; // by #next
  #reject!: (reason: unknown) => void; // likewise

  constructor() {
    this.#first = this.#next();
  }

  /** The permit; `onNews` is called with each of the news. Rejects if the call gets none. */
  async read(onNews: (news: News) => void): Promise<Permit> {
    let rest = this.#first;
    for (;;) {
      const link = await rest;
      onNews(link.news);
      if (link.news.permit) return link.news.permit;
      rest = link.rest;
    }
  }

  tell(news: News): void {
    const resolve = this.#resolve;
    resolve({ news, rest: this.#next() });
  }

  fail(reason: unknown): void {
    this.#reject(reason);
  }

  #next(): Promise<Link> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }
}
