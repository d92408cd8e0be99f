import { FAULT_KINDS, type MockFault, type MockFaultKind } from "./faults.ts";
import { aFunction, arrayOf, checkOption, enumOf, object } from "./json-rules.ts";
import type { MockServiceOptions } from "./mock-options.ts";
import { createMockService } from "./mock-service.ts";
import type { MockOperation } from "./operations.ts";
import type { MockService } from "./public-types.ts";
import { V1_ENDPOINTS } from "./v1/routes.ts";
import { V2_ENDPOINTS } from "./v2/routes.ts";

/** Options of `everyFault`. */
export interface EveryFaultOptions {
  /** The kinds of faults; default all of them. */
  kinds?: readonly MockFaultKind[];
  /** The options of each mock; default none. Its own `faults` apply where the tested one does not. */
  mock?: MockServiceOptions;
}

/** The request at which a fault broke a job. */
export interface FaultedRequest {
  /** Its place among the requests of the job, from 1. */
  number: number;
  /** `undefined` if no endpoint has its method and path. */
  operation: MockOperation | undefined;
  /** Its method and path, as in the document: `GET /api/v1/customer/{id}`. */
  route: string;
}

/** One fault that a job does not survive. `cause` is the error of the job itself. */
export class FaultFound extends Error {
  /** The kind of the fault. */
  readonly kind: MockFaultKind;
  /** The request that it affected. */
  readonly request: FaultedRequest;

  constructor(kind: MockFaultKind, request: FaultedRequest, cause: unknown) {
    const { number, operation = "no endpoint", route } = request;
    super(
      `the job fails if "${kind}" affects its request ${number} (${operation}, ${route}): ${messageOf(cause)}`,
      { cause },
    );
    this.name = "FaultFound";
    this.kind = kind;
    this.request = request;
  }
}

const kind = enumOf(...FAULT_KINDS);
// `createMockService` checks its options itself.
const optionsRule = object({ kinds: arrayOf(kind, { min: 1 }), mock: () => undefined });

/** So many runs at a time: most of their time is waiting. */
const AT_A_TIME = 8;

/** A fault that waits, waits briefly: no job learns more from a longer wait. */
const BRIEFLY: Partial<Record<MockFaultKind, Partial<MockFault>>> = {
  hang: { delayMs: 50 },
  latency: { delayMs: 50 },
  "slow-body": { delayMs: 5 },
  "429": { retryAfter: 0 },
  "503-retry-after": { retryAfter: 0 },
};

/**
 * Finds the single failure that a job does not survive. It runs the job once without a fault, to learn its requests, and then
 * once for each request with each kind of fault. The job asserts on the state of the mock at its end, and throws if
 * something is missing or stands there twice.
 *
 * ```ts
 * const { requests, runs } = await everyFault(async (mock) => {
 *   const { v1 } = new AudienceClient(mock.clientOptions);
 *   const event = { eventName: "paid", uniqueIdentifier: "order-1", contact: { email: "ada@example.com" } };
 *   await v1.events.send(event).catch(() => v1.events.send(event)); // with its id it is safe to send again
 *   assert.equal(mock.organization("mock-organization").events.length, 1);
 * });
 * ```
 *
 * Each run has a mock of its own, and several run at a time, so a job must share nothing with its other runs. Waits are
 * short: `"hang"` breaks the connection after 50 ms, and `Retry-After` is 0. Retries inside the job are not affected
 * again. It resolves to the number of requests without a fault, and the number of runs, the first included.
 *
 * @throws {FaultFound} if the job fails with a fault: the first in the order of the requests.
 * @throws the job's own error, unchanged, if it fails without any fault.
 * @throws {TypeError} if an option is wrong, or the job sends no request to its mock.
 */
export async function everyFault(
  job: (mock: MockService) => Promise<unknown>,
  options: EveryFaultOptions = {},
): Promise<{ requests: number; runs: number }> {
  checkOption("job", job, aFunction);
  checkOption("options", options, optionsRule);
  const { kinds = FAULT_KINDS, mock: mockOptions = {} } = options;
  const requests = await learnRequests(job, mockOptions);
  const faults = Array.from({ length: requests }, (_, after) =>
    kinds.map((each): MockFault => ({ kind: each, after, times: 1, ...BRIEFLY[each] })),
  ).flat();

  const failures = new Map<MockFault, unknown>();
  const waiting = [...faults];
  const worker = async (): Promise<void> => {
    // After a failure no run begins, and those under way end: so the first in order is among the failures.
    for (let fault = waiting.shift(); fault && failures.size === 0; fault = waiting.shift()) {
      try {
        await runWith(fault, job, mockOptions);
      } catch (error) {
        failures.set(fault, error);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
  for (const fault of faults) if (failures.has(fault)) throw failures.get(fault);
  return { requests, runs: faults.length + 1 };
}

type Job = (mock: MockService) => Promise<unknown>;

/** The number of requests of a run without a fault. */
async function learnRequests(job: Job, options: MockServiceOptions): Promise<number> {
  const mock = createMockService(options);
  try {
    await job(mock);
    if (mock.requests.length > 0) return mock.requests.length;
  } finally {
    mock.reset();
  }
  throw new TypeError("the job sent no request to its mock: give its client `mock.clientOptions`");
}

async function runWith(fault: MockFault, job: Job, options: MockServiceOptions): Promise<void> {
  const mock = createMockService({ ...options, faults: [fault, ...(options.faults ?? [])] });
  try {
    await job(mock);
  } catch (error) {
    const at = mock.requests.findIndex((request) => request.fault === fault.kind);
    const affected = mock.requests[at];
    // The fault had no part in it.
    if (affected === undefined) throw error;
    const { operation, method } = affected;
    const endpoint = [...V1_ENDPOINTS, ...V2_ENDPOINTS].find((one) => one.operation === operation);
    const route = endpoint?.route ?? `${method} of an unknown path`;
    throw new FaultFound(fault.kind, { number: at + 1, operation, route }, error);
  } finally {
    // It ends requests and webhook calls that are still under way.
    mock.reset();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
