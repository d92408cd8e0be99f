import * as z from "zod";
import type { RateLimiterOptions } from "./rate-limiter/limiter-options.ts";
import type { RateLimiter } from "./rate-limiter/rate-limiter.ts";
import { explainOption, functionThat, optionTypes, optionThat } from "./schema/parse-options.ts";
import { besideOtherIssues } from "./schema/validate.ts";
import { problemsOfSecret, type ApiKey } from "./transport/api-key.ts";
import { headersOption, type CallOptions } from "./transport/call-options.ts";
import type { Fetch } from "./transport/fetch-types.ts";
import {
  logLevels,
  type Hooks,
  type Logger,
  type LogLevel,
  type RequestEvent,
} from "./transport/observer.ts";
import type { IsRateLimited } from "./transport/rate-refusal.ts";
import type { ParsePage } from "./v1/v1-list.ts";
import { hasMethods, hasProperty, isPlain, isRecord, withoutPrototype } from "./values/predicates.ts";

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
   * A limiter, the options of a new limiter, or `false` for none. Default: the one limiter of this process for this service,
   * because the service counts per IP address. Clients that share an origin are of one service. Options with only
   * `maxWaitMs`, `maxQueued` or `reserve` keep that limiter: the first two hold for the calls of this client, and `reserve`
   * is the limiter's. `AUDIENCE_RATE_LIMIT=off` lifts it, for tests of an app.
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

/** A base URL, as a call uses it: without its final slash. Refuses one that leads elsewhere than it seems to. */
const baseUrlOption = optionThat<string | URL>(
  "a string that is not empty, or a URL",
  (value) => (typeof value === "string" && value !== "") || value instanceof URL,
).transform((baseUrl, { issues }) => {
  const text = String(baseUrl);
  const message = problemOfBaseUrl(text);
  if (message !== undefined) {
    issues.push({ code: "custom", message, input: baseUrl });
    return z.NEVER;
  }
  const { origin, pathname } = new URL(text);
  return origin + pathname.replace(/\/+$/, "");
});

function problemOfBaseUrl(baseUrl: string): string | undefined {
  const url = parseUrl(baseUrl);
  if (!url || !/^https?:\/\//i.test(baseUrl.trim()))
    return "must begin with https:// and name a host, as https://example.com does";
  if (url.username !== "" || url.password !== "" || /[?#]/.test(baseUrl))
    return "must not hold a user name, a password, a query or a fragment";
  if (!showsHost(baseUrl, url.hostname))
    return `leads to the host ${url.hostname}, and shows another one: write the host that you mean`;
  if (/\/(api\/v1|v2)(\/|$)/i.test(url.pathname))
    return "already holds /api/v1 or /v2, which each call adds: remove it";
  return undefined;
}

/** `URL.canParse` of Node 20 and 22 refuses hosts such as `bücher.example` once it is called often. */
function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** Whether the host of a base URL is written as it is, but for case, the form of an IPv6 address, and letters of `xn--`. */
function showsHost(baseUrl: string, hostname: string): boolean {
  if (hostname.startsWith("[")) return true;
  const afterScheme = baseUrl.trim().replace(/^https?:[/\\]+/i, "");
  const shownHost = afterScheme.replace(/(:\d*)?([/\\].*)?$/s, "");
  const shownLabels = shownHost.toLowerCase().split(".");
  const labels = hostname.split(".");
  const isShown = (label: string, shown = "") =>
    label === shown || (label.startsWith("xn--") && /^[\p{L}\p{M}\p{Nd}-]+$/u.test(shown));
  return labels.length === shownLabels.length && labels.every((label, at) => isShown(label, shownLabels[at]));
}

/** Whether an accepted base URL sends the key to another machine unencrypted. A refused base URL is no text. */
function isInsecure(baseUrl: unknown): boolean {
  return typeof baseUrl === "string" && baseUrl.startsWith("http:") && !isLoopback(new URL(baseUrl).hostname);
}

/** Whether a host is this machine. Not a subdomain of `localhost`: the resolver may look them up in the network. */
function isLoopback(hostname: string): boolean {
  return /^(localhost|\[::1\]|127(\.\d+){3})$/.test(hostname);
}

const keyOption = optionThat<ApiKey>(
  "a string, or a function that returns one",
  (value) => typeof value === "string" || typeof value === "function",
).check(refuseBadSecret);

const headerTextOption = optionTypes.string.check(refuseBadSecret);

/** Refuses a text that cannot be a secret. An option of a wrong type, or a function that gives the secret, is not judged. */
function refuseBadSecret({ value, issues }: z.core.ParsePayload): void {
  if (typeof value !== "string" || issues.length > 0) return;
  for (const message of problemsOfSecret(value)) issues.push({ code: "custom", message, input: value });
}

const hook = functionThat<(event: RequestEvent) => void>();

const hooksSchema = z
  .strictObject({ onRequest: hook, onResponse: hook, onRetry: hook, onThrottle: hook })
  .partial();

// Of hooks that are an instance of a class only the hook methods are used; other properties are ignored.
const hooksOption = optionThat<Hooks>("an object", isRecord).check(({ value, issues }) => {
  if (issues.length > 0) return;
  const names = Object.keys(hooksSchema.shape);
  const givenHooks = names.filter((name) => hasProperty(value, name));
  const methods = Object.fromEntries(givenHooks.map((name) => [name, Reflect.get(value, name)]));
  const judgedHooks = withoutPrototype(isPlain(value) ? value : methods);
  const { success, error } = hooksSchema.safeParse(judgedHooks, { error: explainOption });
  // Safe: only a problem that zod raises has other properties.
  for (const issue of success ? [] : error.issues)
    issues.push({ ...issue, input: value } as z.core.$ZodRawIssue);
  if (isPlain(value) || Object.values(methods).some((method) => method !== undefined)) return;
  issues.push({ code: "custom", message: `must have one of ${names.join(", ")}`, input: value });
});

const insecureUrl = "is http:, which would send the key in the clear; use https:, or set allowInsecureHttp";

export const clientOptionsSchema = z
  .strictObject({
    baseUrl: baseUrlOption,
    baseUrlV2: baseUrlOption,
    apiKey: keyOption,
    apiKeyV2: keyOption,
    appId: headerTextOption,
    rateLimiter: optionThat<RateLimiter | RateLimiterOptions | false>(
      "a RateLimiter, its options, or false",
      (value) => value === false || isRecord(value),
    ),
    parsePage: functionThat<ParsePage>(),
    isRateLimited: functionThat<IsRateLimited>(),
    fetch: functionThat<Fetch>(),
    logger: optionThat<Logger>("an object with debug, info, warn or error as methods", isLogger),
    userAgent: headerTextOption,
    dangerouslyAllowBrowser: optionTypes.boolean,
    allowInsecureHttp: optionTypes.boolean,
  })
  .partial()
  .extend({
    timeoutMs: optionTypes.durationMs.default(30_000),
    deadlineMs: optionTypes.durationMs.default(Infinity),
    maxRetries: optionTypes.count.default(4),
    maxResponseBytes: optionTypes.positiveCount.default(10 * 1024 * 1024),
    headers: headersOption.default({}),
    logLevel: z.enum(logLevels).default("warn"),
    hooks: hooksOption.default({}),
  })
  .superRefine((options, { addIssue }) => {
    for (const name of ["baseUrl", "baseUrlV2"] as const)
      if (!options.allowInsecureHttp && isInsecure(options[name]))
        addIssue({ code: "custom", path: [name], message: insecureUrl });
  }, besideOtherIssues) satisfies z.ZodType<unknown, ClientOptions>;

function isLogger(value: unknown): boolean {
  return ["debug", "info", "warn", "error"].some((level) => hasMethods(value, level));
}
