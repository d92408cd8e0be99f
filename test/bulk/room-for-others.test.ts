import { describe, expect, it } from "vitest";
import { AudienceClient, RateLimiter } from "../../src/index.ts";
import { defaultLimiter } from "../../src/rate-limiter/default-limiter.ts";
import { v1ContactSchema } from "../../src/schemas.ts";
import { VirtualTime } from "../rate-limiter/virtual-time.ts";
import { createFixture, rows } from "./fixture.ts";

const windows = [{ limit: 10, intervalMs: 60_000 }];

/** A client of the mock in virtual time, whose requests are logged with the second in which they arrive. */
function start(clientOptions: ConstructorParameters<typeof AudienceClient>[0] = {}) {
  const time = new VirtualTime();
  const rateLimiter = new RateLimiter({ clock: time.now, windows });
  const lines: string[] = [];
  const throttled: (number | undefined)[] = [];
  const sentAt: number[] = [];
  const { mock, audience, upsert } = createFixture(
    {},
    {
      rateLimiter,
      fetch: (url, init) => {
        sentAt.push(time.now());
        return mock.fetch(url, init);
      },
      logger: { warn: (line) => void lines.push(line.replace(/.*\(request [^)]*\) /, "")) },
      hooks: { onThrottle: ({ waitMs }) => void throttled.push(waitMs && Math.round(waitMs / 1_000)) },
      ...clientOptions,
    },
  );
  return { time, mock, audience, upsert, sentAt, lines, throttled };
}

describe("A run of bulk", () => {
  it("leaves a permit of ten to other calls, which do not wait beside it", async () => {
    const { time, mock, audience, upsert, sentAt } = start();
    await time.run(() => {
      void audience.bulk(rows(18), upsert, { concurrency: 20 }).summary();
      time.at(5_000, () => void audience.v1.customers.list().toArray());
    }, 119_000);
    expect(sentAt.filter((at) => at < 60_000)).toHaveLength(10);
    expect(mock.requests[9]).toMatchObject({ operation: "v1.customers.list" });
  });

  it("that stands still for others says so, in the line and by `onThrottle` of a wait of more than ten seconds", async () => {
    const { time, audience, upsert, lines, throttled } = start();
    await time.run(() => void audience.bulk(rows(10), upsert, { concurrency: 20 }).summary(), 30_000);
    expect(lines).toEqual([
      expect.stringMatching(
        /^waits 600\d\d ms for the rate limit and leaves room for other calls \(reserve\)$/,
      ),
    ]);
    expect(throttled).toEqual([60]);
  });

  it.each(["of a client", "of a view"])("leaves no room with the option `reserve: 0` %s", async (whose) => {
    const { time, mock, audience, lines } = start();
    const view = audience.withOptions({ rateLimiter: { reserve: 0 } });
    const client =
      whose === "of a view"
        ? view
        : new AudienceClient({
            ...mock.clientOptions,
            rateLimiter: new RateLimiter({ clock: time.now, windows, reserve: 0 }),
          });
    expect(view.rateLimiter).toBe(audience.rateLimiter);
    await time.run(
      () =>
        void client
          .bulk(rows(11), (row, request) => client.v1.customers.upsert(row, request), { concurrency: 20 })
          .summary(),
      30_000,
    );
    expect(mock.requests).toHaveLength(10);
    expect(lines.join("")).not.toContain("reserve");
  });

  it("estimates its end with the reserve, of its progress as of its check", async () => {
    const checked: number[] = [];
    const etas: number[] = [];
    for (const reserve of [undefined, 0]) {
      const { time, audience } = start();
      const client = audience.withOptions({ rateLimiter: { reserve } });
      const { estimateMs } = await client.bulk.check(rows(100), (row) => v1ContactSchema.safeParse(row));
      checked.push(Math.round(estimateMs / 60_000));
      await time.run(() => {
        void client
          .bulk(rows(100), (row, request) => client.v1.customers.upsert(row, request), {
            onProgress: ({ done, etaMs }) => void (done === 1 && etas.push(Math.round(etaMs! / 60_000))),
          })
          .summary();
      });
    }
    expect(checked).toEqual([11, 9]);
    expect(etas).toEqual([11, 9]);
  });
});

it("The option `reserve` of a client keeps the limiter of the process", () => {
  const options = { baseUrl: "https://api.example.com", apiKey: "abcdefgh" };
  const audience = new AudienceClient({ ...options, rateLimiter: { reserve: 0 } });
  expect(audience.rateLimiter).toBe(defaultLimiter());
  expect(() => new AudienceClient({ ...options, rateLimiter: { reserve: 0.91 } })).toThrow(
    "reserve must be a number from 0 to 0.9, not 0.91.",
  );
});
