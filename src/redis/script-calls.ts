import { inBackground } from "./background-timer.ts";
import {
  replyTimeoutMs,
  type AcquireReply,
  type AcquireRequest,
  type PermitScripts,
  type ReleaseRequest,
  type ScriptReply,
} from "./permit-scripts.ts";

const invalidReply = "an invalid reply";

/** The scripts with a timeout and validated replies. */
export class ScriptCalls {
  readonly #scripts: PermitScripts;
  readonly #windowCount: number;

  constructor(scripts: PermitScripts, windowCount: number) {
    this.#scripts = scripts;
    this.#windowCount = windowCount;
  }

  /** `onLate` is called if permits are granted after the timeout. */
  async acquire(request: AcquireRequest, onLate: () => void): Promise<AcquireReply> {
    const reply = await withTimeout(() => this.#scripts.acquire(request), onLate);
    const { granted, waitMs } = reply;
    if (!isCount(granted) || granted > request.ids.length || !isCount(waitMs)) throw new Error(invalidReply);
    this.#check(reply);
    return reply;
  }

  async release(request: ReleaseRequest): Promise<ScriptReply> {
    const reply = await withTimeout(() => this.#scripts.release(request));
    this.#check(reply);
    return reply;
  }

  #check({ epoch, pausedMs, rateFactor, used, others }: ScriptReply): void {
    const isValid =
      typeof epoch === "string" &&
      isCount(pausedMs) &&
      rateFactor > 0 &&
      rateFactor <= 1 &&
      Array.isArray(used) &&
      used.length === this.#windowCount &&
      used.every(isCount) &&
      isCount(others);
    if (!isValid) throw new Error(invalidReply);
  }
}

function withTimeout<T>(call: () => Promise<T>, onLate = (): void => {}): Promise<T> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const cancel = inBackground(replyTimeoutMs, () => {
      isLate = true;
      reject(new Error(`no reply within ${replyTimeoutMs} ms`));
    });
    call()
      .then((reply) => (isLate ? onLate() : resolve(reply)), reject)
      .finally(cancel);
  });
}

function isCount(value: unknown): value is number {
  return Number.isFinite(value) && Number(value) >= 0;
}
