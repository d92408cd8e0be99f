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
import { describe, expect, it, vi } from "vitest";
import { failureOf, thrownBy } from "./failure.ts";
import { contact, inPieces, mockedClient, offline, serve } from "./fixture.ts";

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
  return new AudienceClient({ ...offline, fetch, ...options });
}

/** The error of a write with this response. */
const failureWith = (...response: Parameters<typeof clientWithResponse>) =>
  failureOf(clientWithResponse(...response).v1.customers.upsert(contact));

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
    const error = await failureWith(status, '{"message":"the reason"}', { "x-trace": "t-1" });

    expect(error).toBeInstanceOf(Class);
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
    ["an error object", '{"error":{"code":"x","message":"nope"}}', "nope"],
    [
      "an array of messages beside the name of the status",
      '{"statusCode":400,"message":["nope","no"],"error":"Bad Request"}',
      "nope; no; Bad Request",
    ],
    ["a list of texts", '{"errors":["nope","no"]}', "nope; no"],
    ["a list of objects", '{"errors":[{"field":"a","message":"nope"},{"message":"no"}]}', "nope; no"],
    [
      "arrays by the name of the field",
      '{"errors":{"a":["nope","no"],"b":[{"message":"never"}]}}',
      "nope; no; never",
    ],
    ["one for all beside those of the fields", '{"message":"nope","errors":[{"message":"no"}]}', "nope; no"],
    [
      "a message and its detail",
      '{"message":"nope","detail":"no","error":{"message":"never"}}',
      "nope; no; never",
    ],
    ["the title of a problem without a detail", '{"title":"nope","status":400}', "nope"],
    ["a repeated one once", '{"message":"nope","errors":[{"message":"nope"},{"message":"no"}]}', "nope; no"],
    ["JSON:API errors", '{"errors":[{"title":"Bad","detail":"nope"}]}', "nope; Bad"],
    ["a list of details", '{"message":"nope","details":[{"message":"no"},"never"]}', "nope; no; never"],
    ["the description of OAuth", '{"error":"nope","error_description":"no"}', "no; nope"],
    ["all of 4,000 characters", JSON.stringify({ message: "n".repeat(4_000) }), "n".repeat(4_000)],
    ["the first 4,000 of more", JSON.stringify({ message: "n".repeat(4_001) }), `${"n".repeat(4_000)}…`],
    [
      "the first 4,000 of several",
      JSON.stringify({ errors: ["a".repeat(3_000), "b".repeat(3_000)] }),
      `${"a".repeat(3_000)}; ${"b".repeat(998)}…`,
    ],
    [
      "4,000, and that there is one more",
      JSON.stringify({ errors: ["a".repeat(4_000), "b"] }),
      `${"a".repeat(4_000)}…`,
    ],
  ])("has the message of the service, wherever it is in the body: %s", async (_, body, words) => {
    const error = await failureWith(400, body);

    expect(error.message).toBe(`400 on POST /api/v1/customer/create: ${words}`);
  });

  it.each([
    ["JSON that is no object", "5", "5"],
    ["an object without words", '{"error":{"reason":5}}', '{"error":{"reason":5}}'],
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
    const error = await failureWith(400, body, {}, { apiKey });

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
      const error = await failureWith(status, body);

      expect(error.message).toBe(`${status} on POST /api/v1/customer/create${end}`);
    },
  );

  it.each<[Record<string, string>, string]>([
    [{ "retry-after": "2" }, " (the service asks to wait 2000 ms)"],
    [{ "retry-after": "0" }, ""],
    [{}, ""],
  ])("with the headers %j has the wait that the service asks for", async (headers, wish) => {
    const error = await failureWith(502, "", headers);

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

    const ids = ["broken", "endless", "garbled"];
    const errors = await Promise.all(ids.map((id) => failureOf(v1.customers.get(id))));

    expect(errors.map((error) => [error.name, (error as ServerError).body])).toEqual([
      ["ServerError", "the beginning"],
      ["ServerError", "the beginning"],
      ["ServerError", ""],
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

    const error = await failureWith(500, endless);

    expect((error as ServerError).body).toBe("a".repeat(64 * 1024));
    expect(sent).toBeLessThan(200 * 1024);
    expect(isGivenUp).toBe(true);
  });

  it.each([500, 200])("shows JSON of 64 KiB as such, and of a longer one its text (%i)", async (status) => {
    const ofLength = (length: number) => JSON.stringify({ filler: "a".repeat(length - 13) });

    expect(await failureWith(status, ofLength(64 * 1024))).toMatchObject({
      body: { filler: "a".repeat(64 * 1024 - 13) },
    });
    expect(await failureWith(status, ofLength(64 * 1024 + 1))).toMatchObject({
      body: ofLength(64 * 1024 + 1).slice(0, 64 * 1024),
    });
  });

  it("shows an incomplete body as a string, because its JSON would be another value", async () => {
    const errors = [
      await failureWith(500, inPieces(["12"], "breaks off")),
      await failureWith(500, inPieces(["1", "234"]), {}, { maxResponseBytes: 2 }),
    ];

    expect(errors).toMatchObject([{ body: "12" }, { body: "12" }]);
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
    ["an encoded phone number", "%2B491701234567", "the id looks like a phone number, of 15 characters"],
    ["digits, which may be an id", "1234567", 'the id was "1234567"'],
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
  it.each<[number, string | undefined]>([
    [301, "https://else.example/create"],
    [302, "https://else.example/create"],
    [303, "https://else.example/create"],
    [307, "https://else.example/create"],
    [308, "https://else.example/create"],
    [302, "/of-the-same-origin"],
    [302, undefined],
  ])("(%i, to %s) is never followed", async (status, location) => {
    const { options, received } = await serve((outgoing) => {
      outgoing.writeHead(status, location === undefined ? {} : { location }).end("moved");
    });

    const error = await failureOf(new AudienceClient(options).v1.customers.upsert(contact));

    expect(error).toBeInstanceOf(RedirectError);
    expect(error).toMatchObject({ code: "redirect", status, outcome: "not-applied" });
    expect("location" in error && error.location).toBe(location ?? false);
    expect(error.message).toBe(
      `${status} on POST /api/v1/customer/create: a redirect is never followed. Is the base URL right?`,
    );
    expect(received).toHaveLength(1);
  });

  it("is also the status 0, which browsers return for a redirect that is not followed", async () => {
    const opaque = { status: 0, type: "opaqueredirect", headers: new Headers(), url: "", body: null };
    const fetch = async () => opaque as Response; // as far as it is asked for

    const error = await failureWith(0, null, {}, { fetch });

    expect(error).toBeInstanceOf(RedirectError);
    expect(error).toMatchObject({ status: 0, outcome: "not-applied" });
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
    ["an error in success's clothes", 200, '{"status":"error","message":"no"}', "data"],
    ["an id that is empty", 201, '{"data":{"id":""}}', ""],
    ["HTML in lower case", 200, "\n<!doctype html>x", "is not JSON (HTML: a gateway responded; is the base"],
  ] as const;

  it.each(wrong)("%s", async (_, status, body, problem) => {
    const error = await failureWith(status, body);

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

  it("shows all messages of the service", async () => {
    const body = '{"status":false,"errors":[{"message":"no consent"},{"message":"no list"}]}';
    const error = await failureWith(200, body);

    expect(error.message).toContain("the service says: no consent; no list");
  });
});

describe("An error of any class", () => {
  /** An error of each class: what is sent is the event, but for the errors that no event has. */
  const examples = async (): Promise<AudienceError[]> => {
    const { mock, audience } = mockedClient();
    const closed = new AudienceClient(mock.clientOptions);
    await closed.close();
    const rateLimiter = { windows: [{ limit: 1, intervalMs: 60_000 }] };
    const crowded = new AudienceClient({ ...mock.clientOptions, rateLimiter });
    await crowded.v1.customers.list();
    const send = ({ v1 }: AudienceClient, options = {}) => failureOf(v1.events.send(event, options));
    const broken = async () => Promise.reject(new Error("x"));
    return Promise.all([
      ...[400, 401, 402, 403, 404, 429, 500].map((status) =>
        send(clientWithResponse(status, '{"message":"no"}', { "x-a": "1" })),
      ),
      send(clientWithResponse(307, null, { location: "https://else.example" })),
      failureWith(200, "x"),
      send(clientWithResponse(200, null, {}, { fetch: broken })),
      send(clientWithResponse(200, null, {}, { fetch: () => new Promise(() => {}) }), { timeoutMs: 5 }),
      failureOf(audience.v1.customers.upsert({ email: "" })),
      failureOf(audience.v1.customers.upsert(contact, { maxRetries: -1 })),
      send(audience, { signal: AbortSignal.abort("the user left") }),
      send(closed),
      send(crowded, { maxWaitMs: 0 }),
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
    for (const error of await examples()) {
      const isOfEvent = error.request?.operation === "v1.events.send";
      expect(error.uniqueIdentifier).toBe(isOfEvent ? "order-1" : undefined);
      expect("uniqueIdentifier" in error).toBe(isOfEvent);
    }
  });

  it("has the uniqueIdentifier of an invalid event, too, if the event has one", async () => {
    const { v1 } = mockedClient();

    expect(await failureOf(v1.events.send({ ...event, eventName: "" }))).toMatchObject({
      code: "validation",
      uniqueIdentifier: "order-1",
    });
    for (const without of [{ ...event, uniqueIdentifier: "" }, { ...event, uniqueIdentifier: 7 }, null]) {
      const error = await failureOf(v1.events.send(without as never)); // on purpose of a wrong type
      expect(error).toMatchObject({ code: "validation" });
      expect(error).not.toHaveProperty("uniqueIdentifier");
    }
  });

  it("as JSON shows its message and every public field", async () => {
    for (const error of await examples()) {
      const shown = JSON.parse(JSON.stringify(error)) as Record<string, unknown>;

      const { name, code, message, outcome, request } = error;
      expect(shown).toMatchObject({ name, code, message, outcome, request });
      const own = Object.entries(error).filter(([, value]) => value !== undefined);
      expect(Object.keys(shown)).toEqual(expect.arrayContaining(own.map(([key]) => key)));
      if (error instanceof ApiError) expect(shown).toMatchObject({ headers: { "x-a": "1" } });
      expect(shown).not.toHaveProperty("stack");
    }
  });
});

it("isAudienceError recognises errors of another copy of the package, and the other copy recognises ours", async () => {
  vi.resetModules();
  const other = await import("audience-sdk");
  const theirs = new other.ConfigurationError("x");
  const ours = thrownBy(() => new AudienceClient({ timeoutMs: -1 }));

  expect(theirs).not.toBeInstanceOf(AudienceError);
  expect(isAudienceError(theirs)).toBe(true);
  expect(other.isAudienceError(ours)).toBe(true);
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
