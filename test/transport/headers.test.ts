import { inspect } from "node:util";
import { AudienceClient, type ClientOptions, ConfigurationError } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { serveRaw } from "../hostile/raw-server.ts";
import { failureOf, thrownBy } from "./failure.ts";
import { contact, mockedClient, profileResponse, v2Contact } from "./fixture.ts";

/** The options of a program without types. */
const untyped = (options: unknown) => options as ClientOptions;

describe("The option headers", () => {
  it("are sent with each page and by each view, also where they are an iterator, which can be read once", async () => {
    const once = () => new Map([["x-run", "1"]]).entries() as unknown as Headers;
    const { mock, audience } = mockedClient({}, { headers: once() });
    await audience.v1.customers.upsert(contact);
    await audience.v1.customers.upsert({ ...contact, email: "grace@example.com" });

    await audience.withOptions({ maxRetries: 0 }).v1.customers.list();
    await new AudienceClient(mock.clientOptions).v1.customers
      .list({ limit: 1 }, { headers: once(), readAhead: 0 })
      .toArray();

    expect(mock.requests.map(({ headers }) => headers["x-run"])).toEqual(["1", "1", "1", "1", "1"]);
  });

  it("adds headers of the client and of the call, the call's first, in any case and as Headers too", async () => {
    const { mock, audience } = mockedClient(
      {},
      { headers: { "X-Team": "crm", "X-Run": "1" }, userAgent: "nightly/2" },
    );

    await audience.v1.customers.upsert(contact, { headers: new Headers({ "x-run": "2" }) });
    await audience.v1.customers.upsert(contact);

    const [first, second] = mock.requests.map(({ headers }) => headers);
    expect(first).toMatchObject({
      "x-team": "crm",
      "x-run": "2",
      "user-agent": expect.stringMatching(/^nightly\/2 audience-sdk\//),
    });
    expect(second).toMatchObject({ "x-run": "1" });
  });

  it.each(["X-API-Key", "x-api-key", "Service-Api-Key", "SERVICE-API-KEY", "x_api_key", "Service_Api.Key"])(
    "is refused where it authenticates, of a client, a view and a call of either family: %s",
    async (name) => {
      // The mock's own key holds "api-key", which no message shows.
      const { mock, audience } = mockedClient({
        organizations: [{ id: "o", apiKeys: ["own-secret"], appId: "own" }],
      });
      const headers = { [name]: "another-key" };

      const errors = [
        thrownBy(() => new AudienceClient({ ...mock.clientOptions, headers })),
        thrownBy(() => audience.withOptions({ headers: new Headers(headers) })),
        await failureOf(audience.v1.customers.upsert(contact, { headers })),
        await failureOf(audience.v2.contacts.upsert(v2Contact, { headers: new Headers(headers) })),
      ];

      for (const error of errors) {
        expect(error).toBeInstanceOf(ConfigurationError);
        expect(error).toMatchObject({ outcome: "not-sent" });
        expect((error as Error).message.toLowerCase()).toContain(
          `headers: "${name.toLowerCase()}" authenticates`,
        );
        expect((error as Error).message).toContain("withOptions({ apiKey })");
        expect(inspect(error)).not.toContain("another-key");
      }
      expect(mock.requests).toEqual([]);
    },
  );

  it.each(["Service-App-Id", "service-app-id", "service_app_id"])(
    "is refused where it is the app id of a v2 call, and sent with a v1 call: %s",
    async (name) => {
      const { mock, audience } = mockedClient();
      const headers = { [name]: "another-app" };
      const ofClient = new AudienceClient({ ...mock.clientOptions, headers });

      await audience.v1.customers.upsert(contact, { headers });
      await ofClient.v1.customers.upsert(contact);
      const errors = [
        await failureOf(audience.v2.contacts.upsert(v2Contact, { headers })),
        await failureOf(ofClient.v2.contacts.upsert(v2Contact)),
        await failureOf(ofClient.v2.lists.list()),
      ];

      for (const error of errors) {
        expect(error).toBeInstanceOf(ConfigurationError);
        expect(error.message).toContain("withOptions({ appId })");
        expect(inspect(error)).not.toContain("another-app");
      }
      expect(
        mock.requests.map((request) => [request.operation, request.headers[name.toLowerCase()]]),
      ).toEqual([
        ["v1.customers.upsert", "another-app"],
        ["v1.customers.upsert", "another-app"],
      ]);
    },
  );

  it("cannot override the content type", async () => {
    const headers = { "Content-Type": "text/plain" };
    const { mock, audience } = mockedClient({}, { headers });

    await audience.v1.customers.upsert(contact, { headers });

    expect(mock.requests[0]?.headers).toMatchObject({ "content-type": "application/json" });
  });

  const beyond = "holds a character that no HTTP header can carry, such as a line break";
  const framing = "is set or dropped by the runtime";
  const injections: [headers: Record<string, unknown>, problem: string][] = [
    [{ "x-a": "b\r\nX-API-Key: other" }, `"x-a" ${beyond}`],
    [{ "x-a": "b\nc" }, `"x-a" ${beyond}`],
    [{ "x-a": "b\0c" }, `"x-a" ${beyond}`],
    [{ "x-a": "\u2028" }, `"x-a" ${beyond}`],
    [{ "x-a": "b\r" }, `"x-a" ${beyond}`],
    [{ "x-a\r\nx-b": "c" }, '"x-a…" is not a header name'],
    [{ "x a": "c" }, '"x…" is not a header name'],
    [{ "x-a: b": "c" }, '"x-a…" is not a header name'],
    [{ "x-t\u00e9am": "c" }, '"x-t…" is not a header name'],
    [{ "": "c" }, '"" is not a header name'],
    [{ "x-a": 5 }, '"x-a" must be a string, not a number'],
    [{ "x-a": null }, '"x-a" must be a string, not null'],
    [{ host: "elsewhere.example" }, `"host" ${framing}`],
    [{ "Content-Length": "0" }, `"Content-Length" ${framing}`],
    [{ "transfer-encoding": "chunked" }, `"transfer-encoding" ${framing}`],
    [{ Connection: "close" }, `"Connection" ${framing}`],
    // One of the two would be lost.
    [{ "X-Team": "crm", "x-team": "sales" }, '"x-team" is given twice'],
  ];

  it.each(injections)(
    "cannot inject a header or change the framing of the message: %j",
    async (headers, problem) => {
      const { mock, audience } = mockedClient();

      const atConstruction = thrownBy(() => new AudienceClient(untyped({ ...mock.clientOptions, headers })));
      const inACall = await failureOf(audience.v1.customers.upsert(contact, { headers } as never));

      for (const error of [atConstruction, inACall]) {
        expect(error).toBeInstanceOf(ConfigurationError);
        expect((error as Error).message).toBe(`headers: ${problem}.`);
      }
      expect(mock.requests).toEqual([]);
    },
  );
});

it("A valid header arrives byte for byte, and no other header is added", async () => {
  const body = JSON.stringify(profileResponse);
  const { url, requests } = await serveRaw(
    (socket) => void socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`),
  );
  const headers = { "X-Latin": "caf\u00e9 \u00ff", "X-Odd!#$%&'*+.^_`|~": 'a\tb "c": d,; %0d%0a' };
  const apiKey = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ %0d%0aX-Evil: 1";

  await new AudienceClient({ baseUrl: url, rateLimiter: false, apiKey, headers }).v1.customers.get("c-1");

  const lines = requests[0]?.split("\r\n") ?? [];
  expect(lines).toContain("x-latin: caf\u00e9 \u00ff");
  expect(lines).toContain(`x-odd!#$%&'*+.^_\`|~: a\tb "c": d,; %0d%0a`);
  expect(lines).toContain(`x-api-key: ${apiKey}`);
  expect(lines.filter((line) => line.startsWith("x-"))).toHaveLength(3);
});
