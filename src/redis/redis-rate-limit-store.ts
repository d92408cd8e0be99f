import type {
  RateLimitStore,
  ReportRequest,
  StoreState,
  TakeAnswer,
  TakeRequest,
} from "../rate-limiter/store.ts";
import { readOptions, type RedisRateLimitStoreOptions } from "./options.ts";
import { isRedisLike, scriptRunner, type RedisLike, type ScriptRunner } from "./redis-like.ts";
import { reportScript } from "./report-script.ts";
import { Script } from "./script.ts";
import { takeScript } from "./take-script.ts";

/**
 * Shares one rate limit between all processes and machines behind one IP, as the service counts per IP ("Limits").
 *
 * The count lives in Redis and follows the clock of Redis alone. It outlasts `kill -9`, restarts, and a Redis that comes
 * back empty: then nobody is granted a place for five seconds, while each process writes its own places back. While Redis
 * is away, or takes longer than a second to answer, `onUnavailable` holds. The client stays yours: give it an `error`
 * listener, and close it after the `AudienceClient`.
 *
 * ```ts
 * const store = redisRateLimitStore(new Redis(process.env.REDIS_URL));
 * const audience = new AudienceClient({ rateLimiter: new RateLimiter({ store }) });
 * ```
 *
 * @throws TypeError naming the option that is wrong.
 */
export function redisRateLimitStore(
  client: RedisLike,
  options: RedisRateLimitStoreOptions = {},
): RateLimitStore {
  if (!isRedisLike(client)) {
    throw new TypeError(
      "redisRateLimitStore: the first argument must be a client of `ioredis` or of `redis`.",
    );
  }
  return new RedisRateLimitStore(scriptRunner(client), options);
}

class RedisRateLimitStore implements RateLimitStore {
  readonly onUnavailable: "local" | "reject";
  readonly localShare: number;
  readonly leaseMs: number;
  readonly #runner: ScriptRunner;
  readonly #keys: string[];
  /** Under this name it stands in the line of processes that wait. */
  readonly #process = crypto.randomUUID();
  readonly #take = new Script(takeScript);
  readonly #report = new Script(reportScript);

  constructor(runner: ScriptRunner, options: RedisRateLimitStoreOptions) {
    const { key, onUnavailable, localShare, leaseMs } = readOptions(options);
    this.onUnavailable = onUnavailable;
    this.localShare = localShare;
    this.leaseMs = leaseMs;
    this.#runner = runner;
    this.#keys = [`{${key}}:places`, `{${key}}:book`];
  }

  async take(request: TakeRequest): Promise<TakeAnswer> {
    // What the script answers is checked where it is used.
    return (await this.#run(this.#take, request)) as TakeAnswer;
  }

  async report(request: ReportRequest): Promise<StoreState> {
    // As above.
    return (await this.#run(this.#report, request)) as StoreState;
  }

  /** The scripts speak the interface's own words, as JSON: so nothing hangs on how a client is set to read numbers. */
  async #run(script: Script, request: TakeRequest | ReportRequest): Promise<unknown> {
    const argument = JSON.stringify({ ...request, process: this.#process, newEpoch: crypto.randomUUID() });
    const answer: unknown = await script.run(this.#runner, this.#keys, argument);
    return JSON.parse(String(answer));
  }
}
