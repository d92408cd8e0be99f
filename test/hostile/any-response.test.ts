import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { deflateSync, gzipSync } from "node:zlib";
import { AudienceClient, isAudienceError } from "audience-sdk";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runs } from "../properties/runs.ts";
import { offline } from "../transport/fixture.ts";
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

const body = fc.oneof(
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
  body,
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
