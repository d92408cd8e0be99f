import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { deflateSync, gzipSync } from "node:zlib";
import { AudienceClient, isAudienceError, type AudienceError } from "audience-sdk";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runs } from "../properties/runs.ts";
import { failureOf } from "../transport/failure.ts";
import { offline } from "../transport/fixture.ts";
import { serveRaw } from "./raw-server.ts";
import { validEvent, validV1Contact, validV2Contact } from "./try-entry-point.ts";

interface FakeResponse {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array<ArrayBuffer>;
  readonly encoding: "gzip" | "deflate" | "none" | "a lie";
  /** The fraction of the response that is sent, from 0 to 1. */
  readonly sentShare: number;
}

const bytes = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text));

/** Bodies that the service would send, or nearly. */
const nearlyValid = [
  '{"data":{"type":"profile","id":"c-1","attributes":{"email":"a@b"}},"links":{"self":"x"}}',
  '{"data":[{"type":"profile","id":"c-1","attributes":{}}],"meta":{"total":1}}',
  '{"data":{"lists":[{"uuid":"u","name":"n"}],"current_page":1,"total_pages":9007199254740993},"success":true}',
  '{"message":"m","contact":{"email":"a@b","contactUUID":"c","action":"created"}}',
  '{"status":true}',
  '{"data":[],"links":{"next":"x"}}',
  '{"__proto__":{"polluted":1},"data":{"id":"c-1","__proto__":{"polluted":1}}}',
  '{"constructor":{"prototype":{"polluted":1}},"errors":[{"detail":"no"}]}',
  `{"error":${"[".repeat(5_000)}${"]".repeat(5_000)}}`,
  `{"data":${'{"data":'.repeat(2_000)}1${"}".repeat(2_000)}}`,
  `"${'\\"'.repeat(15_000)}`,
  "null",
  "1e999",
  "",
];

const anyBody = fc.oneof(
  fc.constantFrom(...nearlyValid).map(bytes),
  fc.json({ maxDepth: 4 }).map(bytes),
  fc.uint8Array({ maxLength: 300 }).map((random) => new Uint8Array(random)),
  // A valid body with one byte changed.
  fc.tuple(fc.constantFrom(...nearlyValid), fc.nat(), fc.nat({ max: 255 })).map(([text, at, byte]) => {
    const changed = bytes(text);
    if (changed.length > 0) changed[at % changed.length] = byte;
    return changed;
  }),
);

const header = fc.oneof(
  fc.constantFrom(
    ["Content-Type", "text/html"] as const,
    ["Content-Type", "application/json; charset=utf-16"] as const,
    ["Retry-After", "-1"] as const,
    ["Retry-After", "1e309"] as const,
    ["Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT"] as const,
    ["Date", "not a date"] as const,
    ["Location", "https://evil.example/\\"] as const,
    ["Location", "//"] as const,
    ["X-Odd", "\u00ff\u00fe"] as const,
  ),
  fc
    .string({ unit: fc.constantFrom(...'abcXYZ019 ;=,/"\\%') })
    .map((value) => ["X-Random", value.trim()] as const),
);

const anyResponse: fc.Arbitrary<FakeResponse> = fc.record({
  status: fc.oneof(
    fc.constantFrom(200, 201, 204, 301, 400, 401, 404, 429, 500),
    fc.integer({ min: 200, max: 599 }),
  ),
  headers: fc.array(header, { maxLength: 3 }),
  body: anyBody,
  encoding: fc.constantFrom("gzip", "deflate", "none", "none", "none", "a lie"),
  sentShare: fc.oneof(fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true })),
});

function encoded({ body: plain, encoding }: FakeResponse): Uint8Array {
  if (encoding === "gzip") return gzipSync(plain);
  return encoding === "deflate" ? deflateSync(plain) : plain;
}

type Client = AudienceClient;
const calls: readonly (readonly [string, (client: Client) => PromiseLike<unknown>])[] = [
  ["v1.customers.upsert", ({ v1 }) => v1.customers.upsert(validV1Contact as { email: string })],
  ["v1.customers.get", ({ v1 }) => v1.customers.get("c-1")],
  ["v1.customers.list", ({ v1 }) => v1.customers.list().toArray({ max: 5 })],
  ["v1.contactGroups.list", ({ v1 }) => v1.contactGroups.list().toArray({ max: 5 })],
  ["v1.contactGroups.get", ({ v1 }) => v1.contactGroups.get("g-1")],
  [
    "v1.contactGroups.addContact",
    ({ v1 }) => v1.contactGroups.addContact("g-1", { email: "a@b", email_opt_in: "SUBSCRIBED" }),
  ],
  ["v1.events.send", ({ v1 }) => v1.events.send(validEvent)],
  ["v2.contacts.upsert", ({ v2 }) => v2.contacts.upsert(validV2Contact as never)],
  ["v2.lists.list", ({ v2 }) => v2.lists.list().toArray({ max: 5 })],
];

/** The call returns a value or rejects with an SDK error that shows no key and can be logged, without unhandled rejections. */
async function expectHandled(call: () => PromiseLike<unknown>): Promise<void> {
  const unhandled: unknown[] = [];
  const record = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", record);
  try {
    await call();
  } catch (error) {
    if (!isAudienceError(error)) throw error;
    expect(JSON.stringify(error)).not.toContain("test-key");
    expect(error.outcome).toBeOneOf(["not-sent", "not-applied", "unknown"]);
  }
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", record);
  expect(unhandled).toEqual([]);
  expect(Reflect.get({}, "polluted")).toBeUndefined();
}

describe("For any response of the service, a call returns a value or rejects with an SDK error", () => {
  let next: FakeResponse | undefined;
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => {
      if (!next) return void socket.destroy();
      const content = encoded(next);
      const lines = [
        `HTTP/1.1 ${next.status} Odd`,
        ...next.headers.map(([name, value]) => `${name}: ${value}`),
        ...(next.encoding === "none"
          ? []
          : [`Content-Encoding: ${next.encoding === "a lie" ? "gzip" : next.encoding}`]),
        `Content-Length: ${content.length}`,
      ];
      const whole = Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), content]);
      // Cut at any byte: in the status, the headers, or the body.
      socket.end(whole.subarray(0, Math.ceil(whole.length * next.sentShare)));
    });
  });
  let url = "";
  beforeAll(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    // Safe: the server listens on a port.
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => void server.close());

  it.each(calls)("%s", async (_, call) => {
    const { fetch: __, ...options } = offline;
    const property = fc.asyncProperty(anyResponse, async (response) => {
      next = response;
      const client = new AudienceClient({ ...options, baseUrl: url, baseUrlV2: url, timeoutMs: 5_000 });
      await expectHandled(() => call(client));
    });
    await fc.assert(property, runs(40));
  });
});

const validBody = '{"data":{"id":"c-1"}}';
const lengthOf = (text: string) => `Content-Length: ${Buffer.byteLength(text)}\r\n`;
const ok = (headers: string, body = validBody) => `HTTP/1.1 200 OK\r\n${headers}\r\n${body}`;
const withStatus = (status: string) => `HTTP/1.1 ${status} Odd\r\n${lengthOf("{}")}\r\n{}`;
const clientOf = (url: string, timeoutMs = 9_000) =>
  new AudienceClient({ baseUrl: url, apiKey: "test-key-0123456789", rateLimiter: false, timeoutMs });

/** A read without retries, and a write that is not repeatable, with retries. */
function readAndWrite(url: string, timeoutMs?: number): Promise<AudienceError>[] {
  const { v1 } = clientOf(url, timeoutMs);
  return [
    failureOf(v1.customers.get("c-1", { maxRetries: 0 })),
    failureOf(v1.customers.upsert({ email: "ada@example.com" })),
  ];
}

const cut = /^The connection to http:\/\/127\.0\.0\.1:\d+ failed before the complete response was received/;

it.each([
  ["a greeting", "hello\r\n\r\n"],
  ["a TLS alert, as a port of TLS gives it", "\u0015\u0003\u0001\0\u0002\u0002\u0028"],
  ["a status of four digits", withStatus("1000")],
  ["a switch to another protocol", "HTTP/1.1 101 Odd\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"],
  ["lines that end in LF alone", ok(lengthOf(validBody)).replaceAll("\r\n", "\n")],
  ["a length and chunks", ok(`${lengthOf(validBody)}Transfer-Encoding: chunked\r\n`)],
  ["a body shorter than its length", ok("Content-Length: 500\r\n")],
  ["chunks that break off", ok("Transfer-Encoding: chunked\r\n", `15\r\n${validBody}\r\n`)],
  ["nothing", ""],
])(
  "Bytes that are no HTTP response: %s: a ConnectionError; the outcome of a write is unknown, and it is not sent again",
  async (_, response) => {
    const server = await serveRaw((socket) => void socket.end(response, "latin1"));

    const errors = await Promise.all(readAndWrite(server.url));

    expect(errors.map(({ code }) => code)).toEqual(["connection", "connection"]);
    expect(errors.map(({ outcome }) => outcome)).toEqual(["not-applied", "unknown"]);
    for (const { message } of errors) expect(message).toMatch(cut);
    await server.allClosed();
    expect(server.requests).toHaveLength(2);
  },
);

const responses = {
  "with a length": ok(lengthOf(validBody)),
  "in chunks": ok(
    "Transfer-Encoding: chunked\r\n",
    `7\r\n${validBody.slice(0, 7)}\r\ne\r\n${validBody.slice(7)}\r\n0\r\n\r\n`,
  ),
};

it.each(Object.entries(responses))(
  "A response that is cut off anywhere: %s never counts as complete, and the outcome of its write is unknown",
  async (_, response) => {
    // In each line of the head, at its end, and around the pieces of the body.
    const end = response.indexOf("\r\n\r\n");
    const inHead = Array.from({ length: Math.ceil(end / 7) }, (__, at) => at * 7);
    const last = response.length - 1;
    const cuts = [...inHead, end, end + 2, end + 3, end + 4, end + 5, end + 12, last - 5, last - 1, last];
    let at = 0;
    const server = await serveRaw((socket) => void socket.end(response.slice(0, at)));
    const { v1 } = clientOf(server.url);
    const endings: string[] = [];

    for (at of cuts) {
      const { code, outcome } = await failureOf(v1.customers.upsert({ email: "ada@example.com" }));
      endings.push(`${at}: ${code}, ${outcome}`);
    }

    expect(endings).toEqual(cuts.map((each) => `${each}: connection, unknown`));
    expect(server.requests).toHaveLength(cuts.length);
  },
);

const adaBody = '{"data":{"id":"c-1","attributes":{"first_name":"Ada"}}}';

/** A client of a server that responds 200 with these bytes. */
async function clientGiven(body: string | Buffer, headers = ""): Promise<AudienceClient> {
  const bytesOf = Buffer.from(body);
  const head = `HTTP/1.1 200 OK\r\n${headers}Content-Length: ${bytesOf.length}\r\n\r\n`;
  const { url } = await serveRaw((socket) => void socket.write(Buffer.concat([Buffer.from(head), bytesOf])));
  return clientOf(url);
}

describe("A response is parsed", () => {
  it.each([
    ["behind a byte order mark", `\ufeff${adaBody}`, ""],
    ["under the type of HTML", adaBody, "Content-Type: text/html\r\n"],
    ["under a wrong charset", adaBody, "Content-Type: application/json; charset=utf-16\r\n"],
    ["under an unknown encoding", adaBody, "Content-Encoding: none-such\r\n"],
    ["with a repeated key, whose last value counts", adaBody.replace('"id"', '"id":"c-0","id"'), ""],
  ])("%s", async (_, body, headers) => {
    const { v1 } = await clientGiven(body, headers);

    expect(await v1.customers.get("c-1")).toMatchObject({ id: "c-1", attributes: { first_name: "Ada" } });
  });

  it("with keys that are names of Object.prototype, which stay own keys", async () => {
    const body =
      '{"data":{"id":"c-1","__proto__":{"polluted":1},"attributes":{"__proto__":{"polluted":2},"constructor":3}}}';

    const profile = await (await clientGiven(body)).v1.customers.get("c-1");

    expect(Reflect.get(profile, "polluted")).toBeUndefined();
    expect(Reflect.get({}, "polluted")).toBeUndefined();
    expect(JSON.stringify(profile.attributes)).toBe('{"__proto__":{"polluted":2},"constructor":3}');
  });
});

it.each([
  ["in UTF-16", Buffer.from(adaBody, "utf16le"), "its body is not JSON"],
  ["whose data is a prototype", '{"__proto__":{"data":{"id":"c-1"}}}', "data: required"],
  ["with bytes behind it", `${adaBody}\0`, "its body is not JSON"],
])("A response is refused, and the outcome of its write is unknown, %s", async (_, body, words) => {
  const { v1 } = await clientGiven(body);

  const errors: AudienceError[] = [
    await failureOf(v1.customers.get("c-1")),
    await failureOf(v1.customers.upsert({ email: "ada@example.com" })),
  ];

  expect(errors).toMatchObject([
    { code: "unexpected_response", outcome: "not-applied", request: { attempts: 1 } },
    { code: "unexpected_response", outcome: "unknown", request: { attempts: 1 } },
  ]);
  for (const { message } of errors) expect(message).toContain(words);
});

it("A link in a list response is never followed: the client asks its own origin for page numbers", async () => {
  const urls: string[] = [];
  const fetch = async (url: string) => {
    const next = urls.push(url) < 3 ? "https://evil.example/api/v1/customer?page=9" : null;
    return Response.json({ data: [{ id: `c-${urls.length}` }], links: { next } });
  };

  const items = await new AudienceClient({ ...offline, fetch }).v1.customers.list().toArray({ max: 10 });

  expect(items.map(({ id }) => id)).toEqual(["c-1", "c-2", "c-3"]);
  expect(urls).toEqual(
    ["", "&page=2", "&page=3"].map((page) => `${offline.baseUrl}/api/v1/customer?limit=100${page}`),
  );
});
