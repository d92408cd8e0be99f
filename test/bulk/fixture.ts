import { AudienceClient, type BulkResult, type BulkRun, type V2Contact, write } from "audience-sdk";
import { createMockService, type MockServiceOptions } from "audience-sdk/mock";
import { expect, vi } from "vitest";
import { timersEnd } from "../timers-end.ts";

/** A contact whose writes are repeatable. */
export interface Row {
  email: string;
  email_opt_in: "SUBSCRIBED" | "NON_SUBSCRIBED" | "UNSUBSCRIBED";
}

/** `n` contacts, `row-0@example.com` and on. */
export function rows(n: number): Row[] {
  return Array.from({ length: n }, (_, index) => row(index));
}

export function row(index: number): Row {
  return { email: `row-${index}@example.com`, email_opt_in: "SUBSCRIBED" };
}

/** The key of a row. */
export const key = ({ email }: Row) => email;

/** A contact of v2 whose e-mail address has this status. */
export function v2Contact(email: string, status: string): V2Contact {
  const consent = { createdAt: "2026-01-01T00:00:00Z", ip: "192.0.2.1", source: "import" };
  const identifiers = [{ type: "email" as const, id: email, channels: { email: { status } }, consent }];
  return { firstName: "Ada", listIds: [], identifiers };
}

type ClientOptions = NonNullable<ConstructorParameters<typeof AudienceClient>[0]>;

/** The usual function of bulk: an upsert of the row. */
export const upsert = (contact: Row) => write.v1.customers.upsert(contact);

/** A mock, and a client of it in process. */
export function createFixture(mockOptions: MockServiceOptions = {}, clientOptions: ClientOptions = {}) {
  const mock = createMockService(mockOptions);
  const audience = new AudienceClient({ ...mock.clientOptions, ...clientOptions });
  const emails = () => mock.organization("mock-organization").contacts.map(({ email }) => email);
  return { mock, audience, upsert, emails };
}

/** A fetch to the mock that waits until the test opens it; `sent` logs the requests. */
export function gated(real: (url: string, init: RequestInit) => Promise<Response>) {
  const { promise: opened, resolve: open } = deferred();
  const sent: string[] = [];
  const gatedFetch = async (url: string, init: RequestInit) => {
    sent.push(url);
    await opened;
    return await real(url, init);
  };
  return { sent, open: () => open(), fetch: gatedFetch };
}

/** All results of a run, and the error that it rejected with. */
export async function collectRun<R, V>(
  run: BulkRun<R, V>,
): Promise<{ results: BulkResult<R, V>[]; error?: unknown }> {
  const results: BulkResult<R, V>[] = [];
  try {
    for await (const result of run) results.push(result);
    return { results };
  } catch (error) {
    return { results, error };
  }
}

/** A promise and its resolve function. */
export function deferred<T = void>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((fulfil) => (resolve = fulfil));
  return { promise, resolve };
}

/** Runs the event loop until only timers and sockets can be pending. */
export async function flushEventLoop(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Waits until the condition is true. */
export async function until(condition: () => boolean): Promise<void> {
  const startedMs = performance.now();
  while (!condition()) {
    if (performance.now() - startedMs > 60_000)
      throw new Error(`It never came about: ${condition.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

const realImmediate = globalThis.setImmediate;

/**
 * Fake timers for a run of bulk. A request that a test before has aborted goes on for two seconds, and its real timers could not
 * end in fake time.
 */
export async function useFakeTime(): Promise<void> {
  await timersEnd();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] });
}

/** Lets an hour of virtual time pass at most, a tenth of a second at a time. Between, everything else goes on as far as it can. */
export async function passUntil(condition: () => boolean): Promise<void> {
  for (let tenths = 0; tenths < 36_000 && !condition(); tenths++) {
    for (let turns = 0; turns < 20 && !condition(); turns++)
      await new Promise((resolve) => realImmediate(resolve));
    await vi.advanceTimersByTimeAsync(condition() ? 0 : 100);
  }
  expect(condition(), condition.toString()).toBe(true);
}

/** Lets virtual time pass until the promise is settled. */
export async function passUntilSettled<T>(promise: Promise<T>): Promise<T> {
  let isSettled = false;
  const settle = () => void (isSettled = true);
  promise.then(settle, settle);
  await passUntil(() => isSettled);
  return await promise;
}
