import { join } from "node:path";
import { createMockService, type MockService } from "audience-sdk/mock";
import { beforeAll, describe, expect, inject, it, onTestFinished } from "vitest";
import { ada, tryEverything, untilDone } from "../examples/try-everything.ts";
import { bundleWorker, configureWorker, serveWorker } from "../platforms/workerd.ts";
import {
  compileRecipe,
  consentsOf,
  post,
  startMock,
  startServer,
  stopServer,
  type ServerProgram,
} from "./server-program.ts";

// Her sign-up is the newer word: what she clicked before it was sent is undone.
const signUp = { leaves: { consents: { [ada]: "SUBSCRIBED" } }, undone: [ada] };

/** She sends the form until it is taken. */
const subscribe = (url: string): Promise<void> =>
  untilDone(async () => (await post(`${url}/subscribers`, { email: ada })).status < 300);

const installed = inject("projects");
const servers = [
  { name: "Fastify", folder: installed.fastify, program: "out/server.js", end: 0, options: {} },
  {
    name: "NestJS",
    folder: installed.nest,
    program: "out/main.js",
    // When its hooks have ended, Nest sends itself the signal once more.
    end: "SIGTERM",
    options: { experimentalDecorators: true, emitDecoratorMetadata: true },
  },
].flatMap(({ folder, ...server }) => (folder === undefined ? [] : [{ folder, ...server }]));

describe.each(servers)("The recipe for $name", ({ folder, program, end, options }) => {
  async function start(given?: MockService): Promise<ServerProgram & Awaited<ReturnType<typeof startMock>>> {
    const service = await startMock(given);
    return { ...service, ...(await startServer([program], { folder, env: service.env })) };
  }

  it("compiles with the framework's types", async () => {
    expect(await compileRecipe(folder, options)).toBe("");
  });

  it("answers an invalid address with its problems, and the failure of the service with the outcome", async () => {
    const { url, mock } = await start();

    const invalid = await post(`${url}/subscribers`, { email: "nobody" });
    expect(invalid).toMatchObject({ status: 400, body: { issues: [{ path: ["email"] }] } });

    mock.addFault({ kind: "500-before", times: 5 });
    const failed = await post(`${url}/subscribers`, { email: "ada@example.com" });
    expect(failed).toMatchObject({ status: 503, body: { outcome: "unknown" } });
    expect(consentsOf(mock)).toEqual({});
  });

  it("lets the request in flight end after SIGTERM, and ends", async () => {
    const server = await start();
    server.mock.addFault({ kind: "latency", delayMs: 500, times: 1 });

    const inFlight = post(`${server.url}/subscribers`, { email: "ada@example.com" });
    while (server.mock.requests.length === 0) await new Promise(setImmediate);
    await stopServer(server);

    expect((await inFlight).status).toBeLessThan(300);
    expect(consentsOf(server.mock)).toEqual({ "ada@example.com": "SUBSCRIBED" });
  });

  it("subscribes a person, ends in good order, and shows no key", async () => {
    const server = await start();
    const { body } = await post(`${server.url}/subscribers`, { email: "ada@example.com" });

    expect(body).toEqual({ id: expect.any(String) });
    expect(await stopServer(server)).toBe(end);
    expect(server.printed()).not.toContain(server.env["AUDIENCE_API_KEY"]);
  });

  tryEverything({
    ...signUp,
    async job(mock) {
      const server = await start(mock);
      await subscribe(server.url);
      await stopServer(server);
    },
  });
});

const workers = installed.hono === undefined ? [] : [installed.hono];

describe.each(workers)("The recipe for Hono on Workers", (folder) => {
  beforeAll(() => bundleWorker(folder, "worker.ts"));

  it("compiles with the types of Workers, without those of Node or a browser", async () => {
    const types = ["@cloudflare/workers-types"];
    const options = { types, lib: ["ES2023"], module: "ESNext", moduleResolution: "bundler", noEmit: true };
    expect(await compileRecipe(folder, options)).toBe("");
  });

  it("subscribes a person through the object, and shows the consent", async () => {
    const { url, mock } = await startWorker(folder);

    const { status, body } = await post(`${url}/subscribers`, { email: "ada@example.com" });
    const { id } = body as { id: string };
    const shown = await fetch(`${url}/subscribers/${encodeURIComponent(id)}`);

    expect(status).toBe(200);
    expect(await shown.json()).toEqual({ email: "ada@example.com", emailOptIn: "SUBSCRIBED" });
    expect(consentsOf(mock)).toEqual({ "ada@example.com": "SUBSCRIBED" });
  });

  it("answers an invalid address with 400, and the failure of the service with the outcome", async () => {
    const { url, mock } = await startWorker(folder);

    expect(await post(`${url}/subscribers`, { email: "nobody" })).toMatchObject({ status: 400 });
    mock.addFault({ kind: "500-before", times: 5 });
    expect(await post(`${url}/subscribers`, { email: "ada@example.com" })).toMatchObject({
      status: 503,
      body: { outcome: "unknown" },
    });
  });

  it("keeps the limit over all requests, because one object makes the calls", async () => {
    const { url, mock } = await startWorker(folder);

    const emails = Array.from({ length: 14 }, (_, order) => `person${order}@example.com`);
    const responses = await Promise.all(emails.map((email) => post(`${url}/subscribers`, { email })));

    expect(responses.map(({ status }) => status)).toEqual(emails.map(() => 200));
    // None was refused, and tried again.
    expect(mock.requests).toHaveLength(14);
  });

  tryEverything({ ...signUp, job: async (mock) => subscribe((await startWorker(folder, mock)).url) });
});

/** Starts the bundle on workerd beside a mock; both end with the test. */
async function startWorker(folder: string, mock = createMockService()) {
  const { clientOptions, close } = await mock.listen();
  onTestFinished(close);
  const texts = { AUDIENCE_BASE_URL: clientOptions.baseUrl, AUDIENCE_API_KEY: clientOptions.apiKey };
  const config = await configureWorker(folder, "worker.ts", texts, {
    bindings: '(name = "AUDIENCE_OBJECT", durableObjectNamespace = "AudienceObject")',
    more: `
      compatibilityDate = "2025-01-01",
      durableObjectNamespaces = [(className = "AudienceObject", uniqueKey = "audience")],
      durableObjectStorage = (inMemory = void),`,
  });
  return { mock, url: await serveWorker(join(folder, "node_modules/.bin/workerd"), folder, config) };
}
