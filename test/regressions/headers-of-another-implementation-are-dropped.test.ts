import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";

it("A Headers object of another implementation keeps its headers", async () => {
  const mock = createMockService();
  // The Headers of npm's undici or node-fetch: iterable, without properties, no instance of the global class.
  class ForeignHeaders {
    *[Symbol.iterator]() {
      yield ["X-Trace", "t-1"];
    }
  }
  const headers = new ForeignHeaders() as unknown as Headers;
  const audience = new AudienceClient({ ...mock.clientOptions, headers });

  await audience.v1.customers.list();

  expect(mock.requests[0]?.headers["x-trace"]).toBe("t-1");
});
