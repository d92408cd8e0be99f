import type { IoredisLike } from "audience-sdk/redis";
import type { Redis } from "ioredis";

const readsTheTime = "redis.call('TIME')";
// Each command has a later time than the one before, also in the JSON of Redis, which keeps a tenth of a millisecond.
const usualMs = 0.2;

/** A Redis whose scripts read a clock that the test sets, so that no result depends on the speed of the machine. */
export class SetClock {
  #nowUs = 1_700_000_000_000_000;
  readonly client: IoredisLike;

  constructor(redis: Redis, commandTakesMs = usualMs) {
    const timed = (script: string): string => {
      if (!script.includes(readsTheTime)) throw new Error("a script that does not read the time");
      return script.replace(readsTheTime, "{ ARGV[2], ARGV[3] }");
    };
    const time = (): string[] => {
      this.#nowUs += commandTakesMs * 1_000;
      return [`${Math.floor(this.#nowUs / 1_000_000)}`, `${this.#nowUs % 1_000_000}`];
    };
    this.client = {
      evalsha: async () => undefined,
      eval: (script, keyCount, ...rest) => redis.eval(timed(script), keyCount, ...rest, ...time()),
    };
  }

  get nowMs(): number {
    return this.#nowUs / 1_000;
  }

  /** Below 0 the clock is set back. */
  advance(ms: number): void {
    this.#nowUs += Math.ceil(ms * 1_000);
  }
}
