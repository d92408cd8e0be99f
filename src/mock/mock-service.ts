import { variantsOf } from "./default-variants.ts";
import { faultPlan, faultRule } from "./faults.ts";
import { handleRequest, type Mock, type ServiceState } from "./handle-request.ts";
import { checkOption, isObject } from "./json-rules.ts";
import { listen } from "./listen.ts";
import { type MockServiceOptions, optionsRule } from "./mock-options.ts";
import { people } from "./people.ts";
import type { MockClientOptions, MockFetch, MockService } from "./public-types.ts";
import { RateLimiter, rateLimitOf } from "./rate-window.ts";
import { RequestLog } from "./request-log.ts";
import { credentialsOf } from "./start-page.ts";
import type { StateChange } from "./state/changes.ts";
import { Organizations, resubscriptionsOf } from "./state/organizations.ts";
import {
  checkPermissions,
  checkSeeds,
  DEFAULT_ORGANIZATION,
  type MockOrganizationSeed,
} from "./state/seed.ts";
import { unlessAborted } from "./wait.ts";
import { type MockWebhookFetch, WebhookCaller } from "./webhooks.ts";

/**
 * Creates a mock of the service for tests: it keeps state, validates requests and can simulate faults.
 *
 * ```ts
 * const mock = createMockService();
 * const audience = new AudienceClient(mock.clientOptions);
 * await audience.v1.customers.upsert({ email: "ada@example.com", email_opt_in: "SUBSCRIBED" });
 * mock.organization("mock-organization").contacts[0]?.email_opt_in; // "SUBSCRIBED"
 * ```
 */
export function createMockService(options: MockServiceOptions = {}): MockService {
  return createMock(options).service;
}

/** The mock with its inner parts. With a `speed` it has a rate limit, in windows that many times shorter. */
export function createMock(options: MockServiceOptions, speed?: number): Mock {
  checkOption("options", options, optionsRule);
  const own = copyOf(options);
  const organizations = own.organizations ?? [DEFAULT_ORGANIZATION];
  checkSeeds(organizations, own.webhooks);
  const variants = variantsOf(own.variants ?? {});
  checkPermissions(organizations, variants.permissions);
  const rateLimits = rateLimitOf(own.rateLimits ?? (speed === undefined ? false : "documented"), speed);
  const log = new RequestLog();
  const { requests } = log;
  const begin = () =>
    newState(own, {
      organizations,
      variants,
      rateLimits,
      log,
      webhookFetch: own.webhookFetch ?? globalFetch,
    });
  let state = begin();

  async function globalFetch(url: string, init: RequestInit): Promise<Response> {
    if (globalThis.fetch !== fetch) return await globalThis.fetch(url, init);
    throw new TypeError("the mock's own fetch stands in for the global one: pass `webhookFetch`");
  }

  const respond = (request: Request, clientIp: string) => handleRequest(state, request, clientIp);
  const fetch: MockFetch = async (input, init) => {
    const request = new Request(input, init);
    request.signal.throwIfAborted();
    // The request itself runs on after an abort, as one that has arrived does.
    const response = await unlessAborted(respond(request, "in-process"), request.signal);
    return Object.defineProperty(response, "url", { value: request.url });
  };
  const clientOptions = clientOptionsOf({ variants, rateLimits }, organizations[0]!);
  const service: MockService = {
    fetch,
    clientOptions: { ...clientOptions, fetch },
    organization: (idOrApiKey) => state.organizations.organization(idOrApiKey).snapshot(),
    requests,
    get resubscriptions() {
      return resubscriptionsOf(state.organizations);
    },
    addFault(fault) {
      checkOption("fault", fault, faultRule);
      state.faults.add(copyOf(fault));
      log.changed();
    },
    ...people(() => state.organizations),
    settled: () => state.webhooks.settled(),
    reset() {
      state.end();
      state = begin();
      log.clear();
    },
    listen: async (listenOptions = {}) => listen({ respond, mock, clientOptions }, listenOptions),
  };
  const mock = { service, log, state: () => state, speed };
  return mock;
}

function clientOptionsOf(
  { variants, rateLimits }: Pick<ServiceState, "variants" | "rateLimits">,
  organization: MockOrganizationSeed,
): MockClientOptions {
  const windows = rateLimits?.windows.map(({ limit, intervalMs }) => ({ limit, intervalMs }));
  return {
    baseUrl: variants.baseUrl,
    baseUrlV2: variants.baseUrlV2,
    ...credentialsOf(organization),
    rateLimiter: windows === undefined ? false : { windows },
  };
}

type Parts = Pick<ServiceState, "variants" | "rateLimits" | "log"> & {
  organizations: readonly MockOrganizationSeed[];
  webhookFetch: MockWebhookFetch;
};

/** The state at the start, and after a reset. */
function newState(own: MockServiceOptions, parts: Parts): ServiceState {
  const { organizations, webhookFetch, ...shared } = parts;
  const { variants, rateLimits, log } = shared;
  // Created when it is needed: edge runtimes forbid it at the top of a module.
  let controller: AbortController | undefined;
  const end = (): AbortController => (controller ??= new AbortController());
  const ended = () => end().signal;
  const seed = own.seed ?? 1;
  const random = seededRandom(seed);
  const nowMs = own.clock ?? (() => Date.now());
  const nowIso = () => new Date(nowMs()).toISOString();
  const changed = (change?: StateChange) => log.changed(change);
  const webhooks = new WebhookCaller({ fetch: webhookFetch, variants, nowIso, ended, changed });
  const sources = { variants, nowIso, nextId: seededIds(seed), webhooks, changed };
  return {
    ...shared,
    organizations: new Organizations(organizations, sources),
    webhooks,
    faults: faultPlan(own.faults ?? [], random),
    rateLimiter: rateLimits && new RateLimiter(rateLimits),
    random,
    nowMs,
    latencyMs: own.latencyMs ?? 0,
    ended,
    end: () => end().abort(),
  };
}

/**
 * Copies an input of the mock, without the keys that are undefined, so that later changes do not affect the mock.
 * Functions and dates are not copied.
 */
function copyOf<T>(given: T): T {
  const copy = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(copy);
    if (!isObject(value)) return value;
    // Only for the variant `eventBody` undefined has a meaning: no body.
    const entries = Object.entries(value).filter(
      ([key, inner]) => inner !== undefined || key === "eventBody",
    );
    return Object.fromEntries(entries.map(([key, inner]) => [key, copy(inner)]));
  };
  // Safe: a copy has the same type.
  return copy(given) as T;
}

/** The mulberry32 generator, with a period of 2³². The same seed gives the same numbers. */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A generator of ids in the form of UUIDs (version 4). The same seed gives the same ids. */
function seededIds(seed: number): () => string {
  const random = seededRandom(seed);
  const word = () =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, "0");
  return () => {
    const [a, b, c, d] = [word(), word(), word(), word()];
    return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-8${c.slice(1, 4)}-${c.slice(4)}${d}`;
  };
}
