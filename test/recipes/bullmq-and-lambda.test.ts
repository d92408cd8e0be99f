import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { write } from "audience-sdk";
import { createMockService, type MockService } from "audience-sdk/mock";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { bundleProgram } from "../bundle-program.ts";
import { eventually } from "../eventually.ts";
import { RedisServer } from "../redis/redis-server.ts";
import { describeWithRedis } from "../redis/with-redis.ts";
import { type RecipeProgram, startProgram } from "./recipe-program.ts";

describeWithRedis("The recipe for BullMQ", () => {
  let mock: MockService;
  let queue: Queue;
  let env: Record<string, string>;

  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "recipe-"));
    await bundleProgram("examples/recipes/bullmq/worker.ts", join(folder, "worker.cjs"));
    return () => rm(folder, { recursive: true });
  });
  const startWorker = (): RecipeProgram => startProgram([join(folder, "worker.cjs")], env);

  beforeEach(async () => {
    mock = createMockService();
    const [redis, service] = await Promise.all([RedisServer.start(), mock.listen()]);
    const { baseUrl, apiKey } = service.clientOptions;
    env = { REDIS_URL: redis.url, AUDIENCE_BASE_URL: baseUrl, AUDIENCE_API_KEY: apiKey };
    const connection = new Redis(redis.port, { maxRetriesPerRequest: null });
    queue = new Queue("writes", { connection });
    onTestFinished(async () => {
      await queue.close();
      await connection.quit();
      await service.close();
      await redis.end();
    });
  });

  async function add(count: number): Promise<void> {
    const people = Array.from({ length: count }, (_, order) => `person${order}@example.com`);
    await queue.addBulk(
      people.map((email) => ({
        name: "write",
        data: write.v1.customers.upsert({ email, email_opt_in: "SUBSCRIBED" }),
      })),
    );
  }

  it("sends each write of the queue, and keeps an invalid one, and an event without an id, among the failed", async () => {
    await queue.add("write", write.v1.customers.upsert({ email: "nobody" }), { attempts: 3 });
    const contact = { email: "ada@example.com" };
    await queue.add("write", write.v1.events.send({ eventName: "signed_up", contact }), { attempts: 3 });
    await add(3);
    const worker = startWorker();

    await eventually(async () =>
      expect(await queue.getJobCounts()).toMatchObject({ completed: 3, failed: 2, delayed: 0 }),
    );

    expect(mock.organization("mock-organization").contacts).toHaveLength(3);
    expect(worker.printed()).toContain("failed 1");
  });

  it("ends within seconds of SIGTERM while jobs wait for the rate limit, and loses no job and no attempt", async () => {
    await add(120);
    const worker = startWorker();
    // A minute's budget is used, so that ten jobs wait for the next one.
    await eventually(() => expect(mock.requests.length).toBeGreaterThanOrEqual(89));
    await eventually(async () => expect(await queue.getActiveCount()).toBe(10));

    worker.child.kill("SIGTERM");

    expect(await worker.ended).toBe(0);
    const { contacts } = mock.organization("mock-organization");
    const { completed, waiting = 0, prioritized = 0, ...others } = await queue.getJobCounts();
    expect({ completed, open: waiting + prioritized }).toEqual({
      completed: contacts.length,
      open: 120 - contacts.length,
    });
    expect(others).toMatchObject({ active: 0, delayed: 0, failed: 0 });
    const jobs = await queue.getWaiting();
    expect(jobs.filter(({ attemptsMade }) => attemptsMade > 0)).toEqual([]);
  });
});

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

  it("returns a message to the queue before Lambda halts the process", async () => {
    mock.reset();
    mock.addFault({ kind: "hang" });
    const Records = [record("m-5", signedUp("ada@example.com"))];

    const { batchItemFailures } = await handler({ Records }, { getRemainingTimeInMillis: () => 1_300 });

    expect(batchItemFailures).toEqual([{ itemIdentifier: "m-5" }]);
  });
});
