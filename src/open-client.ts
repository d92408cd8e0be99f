import type * as z from "zod";
import { clientOptionsSchema, type ClientOptions } from "./client-options.ts";
import {
  environmentVariables,
  readEnvironment,
  readRateLimit,
  sayRateLimit,
  type SourcedOption,
} from "./environment.ts";
import { ConfigurationError } from "./errors.ts";
import { keepsTheLimiter, limiterOf, parseKept } from "./rate-limiter/client-limiter.ts";
import { ofRuntime } from "./runtime.ts";
import { copyOptions, parseOptions, type Given } from "./schema/parse-options.ts";
import { KeySource, type FamilyAccess } from "./transport/api-key.ts";
import type { TransportSettings } from "./transport/call.ts";
import { ClientState } from "./transport/client-state.ts";
import { Observer } from "./transport/observer.ts";
import { gramLength, Redactor } from "./transport/redact.ts";
import { openTracing } from "./transport/tracing.ts";
import { Transport } from "./transport/transport.ts";
import type { ParsePage } from "./v1/v1-list.ts";
import { withoutPrototype } from "./values/predicates.ts";

type ParsedClientOptions = Given<z.output<typeof clientOptionsSchema>>;

/** Options as they were given, and what the environment was: without defaults, the headers in one form. */
type GivenOptions = ClientOptions & { readonly headers: Readonly<Record<string, string>> };

/** The settings of a client: its options, checked. An option that one family needs is required when that family is used. */
export interface ClientSettings extends TransportSettings {
  readonly parsePage?: ParsePage | undefined;
  readonly families: readonly FamilyAccess[];
  /** The options of the client, with what the environment was when it was created: for views of the client. */
  readonly options: GivenOptions;
}

export interface OpenedClient {
  readonly settings: ClientSettings;
  readonly transport: Transport;
}

/**
 * `state` is that of another view of the same client. Throws a `ConfigurationError` that names each wrong option and never shows
 * its value.
 */
export function openClient(options: ClientOptions, state?: ClientState): OpenedClient {
  const redactor = state?.redactor ?? new Redactor();
  const subject = "The client's options";
  const directOptions = copyOptions<ClientOptions>(clientOptionsSchema, options, subject);
  // The options of another view hold what the client has read from the environment.
  const givenOptions = withoutPrototype({ ...(state ? {} : readEnvironment()), ...directOptions });
  const isLifted = !state && readRateLimit() === Infinity;
  // The names in an error of the options may hold a key that stands in the wrong place.
  for (const key of [givenOptions.apiKey, givenOptions.apiKeyV2])
    // A shorter key would take letters out of every word.
    if (typeof key === "string" && key.length >= gramLength) redactor.remember(key);
  const settings = redactor.guard(() =>
    parseOptions(clientOptionsSchema, givenOptions, subject, (name) => {
      // Safe: other options of the environment are judged where they are read.
      return name in directOptions ? name : `${name} (${environmentVariables[name as SourcedOption]})`;
    }),
  );
  refuseBrowser(settings);
  const isLimiterLifted = isLifted && keepsTheLimiter(settings.rateLimiter);
  const { maxWaitMs, maxQueued, reserve } = parseKept(settings.rateLimiter);
  const limiter = state?.limiter ?? limiterOf(settings.rateLimiter, isLimiterLifted);
  refuseNoBaseUrl(settings);
  if (isLimiterLifted)
    sayRateLimit(
      "off lifts the rate limit of clients that were given no limiter, which is for tests of an app.",
    );
  const origins = [settings.baseUrl, settings.baseUrlV2].flatMap((url) => (url ? [new URL(url).origin] : []));
  limiter.join(origins, reserve);
  const { timeoutMs, deadlineMs, maxRetries, headers } = settings;
  const userAgent = settings.userAgent === undefined ? product : `${settings.userAgent} ${product}`;
  const headersOfAll = { accept: "application/json", "user-agent": userAgent, ...headers };
  const callDefaults = { timeoutMs, deadlineMs, maxRetries, maxWaitMs, priority: 5, headers: headersOfAll };
  const clientSettings = withoutPrototype({
    ...settings,
    families: familiesOf(settings, redactor),
    options: withoutPrototype({ ...givenOptions, headers }),
    call: withoutPrototype(callDefaults),
    maxQueued,
    observer: new Observer(settings.hooks, settings.logger, settings.logLevel, redactor),
    callTracing: openTracing("audience-sdk:call"),
    requestTracing: openTracing("audience-sdk:request"),
  });
  const transport = new Transport(clientSettings, state ?? new ClientState(limiter, redactor));
  return { settings: clientSettings, transport };
}

/** The options of another view of a client: the given ones over the client's own. The limiter stays the same. */
export function viewOptions(own: GivenOptions, options: ClientOptions): ClientOptions {
  const subject = "The options of withOptions";
  const given = copyOptions<ClientOptions>(clientOptionsSchema, options, subject);
  const { headers } = parseOptions(clientOptionsSchema, { ...own, headers: undefined, ...given }, subject);
  if (!keepsTheLimiter(given.rateLimiter)) {
    throw new ConfigurationError(
      "withOptions keeps the rateLimiter: give only its maxWaitMs, maxQueued and reserve.",
    );
  }
  const ownBounds = keepsTheLimiter(own.rateLimiter) ? own.rateLimiter : undefined;
  const bounds = parseKept(given.rateLimiter);
  const { maxWaitMs = ownBounds?.maxWaitMs, maxQueued = ownBounds?.maxQueued } = bounds;
  return {
    ...own,
    ...given,
    rateLimiter: { maxWaitMs, maxQueued, reserve: bounds.reserve },
    headers: { ...own.headers, ...headers },
  };
}

/** The families whose options are complete ("Authentication"). */
function familiesOf(
  { apiKey, apiKeyV2, baseUrl, baseUrlV2, appId }: ParsedClientOptions,
  redactor: Redactor,
): FamilyAccess[] {
  const families: FamilyAccess[] = [];
  const key = apiKey === undefined ? undefined : new KeySource(apiKey, "apiKey", redactor);
  const keyV2 = apiKeyV2 === undefined ? key : new KeySource(apiKeyV2, "apiKeyV2", redactor);
  if (baseUrl !== undefined && key)
    families.push({ name: "v1", baseUrl, key, keyHeader: "x-api-key", headers: {} });
  if (baseUrlV2 !== undefined && keyV2 && appId !== undefined) {
    const headers = { "service-app-id": appId };
    families.push({ name: "v2", baseUrl: baseUrlV2, key: keyV2, keyHeader: "service-api-key", headers });
  }
  return families;
}

/** A family of a client. Throws a `ConfigurationError` that names the options that it lacks, and their variables. */
export function familyOf({ families, options }: ClientSettings, name: "v1" | "v2"): FamilyAccess {
  const family = families.find((access) => access.name === name);
  if (family) return family;
  const { baseUrl, baseUrlV2, apiKey, apiKeyV2 = apiKey, appId } = options;
  const neededOptions = name === "v1" ? { baseUrl, apiKey } : { baseUrlV2, apiKey: apiKeyV2, appId };
  // Safe: the keys of a literal.
  const names = Object.keys(neededOptions) as (keyof typeof neededOptions)[];
  const missing = names.filter((option) => neededOptions[option] === undefined).map(withVariable);
  throw new ConfigurationError(`The ${name} family needs ${missing.join(", ")}.`);
}

function refuseBrowser({ dangerouslyAllowBrowser }: ParsedClientOptions): void {
  if (dangerouslyAllowBrowser || ofRuntime(({ window }) => window?.document) === undefined) return;
  throw new ConfigurationError(
    "In a browser every visitor could read the key: call from a backend, or set dangerouslyAllowBrowser.",
  );
}

function refuseNoBaseUrl({ baseUrl, baseUrlV2 }: ParsedClientOptions): void {
  if (baseUrl !== undefined || baseUrlV2 !== undefined) return;
  throw new ConfigurationError(
    `The client needs ${withVariable("baseUrl")} for the v1 family, or ${withVariable("baseUrlV2")} for the v2 family. ` +
      "No service yet? `npx audience-mock --env .env` starts a mock, and `node --env-file=.env` reads its address.",
  );
}

function withVariable(name: SourcedOption): string {
  return `${name} (or ${environmentVariables[name]})`;
}

/** With the version as `package.json` has it: a test compares the two. */
const product = "audience-sdk/0.1.0";
