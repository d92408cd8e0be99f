import { AudienceClient, type AudienceError } from "audience-sdk";
import { beforeAll, describe, expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";
import { refusedUrl } from "../transport/fixture.ts";
import { drip, type RawResponse, serveRaw } from "./raw-server.ts";

const validBody = '{"data":{"id":"c-1"}}';
const lengthOf = (body: string) => `Content-Length: ${Buffer.byteLength(body)}\r\n`;
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

describe("Bytes that are no HTTP response", () => {
  it.each([
    ["a greeting", "hello\r\n\r\n"],
    ["bytes", "\0\u0001\u00ff\u00fe"],
    ["JSON alone", validBody],
    ["a TLS alert, as a port of TLS gives it", "\u0015\u0003\u0001\0\u0002\u0002\u0028"],
    ["a frame of HTTP/2", "\0\0\0\u0004\0\0\0\0\0"],
    ["another version", "HTTP/9.9 200 OK\r\n\r\n"],
    ["a status of four digits", withStatus("1000")],
    ["a status below zero", withStatus("-1")],
    ["a status that is no number", withStatus("abc")],
    ["a status of 99", withStatus("99")],
    ["a status of 0", withStatus("000")],
    ["a switch to another protocol", "HTTP/1.1 101 Odd\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"],
    ["lines that end in LF alone", ok(lengthOf(validBody)).replaceAll("\r\n", "\n")],
    ["NUL in a header", ok(`X-A: a\0b\r\n${lengthOf(validBody)}`)],
    ["a length below zero", ok("Content-Length: -5\r\n")],
    ["a length beyond numbers", ok(`Content-Length: 1${"0".repeat(30)}\r\n`)],
    ["two lengths", ok("Content-Length: 5\r\nContent-Length: 21\r\n")],
    ["a length and chunks", ok(`${lengthOf(validBody)}Transfer-Encoding: chunked\r\n`)],
    ["a chunk without a length", ok("Transfer-Encoding: chunked\r\n", `xyz\r\n${validBody}\r\n0\r\n\r\n`)],
    ["a body shorter than its length", ok("Content-Length: 500\r\n")],
    ["chunks that break off", ok("Transfer-Encoding: chunked\r\n", `15\r\n${validBody}\r\n`)],
    ["nothing", ""],
    ["a thousand encodings", ok(`Content-Encoding: ${Array(1_000).fill("gzip").join(", ")}\r\n`)],
  ])(
    "%s: a ConnectionError; the outcome of a write is unknown, and it is not sent again",
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

  it("TLS to a port without TLS: the outcome is not-sent", async () => {
    const server = await serveRaw(
      () => undefined,
      (socket) => void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"),
    );

    const errors = await Promise.all(readAndWrite(server.url.replace("http:", "https:")));

    expect(errors.map(({ code, outcome }) => [code, outcome])).toEqual([
      ["connection", "not-sent"],
      ["connection", "not-sent"],
    ]);
    expect(server.requests).toEqual([]);
  });
});

describe("A response that is cut off anywhere", () => {
  const responses = {
    "with a length": ok(lengthOf(validBody)),
    "in chunks": ok(
      "Transfer-Encoding: chunked\r\n",
      `7\r\n${validBody.slice(0, 7)}\r\ne\r\n${validBody.slice(7)}\r\n0\r\n\r\n`,
    ),
  };

  it.each(Object.entries(responses))(
    "%s never counts as complete, and the outcome of its write is unknown",
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

  it("without a length is invalid JSON, and the outcome of its write is unknown", async () => {
    const server = await serveRaw((socket) => void socket.end(ok("", validBody.slice(0, -1))));

    const errors = await Promise.all(readAndWrite(server.url));

    expect(errors.map(({ code, outcome }) => [code, outcome])).toEqual([
      ["unexpected_response", "not-applied"],
      ["unexpected_response", "unknown"],
    ]);
    expect(errors[0]?.message).toContain("its body is not JSON");
  });
});

describe("A status that HTTP does not define", () => {
  // RFC 9110, 15: treated as a 5xx.
  it.each([600, 999])("(%i) is a ServerError", async (status) => {
    const server = await serveRaw((socket) => void socket.end(withStatus(String(status))));

    const errors = await Promise.all(readAndWrite(server.url));

    expect(errors).toMatchObject([
      { code: "server", status, outcome: "not-applied" },
      { code: "server", status, outcome: "unknown" },
    ]);
    expect(server.requests).toHaveLength(2);
  });
});

describe("Two responses to one request", () => {
  const response = (id: string) => ok(lengthOf(validBody), validBody.replace("c-1", id));

  it("at once: the second is never the response to the next call", async () => {
    const server = await serveRaw((socket, request) => {
      const id = /customer\/(\S+)/.exec(request)?.[1] ?? "";
      socket.write(response(id) + response("e-1"));
    });
    const { v1 } = clientOf(server.url);
    const ids: string[] = [];

    for (const id of ["c-1", "c-2", "c-3"]) ids.push((await v1.customers.get(id)).id);

    expect(ids).toEqual(["c-1", "c-2", "c-3"]);
    await server.allClosed();
  });

  it("one of them later: its connection is closed and not reused", async () => {
    const server = await serveRaw((socket, _, count) => {
      socket.write(response(`c-${count}`));
      if (count === 1) setImmediate(() => socket.write(response("e-1")));
      else socket.end();
    });
    const { v1 } = clientOf(server.url);

    expect((await v1.customers.get("first")).id).toBe("c-1");
    await server.allClosed();
    expect((await v1.customers.get("second")).id).toBe("c-2");
  });
});

describe("A server that keeps sending and never completes", () => {
  const dripping =
    (begin: string, piece: string): RawResponse =>
    (socket) => {
      socket.write(begin);
      drip(socket, piece, 20);
    };

  // The first call of a process loads modules of the runtime, and its timeout includes that time.
  beforeAll(async () => {
    await Promise.all(readAndWrite(await refusedUrl()));
  });

  it.each([
    ["in a header", "HTTP/1.1 200 OK\r\nX-A: ", "a"],
    ["in header after header", "HTTP/1.1 200 OK\r\n", "x-a: b\r\n"],
    ["in its body", ok("", ""), " "],
    ["in chunk after chunk", ok("Transfer-Encoding: chunked\r\n", ""), "1\r\n \r\n"],
    ["in endless responses of 102", "", "HTTP/1.1 102 Processing\r\n\r\n"],
  ])("%s is aborted at timeoutMs", async (_, begin, piece) => {
    const server = await serveRaw(dripping(begin, piece));

    const errors = await Promise.all(readAndWrite(server.url, 200));

    expect(errors).toMatchObject([
      { code: "timeout", timeoutMs: 200, outcome: "not-applied" },
      { code: "timeout", timeoutMs: 200, outcome: "unknown", request: { attempts: 1 } },
    ]);
    await server.allClosed();
    // Fewer on a machine so busy that the timeout passed before.
    expect(server.requests.length).toBeLessThanOrEqual(2);
  });

  it("is aborted at deadlineMs, whatever retries remain", async () => {
    const server = await serveRaw(dripping(ok("", ""), " "));
    const { v1 } = clientOf(server.url);

    const error = await failureOf(v1.customers.upsert({ email: "ada@example.com" }, { deadlineMs: 200 }));

    expect(error).toMatchObject({ code: "timeout", timeoutMs: 200, outcome: "unknown" });
    expect(server.requests.length).toBeLessThanOrEqual(1);
  });
});
