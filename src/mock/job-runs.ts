import { isDuration, type Rule, that } from "./json-rules.ts";
import type { MockServiceOptions } from "./mock-options.ts";
import type { MockOperation } from "./operations.ts";
import type { MockRequest, MockService } from "./public-types.ts";
import { V1_ENDPOINTS } from "./v1/routes.ts";
import { V2_ENDPOINTS } from "./v2/routes.ts";

/** A request of a job that `everyFault` or `everyClick` has run. */
export interface JobRequest {
  /** Its place among the requests of the job, from 1. */
  number: number;
  /** `undefined` if no endpoint has its method and path. */
  operation: MockOperation | undefined;
  /** Its method and path, as in the document: `GET /api/v1/customer/{id}`. */
  route: string;
}

export type Job = (mock: MockService) => Promise<unknown>;

/** So many runs at a time: most of their time is waiting. */
const AT_A_TIME = 8;

/** For one run. */
export const DEFAULT_TIMEOUT_MS = 60_000;
export const timeoutRule: Rule = that(
  (value) => isDuration(value) && value >= 1,
  "must be milliseconds from 1",
);

export function jobRequest({ operation, method }: MockRequest, number: number): JobRequest {
  const endpoint = [...V1_ENDPOINTS, ...V2_ENDPOINTS].find((one) => one.operation === operation);
  return { number, operation, route: endpoint?.route ?? `${method} of an unknown path` };
}

export function describeRequest({ number, operation, route }: JobRequest): string {
  return `request ${number} (${operation ?? "no endpoint"}, ${route})`;
}

/** Runs the job undisturbed, to learn its requests, and reads from its mock what the other runs need. */
export async function learn<Learned>(
  job: Job,
  { mock, timeoutMs, read }: { mock: MockService; timeoutMs: number; read: () => Learned },
): Promise<Learned> {
  try {
    await runOnce(job, mock, timeoutMs);
    if (mock.requests.length > 0) return read();
  } finally {
    // It ends requests and webhook calls that are still under way.
    mock.reset();
  }
  throw new TypeError("the job sent no request to its mock: give its client `mock.clientOptions`");
}

let runs = 0;

/**
 * The options of a mock for one run, at an address of its own: what a program remembers of its calls to a service must not
 * pass from one run to another beside it.
 */
export function ofOneRun(options: MockServiceOptions): MockServiceOptions {
  runs += 1;
  const own = {
    baseUrl: `https://audience-mock-${runs}.example`,
    baseUrlV2: `https://audience-mock-v2-${runs}.example`,
  };
  return { ...options, variants: { ...own, ...options.variants } };
}

/** One run of a job: it ends with the job, or once its time is up. */
export async function runOnce(job: Job, mock: MockService, timeoutMs: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    const error = new Error(`the job did not end within ${timeoutMs.toLocaleString("en")} ms`);
    timer = setTimeout(() => reject(error), timeoutMs);
  });
  try {
    await Promise.race([job(mock), tooLong]);
  } finally {
    clearTimeout(timer);
  }
}

/** Runs each case, several at a time. Rejects with the first failure in their order. */
export async function runAll<Case>(cases: readonly Case[], run: (one: Case) => Promise<void>): Promise<void> {
  const failures = new Map<Case, unknown>();
  const waiting = [...cases];
  const worker = async (): Promise<void> => {
    // After a failure no run begins, and those under way end: so the first in order is among the failures.
    while (waiting.length > 0 && failures.size === 0) {
      // Safe: one is waiting.
      const one = waiting.shift()!;
      await run(one).catch((error: unknown) => failures.set(one, error));
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
  for (const one of cases) if (failures.has(one)) throw failures.get(one);
}

/** The message of whatever a job has thrown: some values have none, and cannot be made a string. */
export function messageOf(error: unknown): string {
  try {
    const message: unknown = error instanceof Error ? error.message : error;
    return String(message);
  } catch {
    return "a value that has no text";
  }
}
