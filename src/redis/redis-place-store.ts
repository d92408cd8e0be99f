import type {
  PlaceStore,
  ReportRequest,
  StoreState,
  TakeAnswer,
  TakeRequest,
} from "../store-places/place-store.ts";
import { readOptions, type RedisRateLimitStoreOptions } from "./options.ts";
import { isRedisLike, scriptRunner, type RedisLike, type ScriptRunner } from "./redis-like.ts";
import { refusalOf } from "./refusal.ts";
import { reportScript } from "./report-script.ts";
import { Script } from "./script.ts";
import { takeScript } from "./take-script.ts";

/** The count in Redis: two scripts, each of which does all of its work in one step. */
export class RedisPlaceStore implements PlaceStore {
  readonly onUnavailable: "local" | "reject";
  readonly localShare: number;
  readonly leaseMs: number;
  readonly #runner: ScriptRunner;
  readonly #keys: string[];
  /** Under this name it stands in the line of processes that wait. */
  readonly #process = crypto.randomUUID();
  readonly #take = new Script(takeScript);
  readonly #report = new Script(reportScript);

  constructor(client: RedisLike, options: RedisRateLimitStoreOptions = {}) {
    if (!isRedisLike(client)) {
      throw new TypeError(
        "redisRateLimitStore: the first argument must be a client of `ioredis` or of `redis`.",
      );
    }
    const { key, onUnavailable, localShare, leaseMs } = readOptions(options);
    this.onUnavailable = onUnavailable;
    this.localShare = localShare;
    this.leaseMs = leaseMs;
    this.#runner = scriptRunner(client);
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
    const answer = await script.run(this.#runner, this.#keys, argument).catch(refuse);
    return JSON.parse(String(answer));
  }
}

/** Never the error itself: a client's errors hold the command, and so may hold a password. */
function refuse(reason: unknown): never {
  throw new Error(refusalOf(reason));
}
