import {
  type ApiKey,
  AudienceClient,
  type ClientOptions,
  type FetchInit,
  type RateLimiter,
  type RequestEvent,
} from "audience-sdk";
import type { MockService } from "audience-sdk/mock";
import type { Dice } from "./dice.ts";
import type { CallRecord, Departure, Log } from "./records.ts";
import { appId, type Service } from "./service.ts";

/** Whoever is killed sends and hears nothing more. */
export interface Mortal {
  isDead: boolean;
}

export const callHeader = "x-call";
export const departureHeader = "x-departure";

interface Wires {
  readonly mock: MockService;
  readonly log: Log;
  readonly dice: Dice;
  readonly calls: ReadonlyMap<string, CallRecord>;
  /** The probability that a request cannot leave the machine. */
  readonly troubles: number;
}

const unsentErrors = {
  refused: "ECONNREFUSED",
  dns: "ENOTFOUND",
  tls: "DEPTH_ZERO_SELF_SIGNED_CERT",
} as const;

/** One for each wait: a promise that all worlds share would keep them in memory. */
export const never = () => new Promise<never>(() => {});

/** The `fetch` of one process, which logs each departure. */
export function networkOf({ mock, log, dice, calls, troubles }: Wires, owner: Mortal) {
  return async (url: string, init: FetchInit): Promise<Response> => {
    if (owner.isDead) return await never();
    const { headers, body, method } = init;
    const call = calls.get(headers[callHeader] ?? "");
    const departure: Departure = {
      call,
      at: performance.now(),
      body: typeof body === "string" ? body : undefined,
      key: headers["x-api-key"] ?? headers["service-api-key"],
      method,
    };
    const number = String(log.departures.push(departure));
    call?.departures.push(departure);
    if (dice.chance(troubles)) {
      departure.unsent = dice.pick(["refused", "refused", "dns", "tls"]);
      departure.endedAt = departure.at;
      const code = unsentErrors[departure.unsent];
      throw new TypeError("fetch failed", { cause: Object.assign(new Error(`connect ${code}`), { code }) });
    }
    try {
      const response = await mock.fetch(url, { ...init, headers: { ...headers, [departureHeader]: number } });
      if (!owner.isDead) noteResponse(departure, response);
      return owner.isDead ? await never() : response;
    } catch (error) {
      if (owner.isDead) return await never();
      departure.endedAt = performance.now();
      throw error;
    }
  };
}

function noteResponse(departure: Departure, { status, headers }: Response): void {
  departure.endedAt = performance.now();
  departure.status = status;
  const wait = headers.get("retry-after");
  if (wait === null) return;
  departure.waitMs = /^\d+$/.test(wait) ? Number(wait) * 1_000 : Math.max(0, Date.parse(wait) - Date.now());
}

export interface Surroundings {
  readonly service: Service;
  readonly log: Log;
  readonly calls: ReadonlyMap<string, CallRecord>;
  /** The limiter of all processes; undefined where nothing limits. */
  readonly limiter: RateLimiter | undefined;
  readonly troubles: number;
  readonly newName: (kind: string) => string;
}

/** What a client authenticates with. */
interface Keys {
  readonly v1: ApiKey;
  readonly v2: ApiKey;
}

/** A client with its views: they share the order of writes. */
export interface Lineage {
  readonly name: string;
  readonly views: readonly AudienceClient[];
}

/** One process with two clients, which can be killed. */
export class Process {
  isDead = false;
  /** Resolves when it is killed. */
  readonly died: Promise<void>;
  #end!: () => void;
  readonly limiter: RateLimiter | undefined;
  /** Those in use. */
  readonly lineages: Lineage[];
  readonly #opened: AudienceClient[] = [];
  readonly #around: Surroundings;
  readonly #dice: Dice;
  readonly #fetch: ReturnType<typeof networkOf>;
  readonly #keys: Keys;

  constructor(around: Surroundings, dice: Dice) {
    this.#around = around;
    this.#dice = dice;
    this.died = new Promise((resolve) => (this.#end = resolve));
    const { service, log, calls, limiter, troubles } = around;
    this.limiter = limiter;
    const wires = { mock: service.mock, log, dice: dice.split(), calls, troubles };
    this.#fetch = networkOf(wires, this);
    this.#keys = this.#newKeys(this.#dice.split());
    this.lineages = [this.#open(), this.#open()];
  }

  /** A lineage that was closed is opened again, under another name. */
  reopen(index: number): void {
    this.lineages[index] = this.#open();
  }

  /** Nothing of it reaches the world any more. Its clients are closed so that they let go of what they hold. */
  die(): void {
    this.isDead = true;
    this.#end();
    for (const client of this.#opened) void client.close();
  }

  #open(): Lineage {
    const { log, newName } = this.#around;
    const name = newName("client");
    const dice = this.#dice.split();
    const keys = this.#keysOfLineage(dice);
    const client = new AudienceClient(this.#options(dice, keys));
    this.#opened.push(client);
    const view = client.withOptions({ timeoutMs: 1_500, maxRetries: dice.int(0, 3), hooks: hooksOf(log) });
    return { name, views: [client, view] };
  }

  /** Those that the clients of the process share. */
  #newKeys(dice: Dice): Keys {
    const { log, service } = this.#around;
    const [key = "", keyV2 = ""] = service.keys;
    if (dice.chance(0.3)) return { v1: key, v2: keyV2 };
    // A client can only take out of a response what it has been given: some services here echo the right key.
    const mayRotate = typeof service.variants.v1Error !== "function";
    return { v1: mayRotate && dice.chance(0.5) ? rotatingKey(key, log, dice) : () => key, v2: () => keyV2 };
  }

  /** Some clients have functions of their own, and so count as another organization's. */
  #keysOfLineage(dice: Dice): Keys {
    const { v1, v2 } = this.#keys;
    const more = this.#newKeys(dice);
    return dice.pick([this.#keys, this.#keys, this.#keys, { v1, v2: more.v2 }, { v1: more.v1, v2 }, more]);
  }

  #options(dice: Dice, keys: Keys): ClientOptions {
    const { service, log } = this.#around;
    const { mock, variants } = service;
    const { baseUrl, baseUrlV2 } = mock.clientOptions;
    const { rateLimitStatus = 429 } = variants;
    return {
      baseUrl,
      baseUrlV2,
      apiKey: keys.v1,
      apiKeyV2: keys.v2,
      appId,
      fetch: variants.v1NeedsAppId === true ? withAppId(this.#fetch) : this.#fetch,
      rateLimiter: this.limiter ?? false,
      timeoutMs: dice.pick([1_500, 2_500, 5_000]),
      maxRetries: dice.pick([0, 1, 2, 4]),
      maxResponseBytes: 65_536,
      hooks: hooksOf(log),
      logger: { debug: (line) => say(log, "log", line), warn: (line) => say(log, "log", line) },
      logLevel: "debug",
      ...(rateLimitStatus !== 429 && {
        isRateLimited: ({ status }: { status: number }) => status === rateLimitStatus,
      }),
    };
  }
}

/** As an option of the client the header would be refused for calls of the v2 family. */
function withAppId(fetch: ReturnType<typeof networkOf>): ReturnType<typeof networkOf> {
  return (url, init) => fetch(url, { ...init, headers: { ...init.headers, "service-app-id": appId } });
}

/** Returns a key at once or later: the first times perhaps one that was revoked a while ago, and never again later. */
function rotatingKey(key: string, log: Log, dice: Dice): () => string | Promise<string> {
  const revoked = dice.word(24);
  log.secrets.push(revoked);
  let staleCalls = dice.pick([0, 1, 1, 2, 20]);
  return () => {
    const current = staleCalls-- > 0 ? revoked : key;
    const takesMs = dice.pick([undefined, undefined, undefined, 0, 20, 1_000]);
    if (takesMs === undefined) return current;
    return new Promise((resolve) => setTimeout(() => resolve(current), takesMs));
  };
}

function hooksOf(log: Log): NonNullable<ClientOptions["hooks"]> {
  const hook = (name: string) => (event: RequestEvent) => say(log, name, JSON.stringify(event));
  return {
    onRequest: hook("onRequest"),
    onResponse: hook("onResponse"),
    onRetry: hook("onRetry"),
    onThrottle: hook("onThrottle"),
  };
}

export function say(log: Log, where: string, text: unknown): void {
  log.said.push({ where, text: String(text) });
}

/** A process that ends takes along what it knows of the consents that its clients write. */
export function forgetConsents(): void {
  Reflect.deleteProperty(globalThis, Symbol.for("audience-sdk.consent-registry"));
}
