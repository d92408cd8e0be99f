import {
  AbortError,
  ApiError,
  AudienceClient,
  AudienceError,
  AuthenticationError,
  BadRequestError,
  ClientClosedError,
  type ClientOptions,
  ConfigurationError,
  ConnectionError,
  isAudienceError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  RateLimitWaitError,
  RedirectError,
  ServerError,
  TimeoutError,
  UnexpectedResponseError,
  ValidationError,
} from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { describe, expect, it, vi } from "vitest";
import { failureOf, thrownBy } from "./failure.ts";
import { contact, inPieces, json, mockedClient, profileResponse, serve } from "./fixture.ts";

const event = {
  eventName: "order placed",
  uniqueIdentifier: "order-1",
  contact: { email: "ada@example.com" },
};

/** A client of a service with the same response to every request. */
function clientWithResponse(
  status: number,
  body: BodyInit | null,
  headers: Record<string, string> = {},
  options: ClientOptions = {},
) {
  const fetch = async () => new Response(body, { status, headers });
  const base = "https://api.example.com";
  return new AudienceClient({
    baseUrl: base,
    baseUrlV2: base,
    apiKey: "k",
    appId: "a",
    rateLimiter: false,
    maxRetries: 0,
    fetch,
    ...options,
  });
}

describe("An error status", () => {
  it.each([
    [400, BadRequestError, "BadRequestError", "bad_request", "not-applied"],
    [401, AuthenticationError, "AuthenticationError", "authentication", "not-applied"],
    [402, ApiError, "ApiError", "api", "not-applied"],
    [403, PermissionError, "PermissionError", "permission", "not-applied"],
    [404, NotFoundError, "NotFoundError", "not_found", "not-applied"],
    [408, ApiError, "ApiError", "api", "unknown"],
    [409, ApiError, "ApiError", "api", "not-applied"],
    [422, ApiError, "ApiError", "api", "not-applied"],
    [429, RateLimitError, "RateLimitError", "rate_limit", "not-applied"],
    [500, ServerError, "ServerError", "server", "unknown"],
    [502, ServerError, "ServerError", "server", "unknown"],
    [503, ServerError, "ServerError", "server", "unknown"],
    [599, ServerError, "ServerError", "server", "unknown"],
  ] as const)("of %i is a %o", async (status, Class, name, code, outcome) => {
    const audience = clientWithResponse(status, '{"message":"the reason"}', { "x-trace": "t-1" });

    const error = await failureOf(audience.v1.customers.upsert(contact));

    expect(error).toBeInstanceOf(Class);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toBeInstanceOf(AudienceError);
    expect(error).toMatchObject({ name, code, status, outcome, body: { message: "the reason" } });
    const hint = status === 401 ? " (is `apiKey` right, and of this service?)" : "";
    expect(error.message).toBe(`${status} on POST /api/v1/customer/create: the reason${hint}`);
    expect((error as ApiError).headers.get("x-trace")).toBe("t-1");
    expect(error.request).toEqual({
      requestId: expect.any(String),
      operation: "v1.customers.upsert",
      method: "POST",
      path: "/api/v1/customer/create",
      attempts: 1,
    });
  });

  it.each([
    ["v2's message", '{"status":"error","message":"identifiers missing"}', "identifiers missing"],
    ["an error text", '{"error":"nope"}', "nope"],
    ["an error object", '{"error":{"code":"x","message":"nope"}}', "nope"],
    [
      "an array of messages beside the name of the status",
      '{"statusCode":400,"message":["nope","no"],"error":"Bad Request"}',
      "nope; no",
    ],
    ["a list of texts", '{"errors":["nope","no"]}', "nope; no"],
    ["a list of objects", '{"errors":[{"field":"a","message":"nope"},{"message":"no"}]}', "nope; no"],
    [
      "arrays by the name of the field",
      '{"errors":{"a":["nope","no"],"b":[{"message":"never"}]}}',
      "nope; no; never",
    ],
    ["one for all beside those of the fields", '{"message":"nope","errors":[{"message":"no"}]}', "nope; no"],
    ["a list inside an error", '{"error":{"message":"nope","errors":[{"message":"no"}]}}', "nope; no"],
    [
      "a message and its detail",
      '{"message":"nope","detail":"no","error":{"message":"never"}}',
      "nope; no; never",
    ],
    ["the title of a problem without a detail", '{"title":"nope","status":400}', "nope"],
    ["a repeated one once", '{"message":"nope","errors":[{"message":"nope"},{"message":"no"}]}', "nope; no"],
    ["JSON:API errors", '{"errors":[{"title":"Bad","detail":"nope"}]}', "nope"],
    ["a detail beside an empty message", '{"message":"","detail":"nope"}', "nope"],
    ["a detail beside an empty one, deeper", '{"error":{"message":"","detail":"nope"}}', "nope"],
    ["at most 300 characters of them", JSON.stringify({ message: "n".repeat(301) }), "n".repeat(300)],
    [
      "at most 300 of several",
      JSON.stringify({ errors: ["a".repeat(200), "b".repeat(200)] }),
      `${"a".repeat(200)}; ${"b".repeat(98)}`,
    ],
    ["and 300 deeper", JSON.stringify({ error: { title: "n".repeat(301) } }), "n".repeat(300)],
  ])("has the message of the service, wherever it is in the body: %s", async (_, body, words) => {
    const error = await failureOf(clientWithResponse(400, body).v1.customers.upsert(contact));

    expect(error.message).toBe(`400 on POST /api/v1/customer/create: ${words}`);
  });

  it.each([
    ["JSON that is no object", "5", "5"],
    ["an object without words", '{"error":{"reason":5}}', '{"error":{"reason":5}}'],
    ["null instead of a message", '{"error":null,"errors":[null]}', '{"error":null,"errors":[null]}'],
    ["a number instead of a message", '{"message": 5}', '{"message":5}'],
    ["a text", " quota of key\u0007 abc\n", "quota of key\\u0007 abc"],
    ["more than 120 characters", "n".repeat(121), `${"n".repeat(120)}…`],
    ["a key", "secret-of-the-test is blocked", "[redacted] is blocked"],
    [
      "HTML",
      "<!DOCTYPE html>\n<p>Not found</p>",
      "<!DOCTYPE html>\\n<p>Not found</p> (HTML: a gateway responded; is the base URL right?)",
    ],
  ])("without a known message shows the first 120 characters of its body: %s", async (_, body, shown) => {
    const apiKey = "secret-of-the-test";
    const error = await failureOf(clientWithResponse(400, body, {}, { apiKey }).v1.customers.upsert(contact));

    expect(error.message).toBe(`400 on POST /api/v1/customer/create: ${shown}`);
  });

  const edgeHint = " (a limit may be behind it: see isRateLimited)";

  it.each([
    [403, "", edgeHint],
    [403, "Access denied", `: Access denied${edgeHint}`],
    [503, "", edgeHint],
    [403, "{}", ": {}"],
    [503, '{"message":"closed"}', ": closed"],
    [500, "", ""],
    [409, "", ""],
  ])(
    "%i with the body %j names isRateLimited if an edge may have refused the call",
    async (status, body, end) => {
      const error = await failureOf(clientWithResponse(status, body).v1.customers.upsert(contact));

      expect(error.message).toBe(`${status} on POST /api/v1/customer/create${end}`);
    },
  );

  it.each<[Record<string, string>, string]>([
    [{ "retry-after": "2" }, " (the service asks to wait 2000 ms)"],
    [{ "retry-after": "0" }, ""],
    [{}, ""],
  ])("with the headers %j has the wait that the service asks for", async (headers, wish) => {
    const error = await failureOf(clientWithResponse(502, "", headers).v1.customers.upsert(contact));

    expect(error.message).toBe(`502 on POST /api/v1/customer/create${wish}`);
    expect("retryAfterMs" in error).toBe("retry-after" in headers);
  });

  it("is thrown even if the body breaks off, never ends, or cannot be decompressed", async () => {
    const { options } = await serve((outgoing, { path }) => {
      if (path.endsWith("garbled"))
        return outgoing.writeHead(500, { "content-encoding": "gzip" }).end("no gzip");
      outgoing.writeHead(500, { "content-type": "text/plain" }).write("the beginning");
      if (path.endsWith("broken")) setTimeout(() => outgoing.destroy(), 20);
    });
    const { v1 } = new AudienceClient({ ...options, maxRetries: 0, timeoutMs: 1_000 });

    const errors = await Promise.all(
      ["broken", "endless", "garbled"].map((id) => failureOf(v1.customers.get(id))),
    );

    expect(errors.map(({ name }) => name)).toEqual(["ServerError", "ServerError", "ServerError"]);
    expect(errors.map((error) => (error as ServerError).body)).toEqual([
      "the beginning",
      "the beginning",
      "",
    ]);
  });

  it("shows at most 64 KiB of its body, and reads no more of it", async () => {
    let sent = 0;
    let isGivenUp = false;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 16 * 1024;
        controller.enqueue(new Uint8Array(16 * 1024).fill(97));
      },
      cancel: () => void (isGivenUp = true),
    });

    const error = await failureOf(clientWithResponse(500, endless).v1.customers.upsert(contact));

    expect((error as ServerError).body).toBe("a".repeat(64 * 1024));
    expect(sent).toBeLessThan(200 * 1024);
    expect(isGivenUp).toBe(true);
  });

  it.each([500, 200])("shows JSON of 64 KiB as such, and of a longer one its text (%i)", async (status) => {
    const ofLength = (length: number) => JSON.stringify({ filler: "a".repeat(length - 13) });
    const bodies = [64 * 1024, 64 * 1024 + 1].map(async (length) => {
      const error = await failureOf(
        clientWithResponse(status, ofLength(length)).v1.customers.upsert(contact),
      );
      return (error as ServerError | UnexpectedResponseError).body;
    });

    expect(await Promise.all(bodies)).toEqual([
      { filler: "a".repeat(64 * 1024 - 13) },
      ofLength(64 * 1024 + 1).slice(0, 64 * 1024),
    ]);
  });

  it("shows an incomplete body as a string, because its JSON would be another value", async () => {
    const breaksOff = inPieces(["12"], "breaks off");
    const cut = [
      clientWithResponse(500, breaksOff),
      clientWithResponse(500, "1234", {}, { maxResponseBytes: 2 }),
    ].map(async ({ v1 }) => ((await failureOf(v1.customers.upsert(contact))) as ServerError).body);

    expect(await Promise.all(cut)).toEqual(["12", "12"]);
  });
});

describe("A 404", () => {
  const customer = "404 on GET /api/v1/customer/{id}: not there";
  const ofContacts = "a contact's id is the one that upsert and list return";
  const apiKey = "secret-of-the-test";
  const { v1 } = clientWithResponse(404, '{"message":"not there"}', {}, { apiKey });

  it.each([
    ["an id", "c-9", 'the id was "c-9"'],
    ["an e-mail address", "ada@example.com", "the id was an e-mail address of 15 characters"],
    ["an encoded e-mail address", "ada%40example.com", "the id was an e-mail address of 17 characters"],
    ["a phone number", "+49 (0)170 123-4567", "the id looks like a phone number, of 19 characters"],
    ["the link of a phone number", "tel:+491701234567", "the id looks like a phone number, of 17 characters"],
    ["an encoded phone number", "%2B491701234567", "the id looks like a phone number, of 15 characters"],
    ["digits, which may be an id", "1234567", 'the id was "1234567"'],
    ["fewer digits", "123456", 'the id was "123456"'],
    ["a UUID", "0198c7a2-4412-7123-8123-123456789012", 'the id was "0198c7a2-4412-7123-8123-123456789012"'],
    ["a key", `key ${apiKey}`, 'the id was "key [redacted]"'],
    ["control characters", "a\u001b[2J", 'the id was "a\\u001b[2J"'],
    ["more than 100 characters", "n".repeat(101), `the id was "${"n".repeat(100)}…"`],
  ])("names the id that was given, and of an address only its shape: %s", async (_, id, shown) => {
    const error = await failureOf(v1.customers.get(id));

    expect(error).toBeInstanceOf(NotFoundError);
    expect(error.message).toBe(`${customer} (${shown}; ${ofContacts})`);
  });

  it("says what may have been given instead of a list's id", async () => {
    const errors = await Promise.all([
      failureOf(v1.contactGroups.get("Newsletter")),
      failureOf(v1.contactGroups.addContact("Newsletter", contact)),
    ]);

    expect(errors.map(({ message }) => message)).toEqual([
      '404 on GET /api/v1/contact-groups/{id}: not there (the id was "Newsletter"; is it a name? contactGroups.list() shows the ids)',
      '404 on POST /api/v1/contact-groups/{listId}/contacts: not there (the id was "Newsletter"; is it a name, or the id of a segment? contactGroups.list({ type: "LIST" }) shows the ids of lists)',
    ]);
  });

  it.each([
    [403, {}],
    [404, { isRateLimited: () => true }],
  ])("alone names the id, as no other failure is one of the id: %i with %o", async (status, options) => {
    const error = await failureOf(clientWithResponse(status, "{}", {}, options).v1.customers.get("c-9"));

    expect(error.message).toBe(`${status} on GET /api/v1/customer/{id}: {}`);
  });
});

describe("A redirect", () => {
  it.each([301, 302, 303, 307, 308])("(%i) is never followed, to wherever it leads", async (status) => {
    const other = await serve((outgoing) => json(outgoing, 200, profileResponse));
    const { options, received } = await serve((outgoing, { path }) => {
      outgoing.writeHead(status, { location: other.url + path }).end("moved");
    });

    const error = await failureOf(new AudienceClient(options).v1.customers.upsert(contact));

    expect(error).toBeInstanceOf(RedirectError);
    expect(error).toMatchObject({
      code: "redirect",
      status,
      location: `${other.url}/api/v1/customer/create`,
      outcome: "not-applied",
      request: { attempts: 1 },
    });
    expect(received).toHaveLength(1);
    expect(other.received).toEqual([]);
  });

  it("is also the status 0, which browsers return for a redirect that is not followed", async () => {
    const opaque = { status: 0, type: "opaqueredirect", headers: new Headers(), url: "", body: null };
    const fetch = async () => opaque as Response; // as far as it is asked for

    const error = await failureOf(clientWithResponse(0, null, {}, { fetch }).v1.customers.upsert(contact));

    expect(error).toBeInstanceOf(RedirectError);
    expect(error).toMatchObject({ status: 0, outcome: "not-applied" });
  });

  it("has a message that asks whether the base URL is right", async () => {
    const error = await failureOf(clientWithResponse(302, "").v1.customers.get("c"));

    expect(error.message).toBe(
      "302 on GET /api/v1/customer/{id}: a redirect is never followed. Is the base URL right?",
    );
  });

  it("to the same origin is not followed either, and its error has no location if the response has none", async () => {
    const { options, received } = await serve((outgoing, { path }) => {
      outgoing.writeHead(302, path.endsWith("same") ? { location: "/elsewhere" } : {}).end();
    });
    const { v1 } = new AudienceClient(options);

    const same = await failureOf(v1.customers.get("same"));
    const none = await failureOf(v1.customers.get("none"));

    expect(same).toMatchObject({ status: 302, location: "/elsewhere" });
    expect(none).not.toHaveProperty("location");
    expect(received).toHaveLength(2);
  });

  it("that the fetch itself has followed goes unnoticed, so the client asks the fetch not to follow it", async () => {
    const seen: RequestInit[] = [];
    const fetch = async (_: string, init: RequestInit) => {
      seen.push(init);
      return Response.json(profileResponse);
    };

    await clientWithResponse(200, null, {}, { fetch }).v1.customers.get("c-1");

    expect(seen[0]?.redirect).toBe("manual");
  });
});

describe("A 2xx with an undocumented body is an UnexpectedResponseError", () => {
  const wrong = [
    ["empty", 200, null, "its body is empty"],
    ["204", 204, null, "its body is empty"],
    ["HTML", 200, "<html>login</html>", "its body is not JSON"],
    ["truncated JSON", 200, '{"data":{"id":', "its body is not JSON"],
    ["JSON null", 200, "null", "its body is not what is documented"],
    ["an array", 201, "[]", "its body is not what is documented"],
    ["without data", 201, "{}", "data"],
    ["an error in success's clothes", 200, '{"status":"error","message":"no"}', "data"],
    ["data without an id", 201, '{"data":{"type":"profile"}}', "data.id"],
    ["an id that is empty", 201, '{"data":{"id":""}}', ""],
  ] as const;

  it.each(wrong)("%s", async (_, status, body, problem) => {
    const error = await failureOf(clientWithResponse(status, body).v1.customers.upsert(contact));

    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error).toMatchObject({
      code: "unexpected_response",
      status,
      outcome: "unknown",
      request: { attempts: 1 },
    });
    expect(error.message).toContain(`${status} on POST /api/v1/customer/create, but `);
    expect(error.message).toContain(problem);
  });

  it.each([200, 404, 502])("says that a gateway responded with %i if its type is HTML", async (status) => {
    const headers = { "content-type": "text/html; charset=utf-8" };
    const { v1 } = clientWithResponse(status, "<h1>Not Found</h1>", headers, { maxRetries: 0 });

    expect((await failureOf(v1.customers.get("c-1"))).message).toContain("HTML: a gateway responded");
  });

  it("says that a gateway responded if the body is HTML", async () => {
    const error = await failureOf(clientWithResponse(200, "\n<!doctype html>x").v1.customers.get("c-1"));

    expect(error.message).toBe(
      "200 on GET /api/v1/customer/{id}, but its body is not JSON (HTML: a gateway responded; is the base URL right?).",
    );
  });

  it("shows all messages of the service", async () => {
    const body = '{"status":false,"errors":[{"message":"no consent"},{"message":"no list"}]}';
    const error = await failureOf(clientWithResponse(200, body).v1.customers.upsert(contact));

    expect(error.message).toContain("the service says: no consent; no list");
  });

  it("holds the body, as JSON or as a string", async () => {
    const asJson = await failureOf(clientWithResponse(200, '{"a":1}').v1.customers.get("c-1"));
    const asText = await failureOf(clientWithResponse(200, "<p>").v1.customers.get("c-1"));

    expect([asJson, asText].map((error) => (error as UnexpectedResponseError).body)).toEqual([
      { a: 1 },
      "<p>",
    ]);
  });

  it.each([
    ["contact.contactUUID", { message: "ok", contact: { email: "a@b", action: "created" } }],
    ["contact.action", { message: "ok", contact: { email: "a@b", contactUUID: "c-1" } }],
    ["contact", { message: "ok" }],
  ])("addContact needs %s", async (path, body) => {
    const error = await failureOf(
      clientWithResponse(200, JSON.stringify(body)).v1.contactGroups.addContact("l", contact),
    );

    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error.message).toContain(path);
  });
});

describe("An error of any class", () => {
  const examples = async (): Promise<AudienceError[]> => {
    const { mock, audience } = mockedClient();
    const gone = AbortSignal.abort("the user left");
    const closed = new AudienceClient(mock.clientOptions);
    await closed.close();
    const crowded = new AudienceClient({
      ...mock.clientOptions,
      rateLimiter: { windows: [{ limit: 1, intervalMs: 60_000 }] },
    });
    await crowded.v1.customers.list();
    const statuses = [400, 401, 402, 403, 404, 429, 500].map((status) =>
      clientWithResponse(status, '{"message":"no"}', { "x-a": "1" }),
    );
    return Promise.all([
      ...statuses.map((each) => failureOf(each.v1.events.send(event))),
      failureOf(clientWithResponse(307, null, { location: "https://else.example" }).v1.events.send(event)),
      failureOf(clientWithResponse(200, "x").v1.customers.upsert(contact)),
      failureOf(
        clientWithResponse(
          200,
          null,
          {},
          { fetch: async () => Promise.reject(new Error("x")) },
        ).v1.events.send(event),
      ),
      failureOf(
        clientWithResponse(200, null, {}, { fetch: () => new Promise(() => {}) }).v1.events.send(event, {
          timeoutMs: 5,
        }),
      ),
      failureOf(audience.v1.customers.upsert({ email: "" })),
      failureOf(audience.v1.customers.upsert(contact, { maxRetries: -1 })),
      failureOf(audience.v1.events.send(event, { signal: gone })),
      failureOf(closed.v1.events.send(event)),
      failureOf(crowded.v1.events.send(event, { maxWaitMs: 0 })),
    ]);
  };
  const classes = [
    BadRequestError,
    AuthenticationError,
    ApiError,
    PermissionError,
    NotFoundError,
    RateLimitError,
    ServerError,
    RedirectError,
    UnexpectedResponseError,
    ConnectionError,
    TimeoutError,
    ValidationError,
    ConfigurationError,
    AbortError,
    ClientClosedError,
    RateLimitWaitError,
  ];

  it("is an Error with its name, its code, a stack, and its call", async () => {
    const errors = await examples();

    expect(errors.map(({ name }) => name)).toEqual(classes.map(({ name }) => name));
    expect(new Set(errors.map(({ code }) => code)).size).toBe(classes.length);
    for (const [index, error] of errors.entries()) {
      expect(error).toBeInstanceOf(classes[index]);
      expect(error).toBeInstanceOf(Error);
      expect(isAudienceError(error)).toBe(true);
      expect(String(error)).toBe(`${error.name}: ${error.message}`);
      expect(error.stack).toContain(error.message);
      expect(error.request).toMatchObject({ requestId: expect.any(String), attempts: expect.any(Number) });
    }
  });

  it("has the uniqueIdentifier of the event if it is of events.send", async () => {
    const errors = await examples();

    const ofEvents = errors.filter(({ request }) => request?.operation === "v1.events.send");
    expect(ofEvents.map(({ uniqueIdentifier }) => uniqueIdentifier)).toEqual(
      Array(ofEvents.length).fill("order-1"),
    );
    expect(
      errors.filter((error) => !ofEvents.includes(error)).every((error) => !("uniqueIdentifier" in error)),
    ).toBe(true);
  });

  it("has the uniqueIdentifier of an invalid event, too, if the event has one", async () => {
    const { v1 } = new AudienceClient(createMockService().clientOptions);
    const trap = {
      get uniqueIdentifier(): string {
        throw new Error("a getter that throws");
      },
    };

    expect(await failureOf(v1.events.send({ ...event, eventName: "" }))).toMatchObject({
      code: "validation",
      uniqueIdentifier: "order-1",
    });
    expect(await failureOf(v1.events.send(event, { maxRetries: -1 }))).toMatchObject({
      code: "configuration",
      uniqueIdentifier: "order-1",
    });
    for (const without of [
      { ...event, uniqueIdentifier: "" },
      { ...event, uniqueIdentifier: 7 },
      trap,
      null,
    ]) {
      const error = await failureOf(v1.events.send(without as never)); // on purpose of a wrong type
      expect(error).toMatchObject({ code: "validation" });
      expect(error).not.toHaveProperty("uniqueIdentifier");
    }
  });

  it("as JSON shows its message and every public field", async () => {
    for (const error of await examples()) {
      const shown = JSON.parse(JSON.stringify(error)) as Record<string, unknown>;

      expect(shown).toMatchObject({
        name: error.name,
        code: error.code,
        message: error.message,
        outcome: error.outcome,
        request: error.request,
      });
      const own = Object.keys(error).filter(
        (key) => (error as unknown as Record<string, unknown>)[key] !== undefined,
      );
      expect(Object.keys(shown)).toEqual(expect.arrayContaining(own));
      expect(shown).not.toHaveProperty("stack");
    }
  });
});

describe("isAudienceError", () => {
  it("recognises errors of another copy of the package, and the other copy recognises ours", async () => {
    vi.resetModules();
    const other = await import("audience-sdk");
    const theirs = new other.ConfigurationError("x");
    const ours = thrownBy(() => new AudienceClient({ timeoutMs: -1 }));

    expect(theirs).not.toBeInstanceOf(AudienceError);
    expect(isAudienceError(theirs)).toBe(true);
    expect(other.isAudienceError(ours)).toBe(true);
  });
});

it("An ApiError as JSON holds the response's headers", async () => {
  const error = await failureOf(clientWithResponse(400, "{}", { "x-trace": "t-1" }).v1.customers.get("c-1"));

  expect(JSON.parse(JSON.stringify(error))).toMatchObject({ headers: { "x-trace": "t-1" } });
});

it("A limiter of another copy of the package ends a call with outcome and request", async () => {
  vi.resetModules();
  const other = await import("audience-sdk");
  const rateLimiter = new other.RateLimiter({ windows: [{ limit: 1, intervalMs: 60_000 }], maxWaitMs: 100 });
  const { audience } = mockedClient({}, { rateLimiter });
  await audience.v1.events.send({ eventName: "first", contact: { email: "ada@example.com" } });

  const error: unknown = await audience.v1.events
    .send({ eventName: "second", uniqueIdentifier: "u-2", contact: { email: "ada@example.com" } })
    .catch((reason: unknown) => reason);

  expect(error).toBeInstanceOf(RateLimitWaitError);
  expect(error).toMatchObject({
    name: "RateLimitWaitError",
    waitMs: expect.closeTo(60_035, -3) as number, // Safe: a matcher in the place of a number
    window: { limit: 1, intervalMs: 60_000 },
    outcome: "not-sent",
    uniqueIdentifier: "u-2",
    request: { operation: "v1.events.send", attempts: 0 },
  });
});
