import type { Socket } from "node:net";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ClientProcess } from "./client-process.ts";
import { drip, flood, serveRaw, type RawResponse } from "./raw-server.ts";

const ok = "HTTP/1.1 200 OK\r\n";
const letters = Buffer.alloc(64 * 1024, "a");

/** 50 MB of zeros, in kilobytes. */
const zeros = Buffer.alloc(50_000_000);
const bombs = {
  gzip: gzipSync(zeros),
  br: brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
};

const head =
  (lines: string, then: (socket: Socket) => void): RawResponse =>
  (socket) => {
    socket.write(`${lines}\r\n`);
    then(socket);
  };
/** A little from time to time, without end. */
const slow =
  (begin: string, piece: string): RawResponse =>
  (socket) => {
    socket.write(begin);
    drip(socket, piece, 20);
  };
const endless = (piece: string | Buffer) => (socket: Socket) => flood(socket, piece);
// With a length, on a connection that stays open: if it closes while the client pauses the body, Node 24
// itself ends the process (D72). The client closes it one second before its timeout.
const whole =
  (lines: string, body: string | Buffer): RawResponse =>
  (socket) => {
    socket.write(`${lines}Keep-Alive: timeout=2\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`);
    socket.write(body);
  };

const tooLarge = {
  code: "unexpected_response",
  words: /^200 on .* larger than maxResponseBytes \(10485760 bytes\)/,
};
const tooDeep = { code: "unexpected_response", words: /^200 on .* nested deeper than 1000 levels/ };
const late = {
  code: "timeout",
  words: /^No complete response within timeoutMs \(300 ms\): no headers received\./,
};
const lateInBody = {
  code: "timeout",
  // On a busy machine not even the headers have arrived by then.
  words: /^No complete response within timeoutMs \(300 ms\): (not its whole body|no headers) received\./,
};
const longHeaders = {
  code: "connection",
  words: /before the complete response was received \((UND_ERR_HEADERS|HPE_HEADER)_OVERFLOW\)/,
};
const failed = { code: "server", words: /^500 on / };

const floods: readonly (readonly [string, RawResponse, { code: string; words: RegExp }])[] = [
  ["a body without end", head(ok, endless(letters)), tooLarge],
  [
    "a body without end, in chunks",
    head(`${ok}Transfer-Encoding: chunked\r\n`, endless(`10000\r\n${"a".repeat(65_536)}\r\n`)),
    tooLarge,
  ],
  ["a header without end, letter by letter", slow(`${ok}x-a: `, "a"), late],
  ["a body without end, letter by letter", slow(`${ok}\r\n`, " "), lateInBody],
  ["a header without end", (socket) => flood(socket, `${ok}x-a: ${"a".repeat(65_536)}`), longHeaders],
  [
    "responses of 103 without end, each with headers",
    (socket) => flood(socket, `HTTP/1.1 103 Early Hints\r\nLink: </${"a".repeat(1_000)}>\r\n\r\n`.repeat(50)),
    late,
  ],
  [
    "a contact nested a million deep",
    whole(ok, `{"data":{"id":"c","attributes":${'{"a":'.repeat(1_000_000)}1${"}".repeat(1_000_002)}`),
    tooDeep,
  ],
  ["a bomb in gzip", whole(`${ok}Content-Encoding: gzip\r\n`, bombs.gzip), tooLarge],
  ["a bomb in brotli", whole(`${ok}Content-Encoding: br\r\n`, bombs.br), tooLarge],
  [
    "a bomb with an error status",
    whole("HTTP/1.1 500 Error\r\nContent-Encoding: gzip\r\n", bombs.gzip),
    failed,
  ],
  [
    "gzip without end that holds nothing",
    head(`${ok}Content-Encoding: gzip\r\n`, endless(Buffer.concat(Array<Buffer>(3_000).fill(gzipSync(""))))),
    lateInBody,
  ],
];

/** The largest growth of a process, in MB, although many of these bodies have no end. */
const allowedMb = 350;

describe("A flood", () => {
  let client: ClientProcess;

  beforeAll(async () => {
    client = await ClientProcess.start();
  });
  afterAll(() => client.kill());

  it.each(floods)(
    "of %s ends the call, needs little memory, and closes its connection",
    async (_, response, { code, words }) => {
      const server = await serveRaw(response);

      const { error, highestMb, unhandled } = await client.write({
        baseUrl: server.url,
        apiKey: "test-key-0123456789",
        rateLimiter: false,
        maxRetries: 0,
        timeoutMs: code === "timeout" ? 300 : 20_000,
      });

      expect(error).toMatchObject({ code, outcome: "unknown", request: { attempts: 1 } });
      expect(error["message"]).toMatch(words);
      expect(highestMb - client.atFirstMb).toBeLessThan(allowedMb);
      expect(unhandled).toEqual([]);
      await server.allClosed();
      expect(server.requests).toHaveLength(1);
    },
  );

  it("leaves no handle that keeps the process alive", async () => {
    expect(await client.end()).toBe(0);
  });
});
