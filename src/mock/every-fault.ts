import { FAULT_KINDS, type MockFault, type MockFaultKind } from "./faults.ts";
import {
  DEFAULT_TIMEOUT_MS,
  describeRequest,
  type Job,
  type JobRequest,
  jobRequest,
  learn,
  messageOf,
  ofOneRun,
  runAll,
  runOnce,
  timeoutRule,
} from "./job-runs.ts";
import { aFunction, arrayOf, checkOption, enumOf, object } from "./json-rules.ts";
import type { MockServiceOptions } from "./mock-options.ts";
import { createMockService } from "./mock-service.ts";
import type { MockService } from "./public-types.ts";

/** Options of `everyFault`. */
export interface EveryFaultOptions {
  /** The kinds of faults; default all of them. */
  kinds?: readonly MockFaultKind[] | undefined;
  /** The options of each mock; default none. Its own `faults` apply where the tested one does not. */
  mock?: MockServiceOptions | undefined;
  /** Milliseconds for one run; default 60,000. A job that has not ended by then fails with that fault. */
  timeoutMs?: number | undefined;
}

/** One fault that a job does not survive. */
export class FaultFound extends Error {
  /** The kind of the fault. */
  readonly kind: MockFaultKind;
  /** The request that it affected. */
  readonly request: JobRequest;
  /** The error of the job itself. */
  declare readonly cause: unknown;

  constructor(kind: MockFaultKind, request: JobRequest, cause: unknown) {
    super(`the job fails if "${kind}" affects its ${describeRequest(request)}: ${messageOf(cause)}`, {
      cause,
    });
    this.name = "FaultFound";
    this.kind = kind;
    this.request = request;
  }
}

const kind = enumOf(...FAULT_KINDS);
// `createMockService` checks its options itself.
const optionsRule = object({
  kinds: arrayOf(kind, { min: 1 }),
  mock: () => undefined,
  timeoutMs: timeoutRule,
});

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
 * again. A job that does not end within `timeoutMs` fails. It resolves to the number of requests without a fault, and the number of runs, the first included.
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
  const { kinds = FAULT_KINDS, mock: mockOptions = {}, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const mock = createMockService(mockOptions);
  const requests = await learn(job, { mock, timeoutMs, read: () => mock.requests.length });
  const faults = Array.from({ length: requests }, (_, after) =>
    kinds.map((each): MockFault => ({ kind: each, after, times: 1, ...BRIEFLY[each] })),
  ).flat();
  await runAll(faults, (fault) => runWith(fault, job, { mock: mockOptions, timeoutMs }));
  return { requests, runs: faults.length + 1 };
}

async function runWith(
  fault: MockFault,
  job: Job,
  { mock: options, timeoutMs }: { mock: MockServiceOptions; timeoutMs: number },
): Promise<void> {
  const mock = createMockService({ ...ofOneRun(options), faults: [fault, ...(options.faults ?? [])] });
  try {
    await runOnce(job, mock, timeoutMs);
  } catch (error) {
    const at = mock.requests.findIndex((request) => request.fault === fault.kind);
    const affected = mock.requests[at];
    // The fault had no part in it.
    if (affected === undefined) throw error;
    throw new FaultFound(fault.kind, jobRequest(affected, at + 1), error);
  } finally {
    mock.reset();
  }
}
