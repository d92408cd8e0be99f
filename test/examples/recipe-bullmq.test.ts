import { createMockService, type MockService } from "audience-sdk/mock";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { eventually } from "../eventually.ts";
import { RedisServer } from "../redis/redis-server.ts";
import { describeWithRedis } from "../redis/with-redis.ts";
import { startRecipe } from "./recipe-program.ts";

describeWithRedis("The recipe for BullMQ", () => {
  let mock: MockService;
  let queue: Queue;
  let env: Record<string, string>;

  beforeEach(async () => {
    mock = createMockService();
    const [redis, service] = await Promise.all([RedisServer.start(), mock.listen()]);
    const { baseUrl, apiKey } = service.clientOptions;
    env = { REDIS_URL: redis.url, AUDIENCE_BASE_URL: baseUrl, AUDIENCE_API_KEY: apiKey };
    const connection = new Redis(redis.port, { maxRetriesPerRequest: null });
    queue = new Queue("contacts", { connection });
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
      people.map((email) => ({ name: "upsert", data: { email, email_opt_in: "SUBSCRIBED" } })),
    );
  }

  it("upserts each contact of the queue, and keeps an invalid one among the failed", async () => {
    await queue.add("upsert", { email: "nobody" }, { attempts: 3 });
    await add(3);
    const worker = startRecipe("bullmq/worker", env);

    await eventually(async () =>
      expect(await queue.getJobCounts()).toMatchObject({ completed: 3, failed: 1, delayed: 0 }),
    );

    expect(mock.organization("mock-organization").contacts).toHaveLength(3);
    expect(worker.printed()).toContain("failed 1");
  });

  it("ends within seconds of SIGTERM while jobs wait for the rate limit, and loses no job and no attempt", async () => {
    await add(120);
    const worker = startRecipe("bullmq/worker", env);
    // A minute's budget is used, so that ten jobs wait for the next one.
    await eventually(() => expect(mock.requests.length).toBeGreaterThanOrEqual(89));
    await eventually(async () => expect(await queue.getActiveCount()).toBe(10));

    const startedAt = performance.now();
    worker.child.kill("SIGTERM");

    expect(await worker.ended).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
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
