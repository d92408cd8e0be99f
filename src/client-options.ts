import * as z from "zod";
import {
  environmentVariables,
  noEnvironment,
  readEnvironment,
  sayThatLimiterIsLifted,
  type Environment,
  type SourcedOption,
} from "./environment.ts";
import { ConfigurationError } from "./errors.ts";
import { keepsTheLimiter, parseLimiter } from "./rate-limiter/default-limiter.ts";
import type { RateLimiterOptions } from "./rate-limiter/limiter-options.ts";
import type { RateLimiter } from "./rate-limiter/rate-limiter.ts";
import { isForbidden, ofRuntime } from "./runtime.ts";
import { optionTypes, optionThat, parseOptions } from "./schema/parse-options.ts";
import { hasMethods, isPlain, isRecord } from "./schema/predicates.ts";
import { checkSecret, keySource, type ApiKey } from "./transport/api-key.ts";
import { parseBaseUrl } from "./transport/base-url.ts";
import { callOptionsSchema, parseHeaders, type CallOptions } from "./transport/call-options.ts";
import type { KeySource, TransportSettings } from "./transport/call.ts";
import { ClientState } from "./transport/client-state.ts";
import type { Fetch } from "./transport/fetch.ts";
import {
  Observer,
  openTracing,
  logLevels,
  type Hooks,
  type Logger,
  type LogLevel,
  type RequestEvent,
} from "./transport/observer.ts";
import type { IsRateLimited } from "./transport/rate-refusal.ts";
import { Redactor } from "./transport/redact.ts";
import { Transport } from "./transport/transport.ts";
import type { ParsePage } from "./v1/parse-page.ts";

/** Options of a client. An option that is left out is read from its environment variable, if it has one. */
export interface ClientOptions extends Pick<
  CallOptions,
  "timeoutMs" | "deadlineMs" | "maxRetries" | "headers"
> {
  /** `{base_url}` of the v1 family; may carry a path prefix. `AUDIENCE_BASE_URL`. */
  baseUrl?: string | URL | undefined;
  /** `{base_url_v2}` of the v2 family. `AUDIENCE_BASE_URL_V2`. */
  baseUrlV2?: string | URL | undefined;
  /** The key, or a function that the client calls before every attempt. `AUDIENCE_API_KEY`. */
  apiKey?: ApiKey | undefined;
  /** The v2 family's key; default: `apiKey`. `AUDIENCE_API_KEY_V2`. */
  apiKeyV2?: ApiKey | undefined;
  /** The v2 family's app id. `AUDIENCE_APP_ID`. */
  appId?: string | undefined;
  /** The size limit of a response, in bytes after decompression. Default 10 MiB. */
  maxResponseBytes?: number | undefined;
  /**
   * A limiter, the options of a new limiter, or `false` for none. Default: the limiter of this process, because the
   * service counts per IP address. Options with only `maxWaitMs` or `maxQueued` keep that limiter.
   * `AUDIENCE_RATE_LIMIT=off` lifts it, for tests of an app.
   */
  rateLimiter?: RateLimiter | RateLimiterOptions | false | undefined;
  /** Finds the items in a v1 list response of an unusual shape. */
  parsePage?: ParsePage | undefined;
  /** Says which responses besides 429 refuse a call for its rate. */
  isRateLimited?: IsRateLimited | undefined;
  /** Replaces the global `fetch`, for a proxy or a test. */
  fetch?: Fetch | undefined;
  /** `console`, or a logger of pino, winston or Nest. Default: stderr if `AUDIENCE_LOG` is set, else none. */
  logger?: Logger | undefined;
  /** Default: `AUDIENCE_LOG`, else `"warn"`. `"debug"` logs a line for each attempt, wait and retry. */
  logLevel?: LogLevel | undefined;
  /** Functions that the client calls for each attempt, retry and long wait. */
  hooks?: Hooks | undefined;
  /** The prefix of the `User-Agent` header. */
  userAgent?: string | undefined;
  /** Permits the constructor in a browser, where every visitor can read the key. */
  dangerouslyAllowBrowser?: boolean | undefined;
  /** Permits an `http:` base URL of another machine, which sends the key unencrypted. */
  allowInsecureHttp?: boolean | undefined;
}

/** A client's options, checked. An option that only one family needs is required when that family is used. */
export interface ClientSettings extends TransportSettings {
  /** The options of the client, with what the environment was when it was created: for its other views. */
  readonly given: ClientOptions;
  readonly baseUrl: string | undefined;
  readonly baseUrlV2: string | undefined;
  readonly apiKey: KeySource | undefined;
  readonly apiKeyV2: KeySource | undefined;
  readonly appId: string | undefined;
  readonly parsePage: ParsePage | undefined;
  readonly limiter: RateLimiter | undefined;
}

/** A client's settings, and the transport of its calls. */
export interface OpenedClient {
  readonly settings: ClientSettings;
  readonly transport: Transport;
}

/** `state` is that of another view of the same client. Throws a `ConfigurationError` that names the option. */
export function openClient(options: ClientOptions, state?: ClientState): OpenedClient {
  const redactor = state?.redactor ?? new Redactor();
  const settings = parseClientOptions(options, redactor, state ? noEnvironment : readEnvironment());
  return {
    settings,
    transport: new Transport(settings, state ?? new ClientState(settings.limiter, redactor)),
  };
}

const keyOption = optionThat<ApiKey>(
  "a string, or a function that returns one",
  (value) => typeof value === "string" || typeof value === "function",
);

const urlOption = optionThat<string | URL>(
  "a string that is not empty, or a URL",
  (value) => (typeof value === "string" && value.trim() !== "") || value instanceof URL,
);

const clientOptionsSchema = z
  .strictObject({
    baseUrl: urlOption,
    baseUrlV2: urlOption,
    apiKey: keyOption,
    apiKeyV2: keyOption,
    appId: optionTypes.string,
    ...callOptionsSchema.pick({ timeoutMs: true, deadlineMs: true, maxRetries: true, headers: true }).shape,
    maxResponseBytes: optionTypes.positiveCount,
    rateLimiter: optionThat<RateLimiter | RateLimiterOptions | false>(
      "a RateLimiter, its options, or false",
      (value) => value === false || isRecord(value),
    ),
    parsePage: optionThat<ParsePage>("a function", isFunction),
    isRateLimited: optionThat<IsRateLimited>("a function", isFunction),
    fetch: optionThat<Fetch>("a function", isFunction),
    logger: optionThat<Logger>("an object with debug, info, warn or error as methods", isLogger),
    logLevel: z.enum(logLevels),
    hooks: optionThat<Hooks>("an object", isRecord),
    userAgent: optionTypes.string,
    dangerouslyAllowBrowser: optionTypes.boolean,
    allowInsecureHttp: optionTypes.boolean,
  })
  .partial() satisfies z.ZodType<ClientOptions>;

const hook = optionThat<(event: RequestEvent) => void>("a function", isFunction);

const hooksSchema = z
  .strictObject({ onRequest: hook, onResponse: hook, onRetry: hook, onThrottle: hook })
  .partial();

function isFunction(value: unknown): boolean {
  return typeof value === "function";
}

function isLogger(value: unknown): boolean {
  return ["debug", "info", "warn", "error"].some((level) => hasMethods(value, level));
}

/** Throws a `ConfigurationError` that names the option and never shows its value. */
function parseClientOptions(options: unknown, redactor: Redactor, environment: Environment): ClientSettings {
  const given: ClientOptions = parseOptions(clientOptionsSchema, options, "The client's options");
  const o: ClientOptions = { ...environment.options, ...given };
  refuseBrowser(o);
  const named = (name: SourcedOption) =>
    given[name] === undefined ? `${name} (${environmentVariables[name]})` : name;
  const url = (value: string | URL | undefined, name: SourcedOption) =>
    value === undefined ? undefined : parseBaseUrl(String(value), named(name), o.allowInsecureHttp ?? false);
  const key = (value: ApiKey | undefined, name: SourcedOption) =>
    value === undefined ? undefined : keySource(value, named(name), redactor);
  const apiKey = key(o.apiKey, "apiKey");
  const isLimiterLifted = environment.isLimiterLifted && keepsTheLimiter(o.rateLimiter);
  const { limiter, maxWaitMs, maxQueued } = parseLimiter(o.rateLimiter, isLimiterLifted);
  if (isLimiterLifted) sayThatLimiterIsLifted();
  const settings: ClientSettings = {
    given: o,
    baseUrl: url(o.baseUrl, "baseUrl"),
    baseUrlV2: url(o.baseUrlV2, "baseUrlV2"),
    apiKey,
    apiKeyV2: key(o.apiKeyV2, "apiKeyV2") ?? apiKey,
    appId: o.appId === undefined ? undefined : checkSecret(o.appId, named("appId")),
    parsePage: o.parsePage,
    limiter,
    call: {
      timeoutMs: o.timeoutMs ?? 30_000,
      deadlineMs: o.deadlineMs ?? Infinity,
      maxRetries: o.maxRetries ?? 4,
      maxWaitMs,
      priority: 5,
      headers: {
        accept: "application/json",
        "user-agent": userAgent(o.userAgent),
        ...parseHeaders(o.headers ?? {}),
      },
      given: {},
    },
    maxResponseBytes: o.maxResponseBytes ?? 10 * 1024 * 1024,
    maxQueued,
    isRateLimited: o.isRateLimited,
    fetch: o.fetch,
    observer: new Observer(parseHooks(o.hooks ?? {}), o.logger, o.logLevel ?? "warn", redactor),
    callTracing: openTracing("audience-sdk:call"),
    requestTracing: openTracing("audience-sdk:request"),
  };
  if (settings.baseUrl === undefined && settings.baseUrlV2 === undefined) {
    throw new ConfigurationError(
      `The client needs ${withVariable("baseUrl")} for the v1 family, or ${withVariable("baseUrlV2")} for the v2 family.`,
    );
  }
  return settings;
}

/** Names the options that a family lacks, with their environment variables. */
export function missingOptions(
  family: string,
  needed: Partial<Record<SourcedOption, unknown>>,
): ConfigurationError {
  // Safe: the keys of a literal.
  const names = Object.keys(environmentVariables) as SourcedOption[];
  const list = names.filter((name) => name in needed && needed[name] === undefined).map(withVariable);
  return new ConfigurationError(`The ${family} family needs ${list.join(", ")}.`);
}

function withVariable(name: SourcedOption): string {
  const variable = environmentVariables[name];
  const suffix = isForbidden(variable) ? ", which this runtime does not permit to read" : "";
  return `${name} (or ${variable}${suffix})`;
}

/** The options of another view of a client: the given ones over the client's own. The limiter stays the same. */
export function viewOptions(own: ClientOptions, options: ClientOptions): ClientOptions {
  const given: ClientOptions = parseOptions(clientOptionsSchema, options, "The options of withOptions");
  if (!keepsTheLimiter(given.rateLimiter)) {
    throw new ConfigurationError("withOptions keeps the rateLimiter: give only its maxWaitMs and maxQueued.");
  }
  const ownBounds = keepsTheLimiter(own.rateLimiter) ? own.rateLimiter : undefined;
  const { maxWaitMs = ownBounds?.maxWaitMs, maxQueued = ownBounds?.maxQueued } = given.rateLimiter ?? {};
  return {
    ...own,
    ...given,
    rateLimiter: { maxWaitMs, maxQueued },
    headers: { ...parseHeaders(own.headers ?? {}), ...parseHeaders(given.headers ?? {}) },
  };
}

/** Checks the hooks. Of an instance of a class only the hook methods are used; other properties are ignored. */
function parseHooks(given: Hooks): Hooks {
  const names = Object.keys(hooksSchema.shape);
  const methods = Object.fromEntries(names.map((name) => [name, Reflect.get(given, name)]));
  const found = parseOptions(hooksSchema, isPlain(given) ? given : methods, "hooks");
  if (isPlain(given) || Object.keys(found).length > 0) return given;
  throw new ConfigurationError(`hooks must have one of ${names.join(", ")}.`);
}

function refuseBrowser({ dangerouslyAllowBrowser }: ClientOptions): void {
  if (dangerouslyAllowBrowser || ofRuntime(({ window }) => window?.document) === undefined) return;
  throw new ConfigurationError(
    "In a browser every visitor could read the key: call from a backend, or set dangerouslyAllowBrowser.",
  );
}

/** As `package.json` has it: a test compares the two. */
export const packageVersion = "0.1.0";

function userAgent(prefix: string | undefined): string {
  const own = `audience-sdk/${packageVersion}`;
  return prefix === undefined ? own : `${checkSecret(prefix, "userAgent")} ${own}`;
}
