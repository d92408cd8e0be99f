import { constants, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { FileRefused, openRegular, removeLeftovers } from "./regular-file.ts";

/** Another process renews the lock. The message goes on where that of the file's user ends. */
export class LockRefused extends Error {
  override readonly name = "LockRefused";

  constructor(lock: string) {
    super(
      `another process renews its lock ${lock}. One at a time: end that process or wait until it has ended, and run this again.`,
    );
  }
}

type ErrorClass = new (message: string, outcome: "not-sent", cause?: unknown) => Error;

/**
 * What a file, its lock or the file system refuses, as an error of this class with the way out; any other error as it is. The
 * file system's own error is the cause.
 */
export function refusalOf(error: unknown, what: string, file: string, Refusal: ErrorClass): unknown {
  const refusal = (problem: string, cause?: unknown) =>
    new Refusal(`The ${what} ${problem}`, "not-sent", cause);
  if (error instanceof LockRefused) return refusal(`${file} is in use: ${error.message}`);
  if (error instanceof FileRefused)
    return refusal(`cannot be used: ${error.message} It is left unchanged. Name a file of your own.`);
  if (!(error instanceof Error && "code" in error && "syscall" in error)) return error;
  const problem = `cannot be read or written (${error.message}). Mend the cause, or name another file.`;
  return refusal(`${file} ${problem}`, error);
}

const renewalMs = 1_000;
const lookDelayMs = 250;
/** 27.5 seconds. Looks are counted, and no clock: a suspended process must not count its own pause. */
const patienceLooks = 110;
/** By then a lock that is renewed has been. */
const looksBeforeWait = 10;

/**
 * Acquires the lock of a file, which is a file beside it (`.lock`). Waits while another process's is not renewed, at most 30
 * seconds, and takes it over then; `onWait` is called once it is certain to wait. What is compared is the content alone, so it works
 * between containers and machines, whatever their clocks and process ids are.
 *
 * @throws LockRefused if another process renews it.
 * @throws FileRefused if the lock is no regular file of this user.
 */
export async function acquireLock(file: string, onWait?: () => void): Promise<Lock> {
  const lock = new Lock(`${file}.lock`);
  let seenLock: string | undefined;
  for (let looks = 0; !lock.create(); looks += 1) {
    const lockNow = readLock(lock.path);
    if (tokenOf(lockNow) !== tokenOf(seenLock)) looks = 0;
    else if (lockNow !== seenLock) throw new LockRefused(lock.path);
    if (looks === looksBeforeWait) onWait?.();
    seenLock = lockNow ?? seenLock;
    if (looks < patienceLooks) await sleep(lookDelayMs);
    else if (await lock.takeOver()) break;
  }
  removeLeftovers(file);
  return lock;
}

/** The lock of a file, which this process has. */
export class Lock {
  readonly path: string;
  readonly #token = crypto.randomUUID();
  #renewals = 0;
  #renewalTimer: ReturnType<typeof setInterval> | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /** Creates the lock; false if there is one. */
  create(): boolean {
    try {
      writeFileSync(this.path, this.#content(), { flag: "wx", mode: 0o600 });
    } catch (error) {
      // Safe: `node:fs` throws nothing else.
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
      rmSync(this.path, { force: true });
      throw error;
    }
    this.#renewalTimer = setInterval(() => this.#renew(), renewalMs);
    // A number on some runtimes: there it keeps the process alive until the lock is released.
    if (typeof this.#renewalTimer === "object") this.#renewalTimer.unref();
    return true;
  }

  /** Of two that take over at once, the later one has removed the other's lock: a look later only one of them has its own. */
  async takeOver(): Promise<boolean> {
    rmSync(this.path, { force: true });
    if (!this.create()) return false;
    await sleep(lookDelayMs);
    if (this.isOurs()) return true;
    clearInterval(this.#renewalTimer);
    return false;
  }

  /** False once another process has taken the lock over, or it was deleted or replaced: ask before each write. */
  isOurs(): boolean {
    try {
      return tokenOf(readLock(this.path)) === this.#token;
    } catch (error) {
      if (error instanceof FileRefused) return false;
      throw error;
    }
  }

  release(): void {
    clearInterval(this.#renewalTimer);
    if (this.isOurs()) rmSync(this.path, { force: true });
  }

  #renew(): void {
    try {
      using file = openRegular(this.path, constants.O_RDWR);
      if (tokenOf(readFileSync(file.handle, "latin1")) !== this.#token) return;
      this.#renewals += 1;
      writeSync(file.handle, this.#content(), 0);
    } catch {
      // A lock that cannot be renewed is taken over, and the next question whether it is ours tells.
    }
  }

  /** The content of the lock: always as long, so that renewing it needs no space on a full disk. */
  #content(): string {
    return `${this.#token} ${String(this.#renewals).padStart(12, "0")}\n`;
  }
}

/** The content of the lock; undefined if there is none. */
function readLock(path: string): string | undefined {
  try {
    using file = openRegular(path, constants.O_RDONLY);
    return readFileSync(file.handle, "latin1");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** The token of the process that has created a lock. Empty if a full disk or a kill left no content. */
function tokenOf(content: string | undefined): string | undefined {
  return content?.split(" ")[0];
}

function sleep(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}
