import { once } from "node:events";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { createMockService, type MockListener, type MockListenOptions } from "audience-sdk/mock";
import { afterEach, describe, expect, it } from "vitest";

const KEY = { "x-api-key": "mock-api-key-not-a-secret" };
const JSON_TYPE = { "content-type": "application/json" };
const FAULT = '{"kind":"500-before"}';

/** One permit a day, so that a second counted request is refused. */
const mock = createMockService({ rateLimits: [{ limit: 1, intervalMs: 86_400_000 }] });
let server: MockListener;
const open = async (options?: MockListenOptions) => void (server = await mock.listen(options));
afterEach(async () => {
  await server.close();
  mock.reset();
});

interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** Sends exactly these headers; `fetch` permits neither a `Host` nor an `Origin`. */
async function send(path: string, { method = "GET", headers = {}, body }: Sent = {}) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = httpRequest(server.url + path, { method, headers, agent: false }, resolve);
    request.on("error", reject).end(body);
  });
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

/** Sends these bytes, and returns the whole response. */
async function sendBytes(head: string): Promise<string> {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  socket.end(`${head}\r\n\r\n`);
  return await text(socket);
}

/** What arrived, and whether a permit is left: of the one a day. */
async function expectUntouched(): Promise<void> {
  expect(mock.requests).toEqual([]);
  expect((await send("/api/v1/contact-groups", { headers: KEY })).status).toBe(200);
}

const port = () => new URL(server.url).port;

describe("Every answer needs a Host of loopback", () => {
  it.each([
    ["localhost", () => `localhost:${port()}`],
    ["localhost of another port, as of a container's", () => "localhost:8080"],
    ["upper case", () => `LOCALHOST:${port()}`],
    ["127.0.0.1", () => `127.0.0.1:${port()}`],
    ["[::1]", () => `[::1]:${port()}`],
  ])("%s is answered", async (_, host) => {
    await open();

    expect((await send("/__mock/requests", { headers: { host: host() } })).status).toBe(200);
    expect((await send("/v2/lists", { headers: { host: host() } })).status).toBe(401);
  });

  it.each([
    ["another name", "evil.example"],
    ["a name that begins with localhost", "localhost.evil.example"],
    ["a name that ends with it", "evil-localhost"],
    ["a user before it", "evil@localhost"],
    ["an address of another machine", "192.0.2.1"],
  ])("%s is refused with the way out", async (_, host) => {
    await open();
    const headers = { ...KEY, host };

    for (const path of ["/", "/api/v1/contact-groups", "/v2/lists", "/__mock/requests", "/favicon.ico"]) {
      const { status, body } = await send(path, { headers });

      expect(status).toBe(403);
      expect(JSON.parse(body)).toEqual({ message: expect.stringContaining(JSON.stringify(host)) });
      expect(body).toMatch(/localhost, 127\.0\.0\.1, \[::1\].*--allow-host NAME.*allowHosts/);
    }
    await expectUntouched();
  });

  it("a page whose name leads to loopback adds no fault, though its request is of one origin", async () => {
    await open();
    const host = `evil.example:${port()}`;
    const headers = { ...JSON_TYPE, host, origin: `http://${host}`, "sec-fetch-site": "same-origin" };
    const { status } = await send("/__mock/faults", { method: "POST", headers, body: FAULT });

    expect(status).toBe(403);
    await expectUntouched();
  });

  it("X-Forwarded-Host and Forwarded do not count", async () => {
    await open();
    const forwarded = { "x-forwarded-host": "localhost", forwarded: "host=localhost" };

    expect((await send("/", { headers: { ...forwarded, host: "evil.example" } })).status).toBe(403);
    expect((await send("/", { headers: { "x-forwarded-host": "evil.example" } })).status).toBe(200);
  });

  it.each([
    ["no Host", "GET / HTTP/1.0"],
    ["an empty Host", "GET / HTTP/1.1\r\nHost:"],
    ["two of them", "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example"],
    ["the address of another site as its target", "GET http://evil.example/ HTTP/1.1\r\nHost: localhost"],
    ["a target that is no path", "OPTIONS * HTTP/1.1\r\nHost: localhost"],
  ])("a request with %s is refused", async (_, head) => {
    await open();

    expect(await sendBytes(head)).toMatch(/^HTTP\/1\.1 403 /);
    await expectUntouched();
  });
});

describe("A name that is allowed is answered", () => {
  it.each(["mock.test", "MOCK.test:4010", "[fd00::1]:4010"])("%s", async (host) => {
    await open({ allowHosts: ["other.test", "Mock.Test:80", "[FD00:0::1]"] });

    expect((await send("/v2/lists", { headers: { host } })).status).toBe(401);
    expect((await send("/", { headers: { host: "evil.example" } })).status).toBe(403);
    expect((await send("/", { headers: { host: "a.mock.test" } })).status).toBe(403);
  });

  const noNames = "http://mock.test mock.test/path * .test mock.test:port mock.test:99999 fd00::1".split(" ");
  it.each([...noNames, "", "mock test", 1, null])("%j is no name", async (name) => {
    await open();

    // Safe: a caller from JavaScript has no compiler.
    await expect(mock.listen({ allowHosts: [name as string] })).rejects.toThrow(
      /^options\.allowHosts\[0\] must be a /,
    );
  });
});

describe("The mock listens on another address only if one is given", () => {
  it("by default on 127.0.0.1 alone", async () => {
    await open();

    expect(server.url).toBe(`http://127.0.0.1:${port()}`);
    const socket = connect(Number(port()), "127.0.0.2");
    await expect(once(socket, "connect")).rejects.toThrow("ECONNREFUSED");
  });

  it.each(["0.0.0.0", "::"])("on all addresses (%s) its URL is that of loopback", async (host) => {
    await open({ host });

    expect(server.url).toBe(`http://127.0.0.1:${port()}`);
    expect((await fetch(server.url)).status).toBe(200);
    for (const other of ["evil.example", "127.0.0.2", "0.0.0.0", "[::]"])
      expect((await send("/", { headers: { host: other } })).status).toBe(403);
  });

  it.each([
    ["127.0.0.2", "127.0.0.2"],
    ["::ffff:127.0.0.1", "[::ffff:127.0.0.1]"],
  ])("on %s the Host may be this address", async (host, name) => {
    await open({ host });

    expect(server.clientOptions.baseUrl).toMatch(`http://${name}:`);
    expect((await fetch(server.url)).status).toBe(200);
    expect((await send("/", { headers: { host: name } })).status).toBe(200);
    expect((await send("/", { headers: { host: "evil.example" } })).status).toBe(403);
  });

  it("an empty address is refused, as Node would listen on all of them", async () => {
    await open();

    await expect(mock.listen({ host: "" })).rejects.toThrow("options.host must have at least 1 characters");
  });
});

describe("The mock's own paths refuse what another site asks for", () => {
  const own = () => `http://127.0.0.1:${port()}`;
  it.each([
    ["no browser", () => ({})],
    ["the mock's own page", () => ({ "sec-fetch-site": "same-origin", origin: own() })],
    ["the address bar", () => ({ "sec-fetch-site": "none" })],
  ])("%s is answered", async (_, headers) => {
    await open();
    const post = { method: "POST", headers: { ...JSON_TYPE, ...headers() }, body: FAULT };

    expect((await send("/__mock/requests", { headers: headers() })).status).toBe(200);
    expect((await send("/v2/lists", { headers: headers() })).status).toBe(401);
    expect((await send("/__mock/faults", post)).status).toBe(201);
  });

  it("the page of an allowed name, of the default port, is the mock's own", async () => {
    await open({ allowHosts: ["mock.test"] });
    const headers = { host: "mock.test:80", origin: "http://mock.test", ...JSON_TYPE };

    expect((await send("/__mock/reset", { method: "POST", headers })).status).toBe(200);
  });

  const sites: [name: string, headersOf: () => Record<string, string>][] = [
    ["another site", () => ({ origin: "https://evil.example" })],
    ["a sandbox or a file", () => ({ origin: "null" })],
    ["another port of this machine", () => ({ origin: "http://127.0.0.1:3000" })],
    ["another name of this machine", () => ({ origin: `http://localhost:${port()}` })],
    ["another scheme", () => ({ origin: own().replace("http", "https") })],
    ["another site whose Origin is not sent", () => ({ "sec-fetch-site": "cross-site" })],
    ["another port, whose Origin is not sent", () => ({ "sec-fetch-site": "same-site" })],
    ["another site with the mock's Origin", () => ({ origin: own(), "sec-fetch-site": "cross-site" })],
    ["a mixture", () => ({ origin: `${own()}, https://evil.example` })],
  ];

  it.each(sites)("%s is refused, without a CORS header", async (_, headersOf) => {
    await open();
    const headers = { ...JSON_TYPE, ...headersOf() };
    const calls = {
      GET: "__mock/requests __mock/organizations/mock-organization x/../__mock/requests",
      POST: "__mock/faults __mock/reset",
      OPTIONS: "__mock/reset",
    };
    const paths = Object.entries(calls).flatMap(([method, all]) =>
      all.split(" ").map((path) => ({ method, path: `/${path}` })),
    );
    for (const { method, path } of paths) {
      const body = method === "POST" ? FAULT : "";
      const answer = await send(path, { method, headers, body });

      expect(answer.status).toBe(403);
      expect(JSON.parse(answer.body)).toEqual({ message: expect.stringMatching(/another site/) });
      expect(Object.keys(answer.headers).join()).not.toContain("access-control");
    }
    await expectUntouched();
  });

  it.each(sites)("%s gets what the service says, with a key as any client does", async (_, headersOf) => {
    await open();
    const headers = { ...KEY, ...headersOf() };
    const list = await send("/api/v1/contact-groups", { headers });

    expect(list.status).toBe(200);
    expect(Object.keys(list.headers).join()).not.toContain("access-control");
  });
});

it("A link on another site leads to the mock's page", async () => {
  await open();
  const headers = { accept: "text/html", "sec-fetch-site": "cross-site" };

  expect((await send("/", { headers })).status).toBe(200);
  await expectUntouched();
});

describe("The mock's own paths take only JSON", () => {
  const others = ["text/plain", "text/plain; application/json", "application/x-www-form-urlencoded"];
  it.each([...others, "multipart/form-data", ""])(
    "a body as %j, which any site may send, does nothing",
    async (type) => {
      await open();
      const headers = type === "" ? {} : { "content-type": type };
      for (const [path, sent] of [
        ["/__mock/faults", { body: FAULT }],
        ["/__mock/reset", {}],
      ] as const) {
        const answer = await send(path, { method: "POST", headers, ...sent });

        expect(answer.status).toBe(403);
        expect(JSON.parse(answer.body)).toEqual({
          message: expect.stringContaining("Content-Type: application/json"),
        });
      }
      await expectUntouched();
    },
  );

  it("a charset may follow, and the case does not count", async () => {
    await open();
    const headers = { "content-type": "Application/JSON; charset=utf-8" };

    expect((await send("/__mock/reset", { method: "POST", headers })).status).toBe(200);
  });
});

it.each(["/favicon.ico", "/apple-touch-icon.png", "/.well-known/appspecific/com.chrome.devtools.json"])(
  "%s, which a browser asks for by itself, is neither logged nor counted",
  async (path) => {
    await open();
    const { status, body } = await send(path, { headers: { "sec-fetch-site": "same-origin" } });

    expect([status, body]).toEqual([204, ""]);
    await expectUntouched();
  },
);
