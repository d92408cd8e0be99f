import { once } from "node:events";
import { createServer } from "node:net";
import { Readable } from "node:stream";
import { AudienceClient, type ClientOptions, type Fetch, RateLimiter } from "audience-sdk";
import { fetch as undiciFetch } from "undici";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { failureOf } from "./failure.ts";
import { callKinds, contact, json, profileResponse, refusedUrl, serve } from "./fixture.ts";

const unlimited = {
  baseUrl: "https://api.example.com",
  apiKey: "key-1234567890",
  rateLimiter: false,
} as const;

describe("The option `fetch`", () => {
  it.each([
    ["of this realm", (response: Response) => response],
    // The client uses only these properties, and never the class.
    [
      "of another implementation",
      ({ status, ok, headers, url, body }: Response) => ({ status, ok, headers, url, body }) as Response,
    ],
  ])("gives a Response %s, is asked once, and given (url, init) with key and body", async (_whose, of) => {
    const sent: Parameters<Fetch>[] = [];
    const fetch: Fetch = async (...request) => {
      sent.push(request);
      return of(Response.json(profileResponse, { status: 201 }));
    };
    const audience = new AudienceClient({ ...unlimited, fetch });

    const { data, response } = await audience.v1.customers.upsert(contact).withResponse();

    expect(data.id).toBe("c-1");
    expect(response.status).toBe(201);
    const headers = expect.objectContaining({ "x-api-key": unlimited.apiKey }) as unknown;
    const init = { method: "POST", redirect: "manual", body: JSON.stringify(contact), headers };
    expect(sent).toEqual([[`${unlimited.baseUrl}/api/v1/customer/create`, expect.objectContaining(init)]]);
  });
});

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

describe.each(doors)("%s, as a test replaces it, is asked once", (name, clientOf) => {
  it.each([
    ["nothing", undefined],
    ["an object that is no Response", { ok: true, json: async () => ({}) }],
    ["no body, but methods", { status: 200, headers: new Headers(), json: async () => profileResponse }],
    ["a body that is no web stream", { status: 200, headers: new Headers(), body: "{}" }],
    ["a body that is a stream of Node", { status: 200, headers: new Headers(), body: Readable.from(["{}"]) }],
  ])("if it returns %s, which is a fault of the program", async (_, given) => {
    // Safe: a test in JavaScript can return any value.
    const fetch = vi.fn(async () => given as Response);
    const { v1 } = clientOf(fetch);

    const failures = [await failureOf(v1.events.send(event)), await failureOf(v1.customers.get("c-1"))];

    const message = `${name} must return a Response whose body is a web stream, or null.`;
    expect(failures).toMatchObject([
      { name: "ConfigurationError", message, outcome: "unknown", request: { attempts: 1 } },
      { name: "ConfigurationError", message, outcome: "not-applied", request: { attempts: 1 } },
    ]);
    expect(fetch).toHaveBeenCalledTimes(2);
  });

  it.each<[string, (response: Response) => unknown]>([
    ["read", (response) => response.text()],
    ["locked", ({ body }) => body?.getReader()],
  ])("if the body of its Response was %s before, and the error says so", async (_, use) => {
    const given = async () => {
      const response = Response.json(profileResponse);
      await use(response);
      return response;
    };
    const fetch = vi.fn(given);

    const error = await failureOf(clientOf(fetch).v1.events.send(event));

    expect(error).toMatchObject({
      code: "configuration",
      message: `${name} returned a Response whose body was read before. Let each call return a new one, or a clone().`,
    });
    expect(error.outcome).toBe("unknown");
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it("Response.error() is a connection that failed", async () => {
    const { v1 } = clientOf(async () => Response.error());

    const error = await failureOf(v1.events.send(event, { maxRetries: 0 }));

    expect(error).toMatchObject({
      code: "connection",
      outcome: "unknown",
      cause: { message: `${name} returned Response.error().` },
    });
  });
});

const written = { email: "ada@example.com", first_name: "Adá", email_opt_in: "SUBSCRIBED" } as const;
/** A process with other versions. */
const processOf = (versions: object | undefined) =>
  Object.create(process, { versions: { value: versions } }) as object;
const bytes = String(Buffer.byteLength(JSON.stringify(written)));

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

const fetches = [
  ["the global fetch", undefined],
  ["that of npm's undici", undiciFetch],
  ["one that hands on the global fetch", (async (url, init) => await fetch(url, init)) satisfies Fetch],
] as const;

it.each(fetches.flatMap(([name, given]) => callKinds.map((kind) => ({ ...kind, fetch: name, given }))))(
  "A 407 ends a call with its status, after one request, though Node's fetch hides it: $name, by $fetch",
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
])("The body stays a string, whose length the runtime sends, %s", async (_, globals) => {
  const sent: unknown[] = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    sent.push(request.headers.get("content-length"), await request.text());
    return Response.json(profileResponse, { status: 201 });
  });
  const { v1 } = new AudienceClient(unlimited);
  for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);

  await v1.customers.upsert(written);

  expect(sent).toEqual([null, JSON.stringify(written)]);
});

/** The error of a write whose fetch rejects with `thrown`. */
function failing(thrown: unknown, options: ClientOptions = {}) {
  const fetch = async () => Promise.reject(thrown);
  const given = { ...unlimited, baseUrl: `${unlimited.baseUrl}/tenant`, maxRetries: 0, fetch, ...options };
  return failureOf(new AudienceClient(given).v1.customers.upsert(contact));
}

/** The wrapper of undici. */
const wrapped = (facts: object, message = "connect failed") =>
  new TypeError("fetch failed", { cause: Object.assign(new Error(message), facts) });

const coded = (code: unknown, syscall?: string) =>
  wrapped({ code, ...(syscall && { syscall }) }, `${syscall} ${String(code)}`);
type Failure = [what: string, thrown: unknown, reason: string, outcome: string, named: string];
const ofCode = (what: string, code: string, reason: string, outcome: string, syscall?: string): Failure => [
  what,
  coded(code, syscall),
  reason,
  outcome,
  code,
];
const caused = (message: string, facts: object = {}) => Object.assign(new TypeError(message), facts);
const tunnel = new Error("Request was cancelled.", {
  cause: caused("Proxy response (407) !== 200 when HTTP Tunneling", { code: "UND_ERR_ABORTED" }),
});
const several = new AggregateError([coded("ECONNREFUSED"), coded("ECONNREFUSED")]);

describe("The error of a failed connection names the origin, the reason, and whether anything was sent", () => {
  it.each<Failure>([
    ofCode("a refused connection", "ECONNREFUSED", "refused", "not-sent"),
    ["several addresses", new TypeError("x", { cause: several }), "refused", "not-sent", "ECONNREFUSED"],
    ofCode("Node's resolver", "ENOTFOUND", "dns", "not-sent"),
    ofCode("Node's resolver, for now", "EAI_AGAIN", "dns", "not-sent"),
    ofCode("a slow connect", "UND_ERR_CONNECT_TIMEOUT", "other", "not-sent"),
    ofCode("a certificate", "DEPTH_ZERO_SELF_SIGNED_CERT", "tls", "not-sent"),
    ofCode("its name", "ERR_TLS_CERT_ALTNAME_INVALID", "tls", "not-sent"),
    ofCode("an unreadable record", "ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC", "tls", "unknown"),
    ofCode("a broken pipe", "EPIPE", "reset", "unknown"),
    ofCode("undici's socket", "UND_ERR_SOCKET", "reset", "unknown"),
    ofCode("a connect to no host", "EHOSTUNREACH", "other", "not-sent", "connect"),
    ofCode("a read from no host", "EHOSTUNREACH", "other", "unknown", "read"),
    ofCode("a connect to no network", "ENETUNREACH", "other", "not-sent", "connect"),
    ofCode("a write to no network", "ENETUNREACH", "other", "unknown", "write"),
    ofCode("a connect that times out", "ETIMEDOUT", "other", "not-sent", "connect"),
    ofCode("a read that times out", "ETIMEDOUT", "other", "unknown", "read"),
    ofCode("a connect that is reset", "ECONNRESET", "reset", "not-sent", "connect"),
    ofCode("a read that is reset", "ECONNRESET", "reset", "unknown", "read"),
    ofCode("a look-up", "ENODATA", "other", "not-sent", "getaddrinfo"),
    ofCode("no HTTP", "HPE_INVALID_CONSTANT", "other", "unknown"),
    ofCode("an unknown code", "EWHATEVER", "other", "unknown"),
    ["no code, but a system call", wrapped({ syscall: "connect" }), "other", "not-sent", ""],
    ["no details", caused("fetch failed"), "other", "unknown", ""],
    ["a proxy", caused("fetch failed", { cause: tunnel }), "other", "not-sent", "the proxy responded 407"],
    ["Bun, refused", caused("x", { code: "ConnectionRefused" }), "refused", "not-sent", "ConnectionRefused"],
    ["Bun, reset", caused("closed", { code: "ConnectionClosed" }), "reset", "unknown", "ConnectionClosed"],
    ["Deno, refused", caused("tcp connect error: Connection refused (os 111)"), "refused", "not-sent", ""],
    ["Deno, no address", caused("client error (Connect): dns error: failed"), "dns", "not-sent", ""],
  ])("%s", async (_, thrown, reason, outcome, named) => {
    const error = await failing(thrown);

    expect(error).toMatchObject({ code: "connection", reason, outcome });
    const known = named && ` (${named})`;
    expect(error.message).toBe(
      outcome === "not-sent"
        ? `No connection to https://api.example.com could be made${known}; this attempt sent nothing.`
        : `The connection to https://api.example.com failed before the complete response was received${known}.`,
    );
  });
});

it("The cause of a failed connection holds only the messages of the runtime's error and of its causes", async () => {
  const { cause } = await failing(wrapped({ request: { body: contact } }, "other side closed"));

  const words = "fetch failed: other side closed";
  expect(cause).toMatchObject({ name: "TypeError", message: words, stack: `TypeError: ${words}` });
  expect(cause).not.toHaveProperty("cause");
});

it.each([
  ["returns its permit if nothing was sent", "ECONNREFUSED", 0],
  ["uses up its permit if something may have been sent", "ECONNRESET", 1],
])("A connection that fails %s", async (_, code, used) => {
  const rateLimiter = new RateLimiter({ windows: [{ limit: 10, intervalMs: 60_000 }] });

  await failing(wrapped({ code }), { rateLimiter });

  expect(rateLimiter.usage()).toMatchObject({ inFlight: 0, windows: [{ used }] });
});

describe("Only a connection that was never established has the outcome not-sent", () => {
  it("one that ends during the TLS handshake", async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const { port } = server.address() as { port: number };

    const error = await failing(undefined, { baseUrl: `https://127.0.0.1:${port}`, fetch: undefined });

    expect(error).toMatchObject({ code: "connection", reason: "reset", outcome: "not-sent" });
  });

  it.each(["ECONNREFUSED", "EPROTO", "ENOTFOUND"])(
    "not one that broke off in the body with %s, and an unrepeatable write is not sent again",
    async (code) => {
      let sent = 0;
      const fetch = async () => {
        sent += 1;
        const body = new ReadableStream({
          pull: (controller) => controller.error(Object.assign(new Error("broken"), { code })),
        });
        return new Response(body, { status: 201 });
      };
      const { v1 } = new AudienceClient({ ...unlimited, fetch });

      const error = await failureOf(v1.customers.upsert({ ...contact, double_opt_in: true }));

      expect(error).toMatchObject({ code: "connection", outcome: "unknown" });
      expect(sent).toBe(1);
    },
  );
});

describe("A connection that fails", () => {
  it.each<[string, () => Promise<string>, object]>([
    ["refused: nothing was sent", refusedUrl, { reason: "refused", outcome: "not-sent" }],
    [
      "reset: it may have been applied",
      async () => (await serve((outgoing) => void outgoing.socket?.destroy())).url,
      { reason: "reset", outcome: "unknown" },
    ],
    [
      "TLS: nothing was sent",
      async () => (await serve(() => expect.fail("a request"))).url.replace("http:", "https:"),
      { reason: "tls", outcome: "not-sent" },
    ],
  ])("%s", async (_, urlOf, expected) => {
    const baseUrl = await urlOf();

    const error = await failing(undefined, { baseUrl, fetch: undefined });

    expect(error).toMatchObject({ code: "connection", ...expected, request: { attempts: 1 } });
    expect(error.message).toContain(baseUrl);
  });

  it("in the body of a 2xx: it may have been applied, and is sent again if that is safe", async () => {
    const { options, received } = await serve((outgoing, _, count) => {
      if (count > 1) return json(outgoing, 200, profileResponse);
      outgoing.writeHead(200, { "content-length": "1000" }).write('{"data":');
      setTimeout(() => outgoing.destroy(), 20);
    });

    const { id } = await new AudienceClient(options).v1.customers.upsert(contact);

    expect(id).toBe("c-1");
    expect(received).toHaveLength(2);
  });
});
