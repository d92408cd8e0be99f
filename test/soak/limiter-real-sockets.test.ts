import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { AudienceClient, RateLimiter } from "audience-sdk";
import { expect, it, onTestFinished } from "vitest";
import { refusedByFixed, refusedBySliding, refusedByTokenBucket } from "../rate-limiter/simulation.ts";
import { leastWithin } from "./measures.ts";

// The documented second, which is long compared with one call, and a fifth of the minute.
const windows = [
  { limit: 10, intervalMs: 1_000 },
  { limit: 100, intervalMs: 12_000 },
  { limit: 1_000, intervalMs: 3_600_000 },
];
const calls = 300;
// The ideal time of the last call: two full minutes, and nine seconds of the third.
const idealMs = 2 * 12_000 + 9 * 1_000;

it("on real sockets 300 calls exceed no window, and take at most 1.05 of the ideal time", async () => {
  const arrivals: number[] = [];
  const server = createServer((request, response) => {
    arrivals.push(performance.now());
    request.resume().on("end", () => response.end("{}"));
  });
  // Longer than the pauses of the limiter: a connection that it closes could be used at that moment.
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  // Safe: the server listens on a port.
  const { port } = server.address() as AddressInfo;

  const ofIdeal = await leastWithin(1.05, async () => {
    arrivals.length = 0;
    const audience = new AudienceClient({
      baseUrl: `http://127.0.0.1:${port}`,
      apiKey: "key",
      rateLimiter: new RateLimiter({ windows }),
      maxRetries: 0,
    });

    const startedAt = performance.now();
    // Each call is for another contact, so that only the limiter delays it.
    const sent = Array.from({ length: calls }, (_, at) =>
      audience.v1.events.send({ eventName: "signed_up", contact: { email: `person${at}@example.com` } }),
    );
    await Promise.all(sent);
    const tookMs = performance.now() - startedAt;

    console.log(`${calls} calls on real sockets: ${(tookMs / idealMs).toFixed(3)} of the ideal`);
    expect(arrivals).toHaveLength(calls);
    expect(refusedBySliding(arrivals, windows)).toBe(0);
    expect(refusedByTokenBucket(arrivals, windows)).toBe(0);
    for (const phase of [0, 0.2, 0.4, 0.6, 0.8]) {
      expect(refusedByFixed(arrivals, windows, [phase, phase, phase])).toBe(0);
    }
    return tookMs / idealMs;
  });

  expect(ofIdeal).toBeLessThanOrEqual(1.05);
});
