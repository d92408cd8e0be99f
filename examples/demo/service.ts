import { AudienceClient, DOCUMENTED_WINDOWS, RateLimiter } from "audience-sdk";
import { createMockService, type MockService } from "audience-sdk/mock";
import { formatDuration } from "../console/duration.ts";

/** The service that the demo runs against. */
export interface DemoService {
  readonly audience: AudienceClient;
  /** The client's rate limiter. */
  readonly rateLimiter: RateLimiter;
  readonly listId: string;
  /** A description in lines to print. */
  readonly description: readonly string[];
  /** The mock with its state, if the service is the mock. */
  readonly mock?: MockService;
  close(): Promise<void>;
}

/** A failed attempt that the client retries. */
export interface Retry {
  readonly operation: string;
  readonly error?: { readonly code: string };
}

/** Called for every retry. */
export type RetryListener = (retry: Retry) => void;

const timesShorter = 60;
const listId = "newsletter-readers";

/** The embedded mock behind a real HTTP server on loopback. Client and mock count the same, shortened windows. */
export async function openMock(onRetry: RetryListener): Promise<DemoService> {
  const windows = DOCUMENTED_WINDOWS.map(({ limit, intervalMs }) => ({
    limit,
    intervalMs: intervalMs / timesShorter,
  }));
  const mock = createMockService({
    organizations: [
      {
        id: "demo",
        apiKeys: ["mock-key-of-the-demo"],
        appId: "mock-app-of-the-demo",
        lists: [{ id: listId, name: "Newsletter readers", type: "LIST" }],
        automations: [
          { name: "Welcome to the list", on: { listId } },
          { name: "Thank the imported", on: { event: "contact_imported" } },
        ],
      },
    ],
    rateLimits: { windows, algorithm: "sliding" },
    // Two typical faults: the service fails once, and one response is lost. The first affects a row with all consents,
    // because a write without one is not retried.
    faults: [
      { kind: "500-before", operation: "v1.customers.upsert", times: 1, after: 52 },
      { kind: "reset-after", operation: "v1.events.send", times: 1, after: 20 },
    ],
  });
  const server = await mock.listen({ port: 0 });
  const rateLimiter = new RateLimiter({ windows });
  const audience = new AudienceClient({
    ...server.clientOptions,
    // All options are given, so that none comes from the environment.
    apiKeyV2: server.clientOptions.apiKeyV2 ?? server.clientOptions.apiKey,
    rateLimiter,
    hooks: { onRetry },
  });
  return {
    audience,
    rateLimiter,
    listId,
    description: [
      `On the embedded mock, over real HTTP: ${server.url}. Nothing leaves this machine.`,
      `Client and mock count in windows that are ${timesShorter} times shorter than the service's: ${describeWindows(windows)}.`,
    ],
    mock,
    close: async () => {
      await audience.close();
      await server.close();
    },
  };
}

/**
 * The service that the environment names (`AUDIENCE_BASE_URL`, `AUDIENCE_API_KEY`), at the documented limits.
 * Sends nothing. Throws a `ConfigurationError` that names what is missing.
 */
export function openLive(list: string, onRetry: RetryListener): DemoService {
  const rateLimiter = new RateLimiter();
  const audience = new AudienceClient({ rateLimiter, hooks: { onRetry } });
  // Reading the property validates the configuration.
  void audience.v1;
  return {
    audience,
    rateLimiter,
    listId: list,
    description: [
      `LIVE, against ${originOf(process.env["AUDIENCE_BASE_URL"])}.`,
      `At the service's limits: ${describeWindows(DOCUMENTED_WINDOWS)}.`,
    ],
    close: () => audience.close(),
  };
}

// Without user, password and query of the base URL.
function originOf(baseUrl = ""): string {
  const { origin, pathname } = new URL(baseUrl);
  return `${origin}${pathname === "/" ? "" : pathname}`;
}

function describeWindows(windows: readonly { limit: number; intervalMs: number }[]): string {
  return windows
    .map(
      ({ limit, intervalMs }) =>
        `${limit.toLocaleString("en")} per ${intervalMs < 1000 ? `${Math.round(intervalMs)} ms` : formatDuration(intervalMs)}`,
    )
    .join(", ");
}
