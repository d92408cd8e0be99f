import { createMockService, type MockService } from "audience-sdk/mock";
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { RedisServer } from "../redis/redis-server.ts";
import { describeWithRedis } from "../redis/with-redis.ts";

const record = (messageId: string, body: unknown) => ({ messageId, body: JSON.stringify(body) });
const signedUp = (email: string) => ({ eventName: "signed_up", contact: { email } });

describeWithRedis("The recipe for AWS Lambda", () => {
  let mock: MockService;
  let handler: typeof import("../../examples/recipes/lambda/handler.ts").handler;
  let end: () => Promise<void>;
  const context = { getRemainingTimeInMillis: () => 30_000 };

  beforeAll(async () => {
    mock = createMockService();
    const [redis, service] = await Promise.all([RedisServer.start(), mock.listen()]);
    vi.stubEnv("REDIS_URL", redis.url);
    vi.stubEnv("AUDIENCE_BASE_URL", service.clientOptions.baseUrl);
    vi.stubEnv("AUDIENCE_API_KEY", service.clientOptions.apiKey);
    // As Lambda does it: loaded once, for all invocations of the instance.
    ({ handler } = await import("../../examples/recipes/lambda/handler.ts"));
    end = async () => {
      await service.close();
      await redis.end();
    };
  });
  beforeEach(() => void vi.spyOn(console, "error").mockReturnValue());
  afterAll(async () => {
    vi.unstubAllEnvs();
    await end();
  });

  it("sends the events of a batch, and returns what failed to the queue alone", async () => {
    const Records = [
      record("m-1", signedUp("ada@example.com")),
      record("m-2", { eventName: "signed_up", contact: {} }),
      { messageId: "m-3", body: "no JSON" },
    ];

    const { batchItemFailures } = await handler({ Records }, context);

    expect(batchItemFailures).toEqual([{ itemIdentifier: "m-2" }, { itemIdentifier: "m-3" }]);
    expect(mock.organization("mock-organization").events).toMatchObject([{ uniqueIdentifier: "m-1" }]);
  });

  it("records an event once that comes again", async () => {
    mock.reset();
    // Applied, but its response is lost, and the time is over.
    mock.addFault({ kind: "500-after", times: 2 });
    const Records = [record("m-4", signedUp("ada@example.com"))];

    const first = await handler({ Records }, { getRemainingTimeInMillis: () => 1_100 });
    const again = [await handler({ Records }, context), await handler({ Records }, context)];

    expect(first.batchItemFailures).toEqual([{ itemIdentifier: "m-4" }]);
    expect(again.map(({ batchItemFailures }) => batchItemFailures)).toEqual([[], []]);
    expect(mock.organization("mock-organization").events).toHaveLength(1);
  });

  it("returns a message to the queue before Lambda halts the process", async () => {
    mock.reset();
    mock.addFault({ kind: "hang" });
    const Records = [record("m-5", signedUp("ada@example.com"))];

    const startedAt = performance.now();
    const { batchItemFailures } = await handler({ Records }, { getRemainingTimeInMillis: () => 1_300 });

    expect(batchItemFailures).toEqual([{ itemIdentifier: "m-5" }]);
    expect(performance.now() - startedAt).toBeLessThan(1_300 + 5_000);
  });
});
