import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { AudienceClient } from "audience-sdk";
import { createMockService, type MockListener, type MockService } from "audience-sdk/mock";
import { Redis } from "ioredis";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Outbox } from "../../examples/outbox/outbox.ts";
import { sendEvents } from "../../examples/outbox/send-events.ts";
import { repository } from "../project/source-files.ts";
import { RedisServer } from "../redis/redis-server.ts";
import { describeWithRedis } from "../redis/with-redis.ts";

const events = Array.from({ length: 30 }, (_, order) => ({
  eventName: "order_placed",
  // With a colon, which BullMQ refuses in an id.
  uniqueIdentifier: `order:${1_000 + order}`,
  contact: { email: `person${order}@example.com` },
  eventData: { total: order },
}));

describeWithRedis("the outbox", () => {
  let redis: RedisServer;
  let mock: MockService;
  let service: MockListener;
  // Redis clients end before Redis does, because they would wait for its return.
  let ends: (() => Promise<unknown>)[];

  beforeEach(async () => {
    ends = [];
    mock = createMockService({ latencyMs: [50, 600] });
    [redis, service] = await Promise.all([RedisServer.start(), mock.listen()]);
  });
  afterEach(async () => {
    for (const end of ends.toReversed()) await end();
    await service.close();
    await redis.end();
  });

  function run(program: "add" | "work"): ChildProcess {
    const { baseUrl, apiKey } = service.clientOptions;
    const env = {
      REDIS_URL: redis.url,
      AUDIENCE_BASE_URL: baseUrl,
      AUDIENCE_API_KEY: apiKey,
      OUTBOX_LOCK_MS: "1000",
    };
    const child = spawn(process.execPath, ["--import", "tsx", `examples/outbox/${program}.ts`], {
      cwd: repository,
      env: { ...process.env, ...env },
      stdio: ["pipe", "ignore", "inherit"],
    });
    ends.push(async () => child.kill("SIGKILL"));
    return child;
  }

  async function add(): Promise<void> {
    const child = run("add");
    child.stdin!.end(events.map((event) => JSON.stringify(event)).join("\n"));
    expect(await once(child, "exit")).toEqual([0, null]);
  }

  const recorded = () =>
    mock.organization(service.clientOptions.apiKey).events.map((event) => event["uniqueIdentifier"]);

  it("records each event once, although each was added twice and a worker was killed", async () => {
    await add();
    await add();
    const killed = run("work");
    await vi.waitUntil(() => recorded().length >= 12, { timeout: 60_000 });
    killed.kill("SIGKILL");
    const inDoubt = mock.requests.length;
    const worker = run("work");
    await vi.waitUntil(() => recorded().length >= events.length, { timeout: 60_000 });
    // The jobs of the killed worker are done again, which records nothing new.
    const { outbox } = open();
    await vi.waitUntil(async () => (await outbox.count()).open === 0, { timeout: 60_000 });
    worker.kill("SIGTERM");

    expect(await once(worker, "exit")).toEqual([0, null]);
    expect(inDoubt).toBeLessThan(events.length);
    expect(recorded()).toHaveLength(events.length);
    expect(new Set(recorded())).toEqual(new Set(events.map(({ uniqueIdentifier }) => uniqueIdentifier)));
    await expect(outbox.count()).resolves.toEqual({ open: 0, failed: 0 });
  });

  it("refuses an event that the service would refuse", async () => {
    const { outbox } = open();

    await expect(outbox.add({ ...events[0]!, contact: {} })).rejects.toThrow("email");
    await expect(outbox.count()).resolves.toEqual({ open: 0, failed: 0 });
  });

  it.each([
    ["retries an event after a failure of the service", 500, { open: 0, failed: 0 }],
    ["keeps an event that the service refuses permanently", 400, { open: 0, failed: 1 }],
  ])("%s", async (_rule, firstStatus, count) => {
    const { outbox, connection } = open();
    const statuses = [firstStatus, 200];
    const fetch = async () => new Response("{}", { status: statuses.shift()! });
    const options = {
      baseUrl: "http://127.0.0.1:1",
      apiKey: "key",
      fetch,
      maxRetries: 0,
      rateLimiter: false,
    } as const;
    await outbox.add(events[0]!);
    const worker = sendEvents({ connection, audience: new AudienceClient(options) });
    ends.push(() => worker.close());

    await vi.waitUntil(async () => (await outbox.count()).open === 0, { timeout: 60_000 });

    await expect(outbox.count()).resolves.toEqual(count);
    expect(statuses).toHaveLength(count.failed);
  });

  function open(): { outbox: Outbox; connection: Redis } {
    const connection = new Redis(redis.port, { maxRetriesPerRequest: null });
    const outbox = new Outbox(connection);
    ends.push(async () => {
      await outbox.close();
      connection.disconnect();
    });
    return { outbox, connection };
  }
});
