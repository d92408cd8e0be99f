import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { AudienceClient, RateLimiter, write } from "audience-sdk";
import { createMockService, type MockListener, type MockService } from "audience-sdk/mock";
import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Outbox } from "../../examples/outbox/outbox.ts";
import { sendJobs } from "../../examples/outbox/send-jobs.ts";
import { repository } from "../project/source-files.ts";
import { RedisServer } from "../redis/redis-server.ts";
import { describeWithRedis } from "../redis/with-redis.ts";

const jobs = Array.from({ length: 30 }, (_, order) =>
  write.v1.events.send({
    eventName: "order_placed",
    // With a colon, which BullMQ refuses in an id.
    uniqueIdentifier: `order:${1_000 + order}`,
    contact: { email: `person${order}@example.com` },
    eventData: { total: order },
  }),
);
const [job] = jobs as [(typeof jobs)[number]];

const email = "ada@example.com";
const optIn = (person = email) => [
  write.v1.customers.upsert({ email: person, email_opt_in: "SUBSCRIBED", source: "form" }),
  write.v1.contactGroups.addContact("mock-list", { email: person, email_opt_in: "SUBSCRIBED" }),
];
const optOut = (person = email) => [
  write.v1.customers.upsert({ email: person, email_opt_in: "UNSUBSCRIBED" }),
];
const people = Array.from({ length: 10 }, (_, order) => `member${order}@example.com`);

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

  async function add(given: readonly object[] = jobs): Promise<void> {
    const child = run("add");
    child.stdin!.end(given.map((each) => JSON.stringify(each)).join("\n"));
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
    await vi.waitUntil(() => recorded().length >= jobs.length, { timeout: 60_000 });
    // The jobs of the killed worker are done again, which records nothing new.
    const { outbox } = open();
    await vi.waitUntil(async () => (await outbox.count()).open === 0, { timeout: 60_000 });
    worker.kill("SIGTERM");

    expect(await once(worker, "exit")).toEqual([0, null]);
    expect(inDoubt).toBeLessThan(jobs.length);
    expect(recorded()).toHaveLength(jobs.length);
    expect(new Set(recorded())).toEqual(new Set(jobs.map(({ event }) => event.uniqueIdentifier)));
    await expect(outbox.count()).resolves.toEqual({ open: 0, failed: 0 });
  });

  it("sends what each person decided last, although workers were killed before and after", async () => {
    await add(people.map((person) => ({ person, writes: optIn(person) })));
    for (const acts of [optOut, optIn, optOut]) {
      const before = mock.requests.length;
      const killed = run("work");
      await vi.waitUntil(() => mock.requests.length >= before + 4, { timeout: 60_000 });
      killed.kill("SIGKILL");
      await add(people.map((person) => ({ person, writes: acts(person) })));
    }
    run("work");
    const { outbox } = open();
    await vi.waitUntil(async () => (await outbox.count()).open === 0, { timeout: 60_000 });

    const { contacts } = mock.organization(service.clientOptions.apiKey);
    expect(contacts.map((contact) => contact["email_opt_in"])).toEqual(people.map(() => "UNSUBSCRIBED"));
    await expect(outbox.count()).resolves.toEqual({ open: 0, failed: 0 });
  });

  describe("of one person's acts", () => {
    /** A worker, and the consents that it sends. Each response is the next of these, else 201. */
    function working(
      connection: Redis,
      responses: (() => Promise<number>)[] = [],
      rateLimiter: RateLimiter | false = false,
    ) {
      const sent: unknown[] = [];
      const fetch = async (_url: string, { body }: RequestInit) => {
        const text = await new Response(body).text();
        sent.push((JSON.parse(text) as { email_opt_in: unknown }).email_opt_in);
        const status = (await responses.shift()?.()) ?? 201;
        return Response.json({ data: { id: "c-1", type: "profile", attributes: {} } }, { status });
      };
      const options = { baseUrl: "http://127.0.0.1:1", apiKey: "key", fetch, rateLimiter };
      const worker = sendJobs({ connection, audience: new AudienceClient({ ...options, maxRetries: 0 }) });
      ends.push(() => worker.close());
      return sent;
    }

    it("sends the newest, where none is sent yet", async () => {
      const { outbox, connection } = open();
      await outbox.addActs("1", optIn());
      await outbox.addActs("1", optOut());
      const sent = working(connection);

      await vi.waitUntil(async () => (await outbox.count()).open === 0, { timeout: 60_000 });

      expect(sent).toEqual(["UNSUBSCRIBED"]);
    });

    it("sends a newer one at once, where the older has failed and waits to be tried again", async () => {
      const { outbox, connection } = open();
      await outbox.addActs("1", optIn());
      const sent = working(connection, [async () => 500]);
      await vi.waitUntil(() => sent.length === 1, { timeout: 60_000 });
      await outbox.addActs("1", optOut());

      await vi.waitUntil(async () => (await outbox.count()).open === 0, { timeout: 60_000 });

      expect(sent).toEqual(["SUBSCRIBED", "UNSUBSCRIBED"]);
    });

    it("sends a newer one after the older that is under way", async () => {
      const { outbox, connection } = open();
      await outbox.addActs("1", [optIn()[0]!]);
      const sent = working(connection, [
        async () => {
          await outbox.addActs("1", optOut());
          return 201;
        },
      ]);
      await vi.waitUntil(() => sent.length === 2, { timeout: 60_000 });
      await vi.waitUntil(async () => (await outbox.count()).open === 0, { timeout: 60_000 });

      expect(sent).toEqual(["SUBSCRIBED", "UNSUBSCRIBED"]);
    });

    it("takes a refusal on any channel before opt-ins, and these before events, also where it replaces a waiting opt-in", async () => {
      const { outbox, connection } = open();
      const consent = { createdAt: "2026-01-01T00:00:00Z", ip: "192.0.2.1", source: "form" };
      const channels = { email: { status: "unsubscribed" } };
      const identifiers = [{ type: "email", id: email, channels, consent } as const];
      const v2 = write.v2.contacts.upsert({ firstName: "Ada", listIds: ["mock-list"], identifiers });
      await outbox.addEvent(job);
      for (const person of ["returns", "leaves"]) await outbox.addActs(person, optIn());
      await outbox.addActs("v2", [v2]);
      await outbox.addActs("phone", [
        write.v1.customers.upsert({ phone: "+493012345", phone_opt_in: "UNSUBSCRIBED" }),
      ]);
      await outbox.addActs("suppressed", [write.v1.customers.upsert({ email, is_suppressed: true })]);
      await outbox.addActs("leaves", optOut());
      const taken: string[] = [];
      const audience = new AudienceClient({ ...service.clientOptions, rateLimiter: false });
      const worker = sendJobs({ connection, audience });
      ends.push(() => worker.close());
      worker.on("active", ({ data }) => taken.push("event" in data ? "event" : data.person));

      await vi.waitUntil(async () => (await outbox.count()).open === 0, { timeout: 60_000 });

      expect(taken).toEqual(["v2", "phone", "suppressed", "leaves", "returns", "event"]);
    });

    it("sends a refusal while many events wait for the hour, of what these leave", async () => {
      const { outbox, connection } = open();
      for (const each of jobs) await outbox.addEvent(each);
      const hour = { limit: 10, intervalMs: 3_600_000 };
      const sent = working(connection, [], new RateLimiter({ windows: [hour] }));
      await vi.waitUntil(() => sent.length === 9, { timeout: 60_000 });
      await outbox.addActs("1", optOut());

      await vi.waitUntil(() => sent.length > 9, { timeout: 60_000 });

      expect(sent.at(-1)).toBe("UNSUBSCRIBED");
      await vi.waitUntil(async () => (await outbox.count()).open === jobs.length - 9, { timeout: 60_000 });
    });

    it("keeps what the service refuses among the failed, never sends it again, and sends the next", async () => {
      const { outbox, connection } = open();
      await outbox.addActs("1", optIn());
      const sent = working(connection, [async () => 400]);
      await vi.waitUntil(async () => (await outbox.count()).failed === 1, { timeout: 60_000 });
      await outbox.addActs("1", optOut());

      await vi.waitUntil(async () => (await outbox.count()).open === 0, { timeout: 60_000 });

      expect(sent).toEqual(["SUBSCRIBED", "UNSUBSCRIBED"]);
      await expect(outbox.count()).resolves.toEqual({ open: 0, failed: 1 });
    });
  });

  it("refuses what the service would refuse, an event without an id, and addContact without a consent", async () => {
    const { outbox } = open();
    const { operation, event } = job;
    const { uniqueIdentifier: _, ...unnamed } = event;
    const withoutConsent = { operation: "v1.contactGroups.addContact", listId: "l-1", contact: { email } };

    await expect(outbox.addEvent({ operation, event: { ...event, contact: {} } })).rejects.toThrow("email");
    await expect(outbox.addEvent({ operation, event: unnamed })).rejects.toThrow("uniqueIdentifier");
    await expect(outbox.addActs("1", [withoutConsent as never])).rejects.toThrow("email_opt_in");
    await expect(outbox.count()).resolves.toEqual({ open: 0, failed: 0 });
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
