import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { AudienceClient, type ClientOptions, UnexpectedResponseError } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { failureOf } from "./failure.ts";
import { contact, inPieces, offline, profileResponse, serve } from "./fixture.ts";

const clientFor = (body: unknown, status = 200) =>
  new AudienceClient({ ...offline, fetch: async () => Response.json(body, { status }) });
const clientForBytes = (body: string | Uint8Array<ArrayBuffer>) =>
  new AudienceClient({ ...offline, fetch: async () => new Response(body) });

/** Each call whose response holds an id, and a response. */
const ofCalls: readonly (readonly [string, string, (audience: AudienceClient) => PromiseLike<unknown>])[] = [
  ["a contact", '{"data":{"id":"ID"}}', ({ v1 }) => v1.customers.get("c")],
  ["a contact that was written", '{"data":{"id":"ID"}}', ({ v1 }) => v1.customers.upsert(contact)],
  ["contacts", '[{"id":"ID"}]', ({ v1 }) => v1.customers.list()],
  ["a contact group", '{"id":"ID"}', ({ v1 }) => v1.contactGroups.get("g")],
  [
    "a contact that was added",
    '{"contact":{"contactUUID":"ID","action":"created"}}',
    ({ v1 }) => v1.contactGroups.addContact("g", contact),
  ],
  ["lists", '{"data":{"lists":[{"uuid":"ID"}]}}', ({ v2 }) => v2.lists.list()],
];

it.each(ofCalls)("A numeric id of %s becomes a string", async (_, text, call) => {
  const value = await call(clientForBytes(text.replace('"ID"', "4711")));

  expect(JSON.stringify(value)).toContain('"4711"');
});

/** `c-ü` from a service that encodes JSON as Latin-1. */
const notUtf8 = (text: string) => new Uint8Array(Buffer.from(text.replace("ID", "c-\u00fc"), "latin1"));
const halfACharacter = (text: string) => text.replace("ID", "c-\\ud800");
const rounded = (text: string) => text.replace('"ID"', String(2 ** 60));

// Such an id would name another contact, or could not be sent.
describe.each([
  ["bytes that are invalid UTF-8", notUtf8],
  ["half a character", halfACharacter],
  ["a number that JSON has rounded", rounded],
])("An id with %s is refused", (_, mangled) => {
  it.each(ofCalls)("of %s", async (__, text, call) => {
    const error = await failureOf(call(clientForBytes(mangled(text))));

    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error.outcome).toBe(error.request?.method === "GET" ? "not-applied" : "unknown");
  });
});

describe("A message of the service", () => {
  it("has characters escaped that would clear a screen, begin a line in a log, or reverse the text direction", async () => {
    const words = "no\u001b[2J\u009b2J\r\nERROR: all is well\u202elive\u2028";

    const error = await failureOf(clientFor({ message: words }, 400).v1.customers.get("c-1"));

    expect(error.message).toBe(
      "400 on GET /api/v1/customer/{id}: no\\u001b[2J\\u009b2J\\u000d\\nERROR: all is well\\u202elive\\u2028",
    );
    expect(error).toMatchObject({ body: { message: words } });
  });

  it("keeps letters of every language, and emoji; what joins them is a format character", async () => {
    const words = "\u0646\u0645\u06cc\u200c\u062e \u00fcber \u{1f469}\u200d\u{1f4bb} a\u00adb\ufeff\u{e0041}";

    const error = await failureOf(clientFor({ message: words }, 400).v1.customers.get("c-1"));

    const shown =
      "\u0646\u0645\u06cc\\u200c\u062e \u00fcber \u{1f469}\\u200d\u{1f4bb} a\\u00adb\\ufeff\\u{e0041}";
    expect(error.message).toBe(`400 on GET /api/v1/customer/{id}: ${shown}`);
  });
});

describe("The messages of a body are read", () => {
  /** Counts the reads of each property, at every depth. */
  function countReads(value: unknown, reads: number[]): unknown {
    if (typeof value !== "object" || value === null) return value;
    for (const [key, given] of Object.entries(value)) {
      const inner = countReads(given, reads);
      const at = reads.push(0) - 1;
      Object.defineProperty(value, key, { enumerable: true, get: () => (reads[at]!++, inner) });
    }
    return value;
  }
  const within = (open: string, levels: number, close: string, innermost = '{"message":"no"}') =>
    open.repeat(levels) + innermost + close.repeat(levels);

  it.each([
    ["objects", within('{"error":', 12, "}")],
    ["objects and arrays", within('{"error":[', 6, "]}")],
    ["errors by field", within('{"errors":{"a":', 6, "}}")],
    ["objects without a message", within('{"error":', 12, "}", "{}")],
    ["more objects than are read", within('{"error":', 200, "}")],
  ])("by visiting each value once (%s)", async (_, body) => {
    for (const status of [400, 429]) {
      const reads: number[] = [];
      const { v1 } = new AudienceClient({
        ...offline,
        fetch: async () => new Response(body, { status }),
        isRateLimited: (response) => Boolean(countReads(response.body, reads)) && status === 429,
      });

      await failureOf(v1.customers.get("c-1"));

      // Without a message the beginning of the body is shown, which reads it once more.
      expect(Math.max(...reads)).toBeLessThanOrEqual(2);
    }
  });

  it("to a fixed depth, and until they fill the message", async () => {
    const many = JSON.stringify(Array.from({ length: 2_000 }, (_, at) => `message ${at}`));
    const messageOf = async (body: string) =>
      (await failureOf(clientFor(JSON.parse(body), 400).v1.customers.get("c-1"))).message;

    expect(await messageOf(within("[", 900, "]", many))).toMatch(/: \[{120}…$/);
    expect(await messageOf(many)).toMatch(/: message 0; message 1; .{3978}…$/);
  });
});

const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
const profileWith = (attribute: string) => `{"data":{"id":"c-1","attributes":{"a":${attribute}}}}`;

// Parsing ten megabytes of brackets takes a gigabyte, and JSON.stringify of the value overflows the stack.
describe("A response that is nested deeper than 1,000 levels", () => {
  it.each([1_001, 1_500_000])("(%i) is not parsed", async (levels) => {
    const error = await failureOf(clientForBytes(profileWith(nested(levels - 3))).v1.customers.get("c-1"));

    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error.message).toContain("its body is nested deeper than 1000 levels");
    expect(() => JSON.stringify(error)).not.toThrow();
  });

  it.each([
    ["", nested(997)],
    [", also with further brackets beside it", `[${nested(996)},{}]`],
  ])("does not include one of 1,000 levels%s", async (_, attribute) => {
    const shown = await clientForBytes(profileWith(attribute)).v1.customers.get("c-1");

    expect(JSON.stringify(shown.attributes)).toBe(`{"a":${attribute}}`);
  });

  it.each([
    ["brackets in a string", JSON.stringify("[{".repeat(5_000))],
    ["brackets behind a quotation mark in a string", JSON.stringify(`\\"${"[".repeat(5_000)}`)],
    ["brackets side by side", `[${"[[]],{},".repeat(5_000)}0]`],
  ])("does not include a shallow one with many brackets: %s", async (_, value) => {
    const shown = await clientForBytes(profileWith(value)).v1.customers.get("c-1");

    expect(shown.attributes).toEqual({ a: JSON.parse(value) });
  });
});

describe("A 2xx whose body cannot be decompressed", () => {
  it.each(["gzip", "deflate", "br"])(
    "(%s) is an UnexpectedResponseError, and never retried",
    async (encoding) => {
      const { options, received } = await serve((outgoing) => {
        outgoing.writeHead(200, { "content-type": "application/json", "content-encoding": encoding });
        outgoing.end("this is no compressed text at all");
      });

      const error = await failureOf(new AudienceClient(options).v1.customers.get("c-1"));

      expect(error).toBeInstanceOf(UnexpectedResponseError);
      expect(error).toMatchObject({
        message: "200 on GET /api/v1/customer/{id}, but its body cannot be decompressed.",
        status: 200,
        outcome: "not-applied",
      });
      expect(received).toHaveLength(1);
    },
  );

  const codecs = [
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ] as const;
  /** What a request resolves to whose response has these bytes. */
  const requested = async (encoding: string, bytes: Uint8Array) => {
    const { options } = await serve((outgoing) => {
      const length = bytes.length;
      outgoing.writeHead(201, { "content-encoding": encoding, "content-length": length }).end(bytes);
    });
    return await new AudienceClient(options).v1.request({ method: "POST", path: "/api/v1/exports" });
  };

  it.each(codecs)("(%s) is one that was cut before its first character, too", async (encoding, compress) => {
    // A fixed text: of another one 30 bytes may hold its first character.
    const whole = compress(profileWith("1b4e28ba-2fa1-4d9c-8e2f-9d3c5a7b6e10".repeat(9)));

    for (const bytes of [2, 10, 30]) {
      const error = await failureOf(requested(encoding, whole.subarray(0, bytes)));

      expect(error).toBeInstanceOf(UnexpectedResponseError);
      expect(error).toMatchObject({ outcome: "unknown", status: 201 });
      expect(error.message).toContain("its body cannot be decompressed.");
    }
  });

  it.each(codecs)("(%s) is not an empty one", async (encoding, compress) => {
    expect(await requested(encoding, compress(""))).toBeUndefined();
  });
});

describe("The size of a response", () => {
  const respondingWith = (status: number, body: BodyInit, options: ClientOptions = {}) =>
    new AudienceClient({ ...offline, ...options, fetch: async () => new Response(body, { status }) });
  const padded = (bytes: number) => JSON.stringify(profileResponse).padEnd(bytes, " ");

  it("may reach maxResponseBytes, and not one byte more", async () => {
    const get = (bytes: number) =>
      respondingWith(200, padded(bytes), { maxResponseBytes: 1_000 }).v1.customers.get("c-1");
    const fits = await get(1_000);
    const error = await failureOf(get(1_001));

    expect(fits.id).toBe("c-1");
    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error.message).toContain("larger than maxResponseBytes");
  });

  it.each([200, 299])("is that of a success up to maxResponseBytes, over 64 KiB too (%i)", async (status) => {
    expect((await respondingWith(status, padded(100_000)).v1.customers.get("c-1")).id).toBe("c-1");
  });

  it("does not depend on the ends of its pieces: a character may be split", async () => {
    const bytes = Buffer.from(JSON.stringify({ data: { id: "ä" } }));
    const body = inPieces(Array.from(bytes, (byte) => Uint8Array.of(byte)));

    expect((await respondingWith(200, body).v1.customers.get("c-1")).id).toBe("ä");
  });

  it("is counted in bytes, after decompression", async () => {
    const text = JSON.stringify({ data: { id: "ä".repeat(500) } });
    const gzipped = gzipSync(text);
    const { options } = await serve((outgoing) => {
      outgoing
        .writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" })
        .end(gzipped);
    });
    expect([gzipped.length, text.length].every((length) => length < 600)).toBe(true);

    const get = (maxResponseBytes: number) =>
      new AudienceClient({ ...options, maxResponseBytes }).v1.customers.get("c");
    expect(await failureOf(get(600))).toBeInstanceOf(UnexpectedResponseError);
    expect((await get(1_100)).id).toBe("ä".repeat(500));
  });
});
