import { AsyncLocalStorage } from "node:async_hooks";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chdir, cwd } from "node:process";
import { pathToFileURL } from "node:url";
import { AudienceClient, write } from "audience-sdk";
import type { MockService } from "audience-sdk/mock";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, inject, vi } from "vitest";
import { Outbox } from "../../examples/outbox/outbox.ts";
import { sendJobs } from "../../examples/outbox/send-jobs.ts";
import { senderOf, sendersOf } from "../../examples/recipes/addresses/senders.ts";
import { bundleProgram } from "../bundle-program.ts";
import { eventually } from "../eventually.ts";
import { ada, bo, list, type Recipe, table, tryEverything, untilDone } from "../examples/try-everything.ts";
import { RedisServer } from "../redis/redis-server.ts";
import { describeWithRedis } from "../redis/with-redis.ts";
import { startProgram } from "./recipe-program.ts";
import { startMock } from "./server-program.ts";

const baseUrl = "https://audience.example";
const optIn = write.v1.customers.upsert({ email: ada, email_opt_in: "SUBSCRIBED" });
const event = { eventName: "order_placed", uniqueIdentifier: "order-1", contact: { email: ada } };
const ordered = write.v1.events.send(event);
const sent = { consents: { [ada]: "SUBSCRIBED" }, events: 1 };

// A recipe that is loaded once makes one client for all runs: its calls go to the mock of theirs.
const current = new AsyncLocalStorage<MockService>();
const onItsMock = (job: () => Promise<void>) => (mock: MockService) => current.run(mock, job);

let redis: RedisServer;
let folder: string;
let runs = 0;
const nextDatabase = () => new Redis(redis.port, { maxRetriesPerRequest: null, db: (runs += 1) });

async function outbox(mock: MockService): Promise<void> {
  const connection = nextDatabase();
  const box = new Outbox(connection);
  await box.addActs("1", [optIn]);
  await box.addEvent(ordered);
  const audience = new AudienceClient(mock.clientOptions);
  const worker = sendJobs({ connection, audience });
  await eventually(async () => expect(await box.count()).toEqual({ open: 0, failed: 0 }));
  await worker.close();
  await audience.close();
  await box.close();
  await connection.quit();
}

async function bullmq(mock: MockService): Promise<void> {
  const connection = nextDatabase();
  const queue = new Queue("writes", { connection });
  for (const job of [optIn, ordered]) await queue.add("write", job, { attempts: 3 });
  const { env } = await startMock(mock);
  const worker = startProgram([join(folder, "worker.cjs")], {
    ...env,
    REDIS_URL: `${redis.url}/${connection.options.db}`,
  });
  await eventually(async () => expect(await queue.getCompletedCount()).toBe(2));
  worker.child.kill("SIGTERM");
  await worker.ended;
  await queue.close();
  await connection.quit();
}

/** What fails within its time comes again, as from SQS. */
async function lambda(): Promise<void> {
  const { handler } = await import("../../examples/recipes/lambda/handler.ts");
  const Records = [{ messageId: "m-1", body: JSON.stringify({ ...event, uniqueIdentifier: undefined }) }];
  const context = { getRemainingTimeInMillis: () => 4_000 };
  await untilDone(async () => (await handler({ Records }, context)).batchItemFailures.length === 0);
}

interface NextSite {
  subscribe(form: FormData): Promise<unknown>;
  POST(request: Request): Promise<Response>;
}

/** The form until it is taken, and an event of the page until it is recorded. */
async function next(project: string): Promise<void> {
  const files = ["app/actions.ts", "app/api/events/route.ts"];
  const modules = files.map((file) => import(pathToFileURL(join(project, file)).href) as Promise<object>);
  const { subscribe, POST } = Object.assign({}, ...(await Promise.all(modules))) as NextSite;
  const form = new FormData();
  form.set("email", ada);
  await untilDone(async () => {
    const redirect: unknown = await subscribe(form).catch((error: unknown) => error);
    return (redirect as { digest: string }).digest.includes("/contacts/");
  });
  await untilDone(async () => {
    const request = new Request("https://site.example", { method: "POST", body: JSON.stringify(event) });
    return (await POST(request)).ok;
  });
}

/** Each run has addresses of its own, and so its own checkpoints. */
async function addresses(mock: MockService): Promise<void> {
  const { clientOptions, close } = await mock.listen();
  runs += 1;
  const own = [`127.0.${runs}.1`, `127.0.${runs}.2`];
  await untilDone(async () => {
    const { baseUrl: url, apiKey } = clientOptions;
    const senders = sendersOf(own, { baseUrl: url, apiKey });
    const summaries = senders.map(({ audience, checkpoint }, index) =>
      audience.bulk(
        table.filter(({ email }) => senderOf(senders, email) === senders[index]),
        (row) => write.v1.contactGroups.addContact(list.id, row),
        { key: ({ email }) => email, checkpoint },
      ),
    );
    const ends = await Promise.all(summaries);
    await Promise.all(senders.map(({ audience }) => audience.close()));
    return ends.every(({ failed, unknown }) => failed + unknown === 0);
  });
  await close();
}

const projects = inject("projects");
const recipes: ({ name: string } & Recipe)[] = [
  // Nobody is looked up before an opt-in is sent.
  { name: "an outbox", job: outbox, leaves: sent, undone: [ada] },
  { name: "BullMQ", job: bullmq, leaves: sent, undone: [ada] },
  // Its form is her newer word.
  ...(["next 14", "next 15"] as const).flatMap((name) => {
    const project = projects[name];
    return project === undefined
      ? []
      : [{ name, job: onItsMock(() => next(project)), leaves: sent, undone: [ada], baseUrl }];
  }),
  // Events say nothing of consent.
  {
    name: "AWS Lambda",
    job: onItsMock(lambda),
    leaves: { consents: { [ada]: "NON_SUBSCRIBED" }, events: 1 },
    undone: [],
    baseUrl,
  },
  // The first night: nothing is known of her but what the row says.
  {
    name: "several addresses",
    job: addresses,
    leaves: { consents: { [ada]: "SUBSCRIBED", [bo]: "UNSUBSCRIBED" }, listed: 2 },
    undone: [ada],
  },
];

describeWithRedis("Every fault and every click", () => {
  beforeAll(async () => {
    const before = cwd();
    redis = await RedisServer.start("--databases", "400");
    folder = await mkdtemp(join(tmpdir(), "every-recipe-"));
    await bundleProgram("examples/recipes/bullmq/worker.ts", join(folder, "worker.cjs"));
    chdir(folder);
    vi.stubEnv("REDIS_URL", redis.url);
    vi.stubEnv("AUDIENCE_BASE_URL", baseUrl);
    vi.stubEnv("AUDIENCE_API_KEY", "mock-key-of-a-shop");
    vi.stubEnv("AUDIENCE_RATE_LIMIT", "60x");
    const { fetch } = globalThis;
    vi.stubGlobal("fetch", (input: string, init: RequestInit) =>
      (current.getStore() ?? { fetch }).fetch(input, init),
    );
    return () => chdir(before);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    vi.unstubAllGlobals();
    await redis.end();
    await rm(folder, { recursive: true });
  });

  describe.each(recipes)("The recipe for $name", (recipe) => {
    tryEverything(recipe);
  });
});
