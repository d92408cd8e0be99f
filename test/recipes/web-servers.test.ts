import { describe, expect, inject, it } from "vitest";
import { compileRecipe } from "./compile-recipe.ts";
import {
  consentsOf,
  post,
  startMock,
  startServer,
  stopServer,
  type ServerProgram,
} from "./server-program.ts";

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
  async function start(): Promise<ServerProgram & Awaited<ReturnType<typeof startMock>>> {
    const service = await startMock();
    return { ...service, ...(await startServer([program], { folder, env: service.env })) };
  }

  it("compiles with the framework's types", async () => {
    expect(await compileRecipe(folder, options)).toBe("");
  });

  it("subscribes a person", async () => {
    const { url, mock } = await start();

    const { status, body } = await post(`${url}/subscribers`, { email: "ada@example.com" });

    expect({ ok: status < 300, body }).toEqual({ ok: true, body: { id: expect.any(String) } });
    expect(consentsOf(mock)).toEqual({ "ada@example.com": "SUBSCRIBED" });
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

  it("ends within seconds of SIGTERM, and lets the request in flight end", async () => {
    const server = await start();
    server.mock.addFault({ kind: "latency", delayMs: 500, times: 1 });

    const inFlight = post(`${server.url}/subscribers`, { email: "ada@example.com" });
    while (server.mock.requests.length === 0) await new Promise(setImmediate);
    const { tookMs } = await stopServer(server);

    expect((await inFlight).status).toBeLessThan(300);
    expect(tookMs).toBeLessThan(10_000);
    expect(consentsOf(server.mock)).toEqual({ "ada@example.com": "SUBSCRIBED" });
  });

  it("ends in good order, and shows no key", async () => {
    const server = await start();
    await post(`${server.url}/subscribers`, { email: "ada@example.com" });

    const stopped = await stopServer(server);

    expect(stopped.end).toBe(end);
    expect(server.printed()).not.toContain(server.env["AUDIENCE_API_KEY"]);
  });
});
