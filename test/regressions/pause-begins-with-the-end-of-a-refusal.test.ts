import { AudienceClient, RateLimiter } from "audience-sdk";
import { beforeEach, expect, it, vi } from "vitest";

beforeEach(() => void vi.useFakeTimers());

/** A service that refuses the first call: the headers arrive at once, the body two seconds later. */
function refusingSlowly(retryAfter: string) {
  const arrived: { at: number; name: string }[] = [];
  const start = performance.now();
  const fetch = async (url: string) => {
    arrived.push({ at: performance.now() - start, name: url.slice(url.lastIndexOf("/") + 1) });
    if (arrived.length > 1) return Response.json({ data: { id: "1" } });
    const body = new ReadableStream({
      start: (controller) => void setTimeout(() => controller.close(), 2_000),
    });
    return new Response(body, { status: 429, headers: { "retry-after": retryAfter } });
  };
  const rateLimiter = new RateLimiter();
  const audience = new AudienceClient({
    baseUrl: "https://api.example.com",
    apiKey: "abcdefgh",
    fetch,
    rateLimiter,
  });
  return { arrived, audience, rateLimiter };
}

it("a 429 with a slow body pauses the limiter from its headers on, and its retry waits from then on", async () => {
  const { arrived, audience, rateLimiter } = refusingSlowly("3");

  const calls = [audience.v1.customers.get("refused")];
  for (let number = 1; number <= 7; number++) {
    await vi.advanceTimersByTimeAsync(200);
    expect(rateLimiter.usage().pausedMs).toBe(3_000 - 200 * number);
    calls.push(audience.v1.customers.get(`${number}`));
  }
  await vi.advanceTimersByTimeAsync(1_500);
  // The end of the body changes nothing.
  expect(rateLimiter.usage().pausedMs).toBe(100);
  expect(arrived).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(5_000);
  await Promise.all(calls);

  expect(arrived.map(({ name }) => name)).toEqual(["refused", "refused", ..."1234567"]);
  expect(arrived[1]!.at).toBeGreaterThanOrEqual(3_000);
  expect(arrived[1]!.at).toBeLessThan(3_005);
  // The rate is halved only once for one 429.
  expect(arrived.filter(({ at }) => at >= 3_000 && at < 4_000)).toHaveLength(5);
});

it("a pause that ends before its body delays no call for longer", async () => {
  const { arrived, audience } = refusingSlowly("1");

  const calls = ["refused", "other"].map((name) => audience.v1.customers.get(name));
  await vi.advanceTimersByTimeAsync(500);
  calls.push(audience.v1.customers.get("later"));
  await vi.advanceTimersByTimeAsync(10_000);
  await Promise.all(calls);

  const at = (name: string) => arrived.findLast((call) => call.name === name)!.at;
  expect(at("other")).toBe(0);
  expect(at("later")).toBeGreaterThanOrEqual(1_000);
  expect(at("later")).toBeLessThan(1_005);
  expect(at("refused")).toBeGreaterThanOrEqual(2_000);
  expect(at("refused")).toBeLessThan(2_005);
});
