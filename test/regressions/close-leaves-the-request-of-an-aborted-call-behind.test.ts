import { AudienceClient, RateLimiter } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";
import { eventually } from "../eventually.ts";
import { failureOf } from "../transport/failure.ts";

it.each([{}, { drain: true }])(
  "close(%j) resolves when the request of an aborted call has ended too, and its permit is released",
  async (options) => {
    const mock = createMockService({ latencyMs: 60 });
    const rateLimiter = new RateLimiter();
    const audience = new AudienceClient({ ...mock.clientOptions, rateLimiter });
    const stop = new AbortController();
    const call = failureOf(
      audience.v1.customers.upsert({ email: "ada@example.com" }, { signal: stop.signal }),
    );
    await eventually(() => expect(mock.requests).toHaveLength(1));

    stop.abort();
    await audience.close(options);

    expect(await call).toMatchObject({ code: "aborted", outcome: "unknown" });
    expect(mock.requests).toMatchObject([{ status: 201, applied: true }]);
    expect(rateLimiter.usage().inFlight).toBe(0);
  },
);

it("close() cuts the request of an aborted call that has no response after two seconds", async () => {
  const mock = createMockService({ faults: [{ kind: "hang" }] });
  const rateLimiter = new RateLimiter();
  const audience = new AudienceClient({ ...mock.clientOptions, rateLimiter });
  const stop = new AbortController();
  const call = failureOf(audience.v1.customers.upsert({ email: "ada@example.com" }, { signal: stop.signal }));
  await eventually(() => expect(mock.requests).toHaveLength(1));

  stop.abort();
  await audience.close();

  expect(await call).toMatchObject({ code: "aborted", outcome: "unknown" });
  expect(rateLimiter.usage().inFlight).toBe(0);
});
