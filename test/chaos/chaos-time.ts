import { VirtualTime } from "../rate-limiter/virtual-time.ts";
import type { Dice } from "./dice.ts";

/** A timer of Node, which may be unref'd. */
class Handle {
  readonly id: number;
  readonly #keepAlive: Set<number>;

  constructor(id: number, keepAlive: Set<number>) {
    this.id = id;
    this.#keepAlive = keepAlive;
    this.ref();
  }

  ref(): this {
    this.#keepAlive.add(this.id);
    return this;
  }

  unref(): this {
    this.#keepAlive.delete(this.id);
    return this;
  }
}

const realImmediate = globalThis.setImmediate;

/** Virtual time for a whole program: clocks, timers, random values, ids and hashes come out the same for the same dice. */
export class ChaosTime extends VirtualTime {
  readonly #dice: Dice;
  readonly #pendingHandles = new Map<number, Handle>();
  /** Ids of the timers that would keep a process alive. */
  readonly #keepAlive = new Set<number>();
  /** How often the clock was read since the last timer. */
  #reads = 0;

  constructor(dice: Dice) {
    super();
    this.#dice = dice;
  }

  /** The timers that would keep a process alive. */
  get refedTimers(): number {
    return this.#keepAlive.size;
  }

  readonly sleep = (delayMs: number): Promise<void> =>
    new Promise((resolve) => void this.after(delayMs, resolve));

  /** Runs a program to its end; `"never ended"` if nothing is left to happen, or a day has passed. */
  async play<T>(program: () => Promise<T>): Promise<T | "never ended"> {
    let end: { value: T } | { error: unknown } | undefined;
    const restore: (() => void)[] = [];
    try {
      await this.run(() => {
        restore.push(...this.#install());
        program()
          .then(
            (value) => (end = { value }),
            (error: unknown) => (end = { error }),
          )
          .finally(() => this.#cancelAll());
      });
    } finally {
      for (const each of restore) each();
    }
    if (end === undefined) return "never ended";
    if ("error" in end) throw end.error;
    return end.value;
  }

  protected override async settle(): Promise<void> {
    this.#reads = 0;
    await new Promise((resolve) => realImmediate(resolve));
  }

  /** A program that waits without a timer would hang: nothing could interrupt it. */
  #read(): number {
    if (++this.#reads > 100_000) throw new Error("the program spins: no timer can fire");
    return this.now();
  }

  #cancelAll(): void {
    for (const id of this.#pendingHandles.keys()) this.cancel(id);
    this.#pendingHandles.clear();
    this.#keepAlive.clear();
  }

  #install(): (() => void)[] {
    const [ids, numbers] = [this.#dice.split(), this.#dice.split()];
    const forget = (id: number): void => {
      this.#pendingHandles.delete(id);
      this.#keepAlive.delete(id);
    };
    const setTimer = (callback: (...values: unknown[]) => void, delayMs = 0, ...values: unknown[]) => {
      const id = this.after(Math.max(1, delayMs), () => {
        forget(id);
        callback(...values);
      });
      const handle = new Handle(id, this.#keepAlive);
      this.#pendingHandles.set(id, handle);
      return handle;
    };
    const clearTimer = (handle: Handle | undefined): void => {
      if (handle === undefined) return;
      this.cancel(handle.id);
      forget(handle.id);
    };
    // `run` puts the real timers back.
    Object.assign(globalThis, { setTimeout: setTimer, clearTimeout: clearTimer });
    return [
      replace(performance, "now", () => this.#read()),
      replace(globalThis, "Date", DateOfNow),
      replace(Math, "random", numbers.next),
      replace(crypto, "randomUUID", () => uuidFrom(ids)),
    ];
  }
}

/** A date of now, which is not made with `Date.now`, in virtual time. */
const DateOfNow = new Proxy(Date, {
  construct: (real, values) => Reflect.construct(real, values.length === 0 ? [real.now()] : values) as object,
});

function uuidFrom(dice: Dice): string {
  const hex = (length: number) => Array.from({ length }, () => dice.int(0, 15).toString(16)).join("");
  return `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`;
}

/** Replaces a method; returns the function that puts it back. */
function replace(owner: object, name: string, value: unknown): () => void {
  const descriptor = Object.getOwnPropertyDescriptor(owner, name);
  Object.defineProperty(owner, name, { value, configurable: true, writable: true });
  return () => {
    if (descriptor) Object.defineProperty(owner, name, descriptor);
    else Reflect.deleteProperty(owner, name);
  };
}
