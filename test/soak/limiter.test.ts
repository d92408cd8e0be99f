import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { AudienceClient, DOCUMENTED_WINDOWS, RateLimiter } from "audience-sdk";
import { expect, it, onTestFinished } from "vitest";
import { besideAnImport } from "../rate-limiter/beside-an-import.ts";
import { refusedByFixed, refusedBySliding, refusedByTokenBucket } from "../rate-limiter/simulation.ts";

// The documented second, which is long compared with one call, and a fifth of the minute.
const windows = [
  { limit: 10, intervalMs: 1_000 },
  { limit: 100, intervalMs: 12_000 },
  { limit: 1_000, intervalMs: 3_600_000 },
];

it("on real sockets 300 calls exceed no window", async () => {
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

  const audience = new AudienceClient({
    baseUrl: `http://127.0.0.1:${port}`,
    apiKey: "key",
    rateLimiter: new RateLimiter({ windows }),
    maxRetries: 0,
  });

  // Each call is for another contact, so that only the limiter delays it.
  const sent = Array.from({ length: 300 }, (_, at) =>
    audience.v1.events.send({ eventName: "signed_up", contact: { email: `person${at}@example.com` } }),
  );
  await Promise.all(sent);

  expect(arrivals).toHaveLength(300);
  expect(refusedBySliding(arrivals, windows)).toBe(0);
  expect(refusedByTokenBucket(arrivals, windows)).toBe(0);
  for (const phase of [0, 0.2, 0.4, 0.6, 0.8])
    expect(refusedByFixed(arrivals, windows, [phase, phase, phase])).toBe(0);
});

const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

it.each([
  ["one by one", 1],
  ["in fives", 5],
])(
  "Of 10,000 calls beside an import and the reading of a list, 90 an hour, %s, none waits over two seconds while they keep to a tenth of each window",
  async (_, together) => {
    const callsOfHours = [45, ...Array<number>(111).fill(90)];
    const { waits, isWithinATenth, rowsOfHours, arrivals } = await besideAnImport({
      seed: 38,
      callsOfHours,
      together,
    });
    const late = waits.flatMap((waitMs, call) => (waitMs > 2_000 ? [isWithinATenth[call]] : []));
    console.log(`${late.length} of ${waits.length} calls, ${together} at a time, waited over two seconds`);
    expect(waits).toHaveLength(10_035);
    expect(late.filter(Boolean)).toEqual([]);
    // Such as twenty calls in one minute.
    expect(late.length).toBeLessThanOrEqual(10);
    expect(Math.max(...waits)).toBeLessThan(15_000);
    expect(mean(rowsOfHours)).toBeGreaterThanOrEqual(880);
    expect(refusedBySliding(arrivals, DOCUMENTED_WINDOWS)).toBe(0);
  },
);
