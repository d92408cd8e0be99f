import { AudienceClient, type Fetch } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { mswHandlers } from "audience-sdk/mock/msw";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { fetch as undiciFetch } from "undici";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { callKinds } from "./calls.ts";
import { failureOf } from "./failure.ts";
import { json, profileResponse, serve } from "./served.ts";

const contact = { email: "ada@example.com", first_name: "Adá", email_opt_in: "SUBSCRIBED" } as const;
/** A process with other versions. */
const processOf = (versions: object | undefined) =>
  Object.create(process, { versions: { value: versions } }) as object;
const bytes = String(Buffer.byteLength(JSON.stringify(contact)));

afterEach(() => void vi.unstubAllGlobals());

describe("A write leaves once for each attempt", () => {
  const writes = callKinds.filter(({ kind }) => kind !== "read");

  it.each(writes)("after a 421, after which Node's fetch sends a string again: $name", async ({ call }) => {
    const { options, received } = await serve((outgoing) => json(outgoing, 421, {}));

    const error = await failureOf(call(new AudienceClient(options)));

    expect(error).toMatchObject({ status: 421, outcome: "not-applied", request: { attempts: 1 } });
    expect(received).toHaveLength(1);
  });

  it.each([
    ["Node", {}],
    ["Deno", { Deno: {}, process: processOf({ deno: "2.9.6" }) }],
  ])("on %s, with its length and its very bytes", async (_, globals) => {
    const { options, received } = await serve((outgoing) => json(outgoing, 201, profileResponse));
    const { v1 } = new AudienceClient(options);
    for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);

    await v1.customers.upsert(contact);
    await v1.customers.get("c-1");

    expect(received.map(({ headers, body }) => [headers["content-length"], body])).toEqual([
      [bytes, JSON.stringify(contact)],
      [undefined, ""],
    ]);
    expect(received[0]?.headers).not.toHaveProperty("transfer-encoding");
  });
});

describe("A 421 and a 407 end a call with their status, after one request, though Node's fetch hides them", () => {
  const oneOfEach = [...new Map(callKinds.map((kind) => [kind.kind, kind])).values()];
  const fetches = [
    ["the global fetch", undefined],
    ["that of npm's undici", undiciFetch],
    ["one that hands on the global fetch", (async (url, init) => await fetch(url, init)) satisfies Fetch],
  ] as const;

  it.each(
    fetches.flatMap(([name, given]) =>
      [421, 407].flatMap((status) => oneOfEach.map((kind) => ({ ...kind, fetch: name, given, status }))),
    ),
  )("$status, $name, by $fetch", async ({ call, given, status }) => {
    const { options, received } = await serve((outgoing) => json(outgoing, status, {}));

    const error = await failureOf(call(new AudienceClient({ ...options, ...(given && { fetch: given }) })));

    expect(error).toMatchObject({ status, code: "api", outcome: "not-applied", request: { attempts: 1 } });
    expect(received).toHaveLength(1);
  });

  it("a 407 with its likely cause", async () => {
    const { options } = await serve((outgoing) => json(outgoing, 407, {}));

    const error = await failureOf(new AudienceClient(options).v1.customers.get("c-1"));

    expect(error.message).toBe("407 on GET /api/v1/customer/{id} (a proxy asks for credentials of its own)");
  });

  it("only the call whose response it is, of many that are under way", async () => {
    const { options } = await serve((outgoing, { path }) =>
      json(outgoing, path.endsWith("-odd") ? 421 : 200, { data: { type: "profile", id: path } }),
    );
    const { v1 } = new AudienceClient(options);
    const ids = Array.from({ length: 20 }, (_, index) => `${index}-${index % 2 ? "odd" : "even"}`);

    const ends = await Promise.allSettled(ids.map((id) => v1.customers.get(id)));

    expect(ends.map(({ status }) => status)).toEqual(
      ids.map((id) => (id.endsWith("odd") ? "rejected" : "fulfilled")),
    );
  });

  it("so no window of the rate limit is passed by reads that are sent twice", async () => {
    const arrivals: number[] = [];
    const { options } = await serve((outgoing) => {
      arrivals.push(performance.now());
      json(outgoing, 421, {});
    });
    const rateLimiter = { windows: [{ limit: 5, intervalMs: 200 }] };
    const { v1 } = new AudienceClient({ ...options, rateLimiter });

    await Promise.allSettled(Array.from({ length: 12 }, (_, index) => v1.customers.get(`c-${index}`)));

    const inOneWindow = arrivals.map(
      (at) => arrivals.filter((other) => other >= at && other < at + 200).length,
    );
    expect(arrivals).toHaveLength(12);
    expect(Math.max(...inOneWindow)).toBeLessThanOrEqual(5);
  });
});

describe("The body stays a string, whose length the runtime sends,", () => {
  const { Request: Native } = globalThis;

  /** As the polyfills of some test tools do. */
  class WithoutStreams extends Native {
    constructor(input: string | URL | Request, { method, headers, body }: RequestInit = {}) {
      super(input, {
        ...(method !== undefined && { method }),
        ...(headers !== undefined && { headers }),
        ...(body !== undefined && { body: typeof body === "string" ? body : "[object ReadableStream]" }),
      });
    }
  }

  it.each([
    ["where no write is repeated, as on Bun and workerd", { process: processOf({ bun: "1.4.5" }) }],
    ["where there is no `process`, as in browsers", { process: undefined }],
    ["where it tells no versions", { process: processOf(undefined) }],
    ["where a polyfill takes no streams", { Request: WithoutStreams }],
  ])("%s", async (_, globals) => {
    const sent: unknown[] = [];
    vi.stubGlobal("fetch", async (request: Request) => {
      sent.push(request.headers.get("content-length"), await request.text());
      return Response.json(profileResponse, { status: 201 });
    });
    const { v1 } = new AudienceClient({ baseUrl: "https://api.test", apiKey: "k", rateLimiter: false });
    for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);

    await v1.customers.upsert(contact);

    expect(sent).toEqual([null, JSON.stringify(contact)]);
  });
});

describe("Tests that replace the global fetch", () => {
  it("read the body of the Request that it is given", async () => {
    const bodies: unknown[] = [];
    vi.stubGlobal("fetch", async (request: Request) => {
      bodies.push(await request.clone().text(), await request.json());
      return Response.json(profileResponse, { status: 201 });
    });

    const audience = new AudienceClient({ baseUrl: "https://api.test", apiKey: "k", rateLimiter: false });
    await audience.v1.customers.upsert(contact);

    expect(bodies).toEqual([JSON.stringify(contact), contact]);
  });

  it("with msw read it too, in handlers of their own and of the mock", async () => {
    const bodies: unknown[] = [];
    const mock = createMockService();
    const server = setupServer(
      http.post("https://own.test/api/v1/customer/create", async ({ request }) => {
        bodies.push(await request.json());
        return HttpResponse.json(profileResponse, { status: 201 });
      }),
      ...mswHandlers(mock, { baseUrl: "https://mock.test" }),
    );
    server.listen({ onUnhandledRequest: "error" });
    onTestFinished(() => server.close());
    const clientOf = (baseUrl: string) =>
      new AudienceClient({ baseUrl, apiKey: mock.clientOptions.apiKey, rateLimiter: false });

    await clientOf("https://own.test").v1.customers.upsert(contact);
    await clientOf("https://mock.test").v1.customers.upsert(contact);

    expect(bodies).toEqual([contact]);
    expect(mock.requests.map(({ body }) => body)).toEqual([contact]);
  });
});
