import { AudienceClient, DOCUMENTED_WINDOWS, RateLimiter } from "audience-sdk";
import { createMockService, type MockService } from "audience-sdk/mock";
import { formatDuration } from "../console/duration.ts";

/** The service that the demo runs against. */
export interface DemoService {
  readonly audience: AudienceClient;
  /** What sets the client's pace. */
  readonly rateLimiter: RateLimiter;
  readonly listId: string;
  /** What it is, in lines to print. */
  readonly description: readonly string[];
  /** The mock itself, where it is the mock: its own books can be looked into. */
  readonly mock?: MockService;
  close(): Promise<void>;
}

/** An attempt that failed, and that the client makes again. */
export interface Retry {
  readonly operation: string;
  readonly error?: { readonly code: string };
}

/** Told of every retry. */
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
    // Two things that happen to every import: the service fails once, and once its response is lost on the way. The first
    // meets rows that say every consent: a write that leaves one out is not made again by itself.
    faults: [
      { kind: "500-before", operation: "v1.customers.upsert", times: 1, after: 52 },
      { kind: "reset-after", operation: "v1.events.send", times: 1, after: 20 },
    ],
  });
  const server = await mock.listen({ port: 0 });
  const rateLimiter = new RateLimiter({ windows });
  const audience = new AudienceClient({
    ...server.clientOptions,
    // Given in full, so that nothing is taken from the environment.
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
  // Reading it is what checks the configuration.
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

// Without what a base URL may carry besides: user and password, a query.
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
