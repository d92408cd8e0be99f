import { checkSeeds } from "./check-seeds.ts";
import { checkPermissions, variantsOf } from "./check-variants.ts";
import { FaultPlan } from "./faults.ts";
import { handle, type ServiceState } from "./handle.ts";
import type { MockClientOptions, MockFetch, MockService, MockServiceOptions } from "./interface.ts";
import { listen } from "./listen.ts";
import { checkOptions } from "./options.ts";
import { ownCopy, readable } from "./own-copy.ts";
import { plainRequest } from "./plain-request.ts";
import { seededIds, seededRandom } from "./random.ts";
import { DOCUMENTED_RATE, type MockRateLimitOptions, RateLimiter } from "./rate-window.ts";
import type { MockRequest } from "./request-log.ts";
import { DEFAULT_ORGANIZATION, type MockOrganizationSeed } from "./seed.ts";
import type { MockVariants } from "./variants.ts";
import { World } from "./world.ts";

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
  const own = ownCopy("the options of the mock", options);
  checkOptions(own);
  const organizations = own.organizations ?? [DEFAULT_ORGANIZATION];
  checkSeeds(organizations);
  const variants = variantsOf(own.variants ?? {});
  checkPermissions(variants.permissions, organizations);
  const rateLimits = rateLimitsOf(own.rateLimits ?? false);
  const requests: MockRequest[] = [];
  let state = begin();

  function begin(): ServiceState {
    // Created when it is needed: edge runtimes forbid it at the top of a module.
    let controller: AbortController | undefined;
    const end = (): AbortController => (controller ??= new AbortController());
    const seed = own.seed ?? 1;
    const nowMs = own.clock ?? (() => Date.now());
    const random = seededRandom(seed);
    const sources = { variants, nowIso: () => new Date(nowMs()).toISOString(), nextId: seededIds(seed) };
    return {
      world: new World(organizations, sources),
      faults: new FaultPlan(own.faults ?? [], random),
      rateLimiter: rateLimits && new RateLimiter(rateLimits),
      rateLimits,
      variants,
      requests,
      random,
      nowMs,
      latencyMs: own.latencyMs ?? 0,
      ended: () => end().signal,
      end: () => end().abort(),
    };
  }

  const respond = (request: Request, clientIp: string) => handle(state, request, clientIp);
  const fetch: MockFetch = async (input, init) => {
    const request = readable("the request", () => plainRequest(input, init));
    request.signal.throwIfAborted();
    const response = await untilAborted(respond(request, "in-process"), request.signal);
    return Object.defineProperty(response, "url", { value: request.url });
  };
  const clientOptions = clientOptionsOf(organizations[0]!, variants, rateLimits);
  const service: MockService = {
    fetch,
    clientOptions: { ...clientOptions, fetch },
    organization: (idOrApiKey) => state.world.organization(idOrApiKey).snapshot(),
    requests,
    addFault: (fault) =>
      readable("the fault", () => state.faults.add(ownCopy("the parts of a fault", fault))),
    reset() {
      state.end();
      requests.length = 0;
      state = begin();
    },
    listen: async (listenOptions = {}) =>
      listen({ respond, service, clientOptions }, ownCopy("the options of listen", listenOptions)),
  };
  return service;
}

function rateLimitsOf(
  rateLimits: NonNullable<MockServiceOptions["rateLimits"]>,
): MockRateLimitOptions | undefined {
  if (rateLimits === false) return undefined;
  if (rateLimits === "documented") return { windows: DOCUMENTED_RATE };
  return "windows" in rateLimits ? rateLimits : { windows: rateLimits };
}

function clientOptionsOf(
  { apiKeys, apiKeysV2, appId }: MockOrganizationSeed,
  { baseUrl, baseUrlV2 }: MockVariants,
  rateLimits: MockRateLimitOptions | undefined,
): MockClientOptions {
  const [apiKey = ""] = apiKeys;
  const [apiKeyV2 = apiKey] = apiKeysV2 ?? [];
  const windows = rateLimits?.windows.map(({ limit, intervalMs }) => ({ limit, intervalMs }));
  const rateLimiter = windows === undefined ? false : { windows };
  return { baseUrl, baseUrlV2, apiKey, ...(apiKeyV2 !== apiKey && { apiKeyV2 }), appId, rateLimiter };
}

/** As with `fetch`, an abort rejects at once with the signal's reason, while the request itself runs on. */
function untilAborted(respond: Promise<Response>, signal: AbortSignal): Promise<Response> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    respond.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
