import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { AudienceClient } from "audience-sdk";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { failureOf, thrownBy } from "../transport/failure.ts";
import { profileResponse } from "../transport/fixture.ts";
import { serveRaw } from "./raw-server.ts";

const key = "test-key-0123456789";
const options = { apiKey: key, appId: "app", rateLimiter: false, maxRetries: 0 } as const;

/** Counts connections and closes each. */
let server: Server;
let connections = 0;
let port = 0;
beforeAll(async () => {
  server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // Safe: the server listens on a port.
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => void server.close());

/** The call sends nothing: it rejects with an SDK error that names the problem and shows no key. */
async function expectNotSent(act: (url: string) => unknown, named: RegExp): Promise<void> {
  const before = connections;
  const error = await failureOf((async () => await act(`http://127.0.0.1:${port}`))());

  expect(error).toMatchObject({
    code: expect.stringMatching(/^(configuration|validation)$/),
    outcome: "not-sent",
  });
  expect(error.message).toMatch(named);
  expect(JSON.stringify(error)).not.toContain(key);
  expect(JSON.stringify(error)).not.toContain("evil-value");
  // This connection comes after any other, so an earlier one would have arrived by now.
  const probe = await fetch(`http://127.0.0.1:${port}`).catch((reason: unknown) => reason);
  expect(probe).toBeInstanceOf(TypeError);
  expect(connections - before).toBe(1);
}

/** Characters that end a header's line or are not allowed in it. */
const lineEnds: [string, string][] = [
  ["a line break and a header", "evil-value\r\nX-Evil: 1"],
  ["a carriage return", "evil-value\r"],
  ["a line feed", "evil-value\nX-Evil: 1"],
  ["a NUL", "evil-value\0"],
  ["DEL", "evil-value\u007f"],
  ["half a character", "evil-value\ud800"],
  ["a letter beyond Latin-1 whose low byte is a line feed", "evil-value\u010a"],
];
// A header may contain Latin-1, but a key may not, because servers decode it differently.
const noKeys: [string, string][] = [...lineEnds, ["obs-text", "evil-value\u00e9\u00ff"]];

describe("A key or an app id is refused before sending:", () => {
  it.each(noKeys)("%s", async (_, text) => {
    for (const name of ["apiKey", "apiKeyV2", "appId"] as const) {
      const make = (baseUrl: string) =>
        new AudienceClient({ ...options, baseUrl, baseUrlV2: baseUrl, [name]: text }).v2.lists.list();
      await expectNotSent(make, new RegExp(`^${name} `));
    }
    const given = (baseUrl: string) =>
      new AudienceClient({ ...options, baseUrl, apiKey: async () => text }).v1.customers.get("c-1");
    await expectNotSent(given, /^apiKey /);
  });
});

describe("A header of a client or a call is refused before sending:", () => {
  const tried = async (headers: Record<string, string>) => {
    const ofClient = (baseUrl: string) =>
      new AudienceClient({ ...options, baseUrl, headers }).v1.customers.get("c-1");
    const ofCall = (baseUrl: string) =>
      new AudienceClient({ ...options, baseUrl }).v1.customers.get("c-1", { headers });
    await expectNotSent(ofClient, /^headers: "/);
    await expectNotSent(ofCall, /^headers: "/);
  };

  it.each(lineEnds)("a value with %s", async (_, text) => tried({ "X-Team": text }));

  it.each([
    ["empty", ""],
    ["with a colon", "X-Team: x"],
    ["with a line break", "X-Team\r\nX-Evil"],
    ["with a NUL", "X-Team\0"],
    ["with a space", "X Team"],
    ["of Latin-1", "X-T\u00e9am"],
    ["that frames the message", "Transfer-Encoding"],
    ["that names another host", "Host"],
    ["that reads as a prototype", "__proto__"],
  ])("a name %s", async (_, name) =>
    tried(JSON.parse(`{${JSON.stringify(name)}:"x"}`) as Record<string, string>),
  );
});

describe("An id is refused before sending:", () => {
  it.each([".", "..", "", " ", "\t\n", "\ud800", "a\udc00b"])("%j", async (id) => {
    const client = (baseUrl: string) => new AudienceClient({ ...options, baseUrl }).v1;
    await expectNotSent((url) => client(url).customers.get(id), /id/);
    await expectNotSent((url) => client(url).contactGroups.get(id), /id/);
    await expectNotSent(
      (url) => client(url).contactGroups.addContact(id, { email: "a@b", email_opt_in: "SUBSCRIBED" }),
      /[iI]d/,
    );
  });
});

describe("A base URL that parses to another address than it shows is refused before sending", () => {
  it.each<[string, (origin: string) => string]>([
    ["user info before another host", (origin) => origin.replace("127", "api.example.com@127")],
    ["a key as user info", (origin) => origin.replace("127", "user:evil-value@127")],
    ["a backslash for a slash", (origin) => origin.replaceAll("/", "\\")],
    ["a backslash before an @", (origin) => origin.replace("//", "//api.example.com\\@")],
    ["an ideographic full stop", (origin) => origin.replaceAll(".", "\u3002")],
    ["a full-width full stop", (origin) => origin.replaceAll(".", "\uff0e")],
    ["full-width digits", (origin) => origin.replace("127", "\uff11\uff12\uff17")],
    ["a fraction slash", (origin) => `${origin}\u2044x`],
    ["a tab in the host", (origin) => origin.replace("127", "1\t27")],
    ["a line feed in the host", (origin) => origin.replace("127", "1\n27")],
    ["a line break at the end", (origin) => `${origin}\r\nX-Evil: 1`],
    ["a NUL", (origin) => `${origin}/\0`],
    ["a short form of the same number", () => `http://127.1:${port}`],
    ["the same number, in hexadecimal", () => `http://0x7f000001:${port}`],
    ["the same number, percent-encoded", () => `http://127.0.0.%31:${port}`],
    ["dots in its path", (origin) => `${origin}/a/%2e%2e/b`],
    ["another scheme", (origin) => origin.replace("http", "ws")],
    ["no slashes", (origin) => origin.replace("//", "")],
    ["one slash", (origin) => origin.replace("//", "/")],
    ["a scheme of data", () => "data:application/json,{}"],
  ])("%s", async (_, change) => {
    for (const name of ["baseUrl", "baseUrlV2"] as const) {
      const make = (origin: string) =>
        new AudienceClient({ ...options, [name]: change(origin), allowInsecureHttp: true });
      await expectNotSent(make, new RegExp(`^${name} `));
    }
  });

  it("is refused in the environment too", async () => {
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv("AUDIENCE_BASE_URL", `http://api.example.com@127.0.0.1:${port}`);
    expect(String(thrownBy(() => new AudienceClient(options)))).toContain("must not hold a backslash, an @");
  });
});

it("A valid header arrives byte for byte, and no other header is added", async () => {
  const body = JSON.stringify(profileResponse);
  const { url, requests } = await serveRaw(
    (socket) => void socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`),
  );
  const headers = { "X-Latin": "caf\u00e9 \u00ff", "X-Odd!#$%&'*+.^_`|~": 'a\tb "c": d,; %0d%0a' };
  const apiKey = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ %0d%0aX-Evil: 1";

  await new AudienceClient({ ...options, baseUrl: url, apiKey, headers }).v1.customers.get("c-1");

  const lines = requests[0]?.split("\r\n") ?? [];
  expect(lines).toContain("x-latin: caf\u00e9 \u00ff");
  expect(lines).toContain(`x-odd!#$%&'*+.^_\`|~: a\tb "c": d,; %0d%0a`);
  expect(lines).toContain(`x-api-key: ${apiKey}`);
  expect(lines.filter((line) => line.startsWith("x-"))).toHaveLength(3);
});
