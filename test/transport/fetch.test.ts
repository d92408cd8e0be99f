import { Readable } from "node:stream";
import {
  AudienceClient,
  ConfigurationError,
  ConnectionError,
  type Fetch,
  RateLimiter,
  ServerError,
} from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { mswHandlers } from "audience-sdk/mock/msw";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { fetch as undiciFetch } from "undici";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { failureOf } from "./failure.ts";
import { callKinds, json, profileResponse, serve } from "./fixture.ts";

const contact = { email: "ada@example.com", email_opt_in: "SUBSCRIBED" } as const;
const profile = { data: { type: "profile", id: "c-1", attributes: { email: contact.email } } };

/** A response of another fetch implementation: it has all properties of a Response, but another class. */
function foreign(response: Response): Response {
  const { status, ok, headers, url, body } = response;
  // The client uses only these properties, and never the class.
  return { status, ok, headers, url, body } as Response;
}

describe("The option `fetch`", () => {
  it.each([
    ["of this realm", (response: Response) => response],
    ["of another implementation", foreign],
  ])("gives a Response %s, is asked once, and given (url, init) with key and body", async (_whose, of) => {
    const sent: Parameters<Fetch>[] = [];
    const audience = new AudienceClient({
      baseUrl: "https://api.example.com",
      apiKey: "key-1234567890",
      rateLimiter: false,
      fetch: async (...request) => {
        sent.push(request);
        return of(Response.json(profile, { status: 201 }));
      },
    });

    const { data, response } = await audience.v1.customers.upsert(contact).withResponse();

    expect(data.id).toBe("c-1");
    expect(response.status).toBe(201);
    expect(sent).toEqual([
      [
        "https://api.example.com/api/v1/customer/create",
        expect.objectContaining({
          method: "POST",
          redirect: "manual",
          body: JSON.stringify(contact),
          headers: expect.objectContaining({ "x-api-key": "key-1234567890" }) as unknown,
        }),
      ],
    ]);
  });

  it("can be that of npm's undici, which calls the service as the global fetch does", async () => {
    const mock = createMockService();
    const server = await mock.listen();
    onTestFinished(server.close);
    const audience = new AudienceClient({ ...server.clientOptions, fetch: undiciFetch });

    const { id } = await audience.v1.customers.upsert(contact);

    expect((await audience.v1.customers.get(id)).attributes.email).toBe(contact.email);
    expect(mock.requests.map(({ status }) => status)).toEqual([201, 200]);
  });
});

const unlimited = {
  baseUrl: "https://api.example.com",
  apiKey: "key-1234567890",
  rateLimiter: false,
} as const;
const event = { eventName: "order placed", contact: { email: contact.email } };

/** The client whose requests this function gets. */
const doors: [name: string, clientOf: (fetch: () => Promise<Response>) => AudienceClient][] = [
  ["The fetch option", (fetch) => new AudienceClient({ ...unlimited, fetch })],
  [
    "The global fetch",
    (fetch) => {
      vi.stubGlobal("fetch", fetch);
      return new AudienceClient(unlimited);
    },
  ],
];

async function readBefore(): Promise<Response> {
  const response = Response.json(profile);
  await response.text();
  return response;
}

async function lockedBefore(): Promise<Response> {
  const response = Response.json(profile);
  response.body?.getReader();
  return response;
}

async function streamedBefore(): Promise<Response> {
  const response = Response.json(profile);
  const reader = response.body?.getReader();
  await reader?.read();
  reader?.releaseLock();
  return response;
}

describe.each(doors)("%s, as a test replaces it, is asked once", (name, clientOf) => {
  it.each([
    ["nothing", undefined],
    ["an object that is no Response", { ok: true, json: async () => ({}) }],
    ["a body that is no web stream", { status: 200, headers: new Headers(), body: "{}" }],
    ["a body that is a stream of Node", { status: 200, headers: new Headers(), body: Readable.from(["{}"]) }],
    ["a status that is no number", { status: "200", headers: new Headers(), body: null }],
    ["an object without headers", { status: 200 }],
  ])("if it returns %s, which is a fault of the program", async (_, given) => {
    // Safe: a test in JavaScript can return any value.
    const fetch = vi.fn(async () => given as Response);
    const { v1 } = clientOf(fetch);

    const failures = [await failureOf(v1.events.send(event)), await failureOf(v1.customers.get("c-1"))];

    const message = `${name} must return a Response whose body is a web stream.`;
    expect(failures).toMatchObject([
      { name: "ConfigurationError", message, outcome: "unknown", request: { attempts: 1 } },
      { name: "ConfigurationError", message, outcome: "not-applied", request: { attempts: 1 } },
    ]);
    expect(fetch).toHaveBeenCalledTimes(2);
  });

  it.each([
    ["read", readBefore],
    ["read as a stream", streamedBefore],
    ["locked", lockedBefore],
  ])("if the body of its Response was %s before, and the error says so", async (_, given) => {
    const fetch = vi.fn(given);

    const error = await failureOf(clientOf(fetch).v1.events.send(event));

    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toBe(
      `${name} returned a Response whose body was read before. Let each call return a new one, or a clone().`,
    );
    expect(error.outcome).toBe("unknown");
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it("Response.error() is a connection that failed", async () => {
    const { v1 } = clientOf(async () => Response.error());

    const error = await failureOf(v1.events.send(event, { maxRetries: 0 }));

    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({
      outcome: "unknown",
      cause: { message: `${name} returned Response.error().` },
    });
  });
});

it("A fetch that throws an error of this package, for example through another client, is a failed connection that releases its permit", async () => {
  const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 20 }] });
  const broken = async () => new Response("", { status: 500 });
  const inner = new AudienceClient({ ...unlimited, fetch: broken, maxRetries: 0 });
  const fetch = async () => {
    await inner.v1.customers.get("c-1");
    return new Response();
  };
  const audience = new AudienceClient({ ...unlimited, fetch, rateLimiter, maxRetries: 0 });

  const failure = await failureOf(audience.v1.customers.get("c-1"));

  expect(failure).toBeInstanceOf(ConnectionError);
  expect(failure).not.toBeInstanceOf(ServerError);
  expect(rateLimiter.usage().inFlight).toBe(0);
});

const written = { email: "ada@example.com", first_name: "Adá", email_opt_in: "SUBSCRIBED" } as const;
/** A process with other versions. */
const processOf = (versions: object | undefined) =>
  Object.create(process, { versions: { value: versions } }) as object;
const bytes = String(Buffer.byteLength(JSON.stringify(written)));

afterEach(() => void vi.unstubAllGlobals());

describe("A write leaves once for each attempt", () => {
  const writes = [
    ...callKinds.filter(({ kind }) => kind !== "read"),
    {
      name: "v1.request without a body",
      call: ({ v1 }: AudienceClient) => v1.request({ method: "DELETE", path: "/api/v1/customer/c-1" }),
    },
  ];

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

    await v1.customers.upsert(written);
    await v1.customers.get("c-1");

    expect(received.map(({ headers, body }) => [headers["content-length"], body])).toEqual([
      [bytes, JSON.stringify(written)],
      [undefined, ""],
    ]);
    expect(received[0]?.headers).not.toHaveProperty("transfer-encoding");
  });
});

describe("A 407 ends a call with its status, after one request, though Node's fetch hides it", () => {
  const fetches = [
    ["the global fetch", undefined],
    ["that of npm's undici", undiciFetch],
    ["one that hands on the global fetch", (async (url, init) => await fetch(url, init)) satisfies Fetch],
  ] as const;

  it.each(fetches.flatMap(([name, given]) => callKinds.map((kind) => ({ ...kind, fetch: name, given }))))(
    "$name, by $fetch",
    async ({ call, given }) => {
      const { options, received } = await serve((outgoing) => json(outgoing, 407, {}));

      const error = await failureOf(call(new AudienceClient({ ...options, ...(given && { fetch: given }) })));

      expect(error).toMatchObject({
        status: 407,
        code: "api",
        outcome: "not-applied",
        request: { attempts: 1 },
      });
      expect(error.message).toMatch(/^407 on .+ \(a proxy asks for credentials of its own\)$/);
      expect(received).toHaveLength(1);
    },
  );
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

    await v1.customers.upsert(written);

    expect(sent).toEqual([null, JSON.stringify(written)]);
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
    await audience.v1.customers.upsert(written);

    expect(bodies).toEqual([JSON.stringify(written), written]);
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

    await clientOf("https://own.test").v1.customers.upsert(written);
    await clientOf("https://mock.test").v1.customers.upsert(written);

    expect(bodies).toEqual([written]);
    expect(mock.requests.map(({ body }) => body)).toEqual([written]);
  });
});
