import { tracingChannel } from "node:diagnostics_channel";
import { AudienceClient, type RequestEvent } from "audience-sdk";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { failureOf } from "../transport/failure.ts";

const channel = tracingChannel("audience-sdk:request");
let log: unknown[] = [];
const note = (name: string) => (message: unknown) => {
  // Safe: the documentation of the channel promises this type.
  const { durationMs, status, error } = message as RequestEvent;
  log.push([name, ...(error ? [error.name, durationMs] : []), ...(status ? [status] : [])]);
};
const subscribers = {
  start: note("start"),
  end: note("end"),
  asyncStart: note("asyncStart"),
  asyncEnd: note("asyncEnd"),
  error: note("error"),
};

beforeEach(() => {
  vi.useFakeTimers();
  log = [];
  channel.subscribe(subscribers);
});
afterEach(() => channel.unsubscribe(subscribers));

const never = new Promise<Response>(() => undefined);

/** A client with `respond` as its fetch, and a log of its hooks. */
function open(respond: () => Promise<Response>) {
  return new AudienceClient({
    baseUrl: "https://api.example.com",
    apiKey: "abcdefgh",
    rateLimiter: false,
    timeoutMs: 1_000,
    fetch: respond,
    hooks: { onResponse: note("onResponse") },
  });
}

const failureLog = (error: string, durationMs: number) => [
  ["start"],
  ["end"],
  ["error", error, durationMs],
  ["asyncStart", error, durationMs],
  ["asyncEnd", error, durationMs],
];

it.each([
  ["without a response", () => never],
  [
    "with a late response",
    () => new Promise<Response>((resolve) => void setTimeout(() => resolve(Response.json({})), 500)),
  ],
  [
    "with a late refusal",
    () =>
      new Promise<Response>(
        (resolve) => void setTimeout(() => resolve(new Response("{}", { status: 429 })), 500),
      ),
  ],
  ["whose body never arrives", async () => new Response(new ReadableStream())],
])("an attempt %s is reported once, as aborted, at the moment of the abort", async (_which, respond) => {
  const controller = new AbortController();

  const call = failureOf(open(respond).v1.customers.get("1", { signal: controller.signal }));
  await vi.advanceTimersByTimeAsync(50);
  controller.abort();

  expect(log).toEqual(failureLog("AbortError", 50));
  expect(await call).toMatchObject({ code: "aborted" });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(log).toEqual(failureLog("AbortError", 50));
});

it("an attempt that the call's deadline ends is reported at that moment", async () => {
  const call = failureOf(open(() => never).v1.customers.get("1", { deadlineMs: 80 }));
  await vi.advanceTimersByTimeAsync(10_000);

  expect(await call).toMatchObject({ code: "timeout" });
  expect(log).toEqual(failureLog("TimeoutError", 80));
});
