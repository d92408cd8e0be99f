import { AudienceClient, type AudienceError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { describe, expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";
import { serveRaw } from "./raw-server.ts";

/** A client of a server that responds 200 with these bytes. */
async function clientFor(body: string | Buffer, headers = ""): Promise<AudienceClient> {
  const bytes = Buffer.from(body);
  const head = `HTTP/1.1 200 OK\r\n${headers}Content-Length: ${bytes.length}\r\n\r\n`;
  const { url } = await serveRaw((socket) => void socket.write(Buffer.concat([Buffer.from(head), bytes])));
  const apiKey = "test-key-0123456789";
  return new AudienceClient({ baseUrl: url, apiKey, rateLimiter: false });
}

const validBody = '{"data":{"id":"c-1","attributes":{"first_name":"Ada"}}}';

describe("A response is parsed", () => {
  it.each([
    ["behind a byte order mark", `\ufeff${validBody}`, ""],
    ["under the type of HTML", validBody, "Content-Type: text/html\r\n"],
    ["under a wrong charset", validBody, "Content-Type: application/json; charset=utf-16\r\n"],
    ["under an unknown encoding", validBody, "Content-Encoding: none-such\r\n"],
    ["under a thousand types", validBody, `Content-Type: ${"a/b, ".repeat(1_000)}c/d\r\n`],
    ["with a repeated key, whose last value counts", validBody.replace('"id"', '"id":"c-0","id"'), ""],
  ])("%s", async (_, body, headers) => {
    const { v1 } = await clientFor(body, headers);

    expect(await v1.customers.get("c-1")).toMatchObject({ id: "c-1", attributes: { first_name: "Ada" } });
  });

  it("with keys that are names of Object.prototype, which stay own keys", async () => {
    const body =
      '{"data":{"id":"c-1","__proto__":{"polluted":1},"attributes":{"__proto__":{"polluted":2},"constructor":3}}}';

    const profile = await (await clientFor(body)).v1.customers.get("c-1");

    expect(Reflect.get(profile, "polluted")).toBeUndefined();
    expect(Reflect.get({}, "polluted")).toBeUndefined();
    expect(JSON.stringify(profile.attributes)).toBe('{"__proto__":{"polluted":2},"constructor":3}');
  });
});

describe("A response is refused, and the outcome of its write is unknown,", () => {
  it.each([
    ["in UTF-16", Buffer.from(validBody, "utf16le"), "its body is not JSON"],
    ["with an id that is beyond numbers", '{"data":{"id":1e400}}', "data.id"],
    ["whose data is a prototype", '{"__proto__":{"data":{"id":"c-1"}}}', "data: required"],
    ["with bytes behind it", `${validBody}\0`, "its body is not JSON"],
  ])("%s", async (_, body, words) => {
    const { v1 } = await clientFor(body);

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
});

describe("A link in a list response", () => {
  it("is never followed: the client requests page numbers from its own origin", async () => {
    const elsewhere = await serveRaw((socket) => void socket.end());
    const { url, requests } = await serveRaw((socket, _, count) => {
      const links = { next: count < 3 ? `${elsewhere.url}/api/v1/customer?page=9` : null };
      const body = JSON.stringify({ data: [{ id: `c-${count}` }], links });
      socket.write(`HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    });
    const options = { baseUrl: url, apiKey: "test-key-0123456789", rateLimiter: false } as const;

    const items = await new AudienceClient(options).v1.customers.list().toArray({ max: 10 });

    expect(items.map(({ id }) => id)).toEqual(["c-1", "c-2", "c-3"]);
    expect(requests.map((request) => request.split("\r\n")[0])).toEqual([
      "GET /api/v1/customer?limit=100 HTTP/1.1",
      "GET /api/v1/customer?limit=100&page=2 HTTP/1.1",
      "GET /api/v1/customer?limit=100&page=3 HTTP/1.1",
    ]);
    for (const request of requests) expect(request).not.toMatch(/^cookie:/im);
    expect(elsewhere.requests).toEqual([]);
  });
});

it.each([
  ["..\\..\\admin", "..%5C..%5Cadmin"],
  ["..;/admin", "..%3B%2Fadmin"],
  ["a\0b", "a%00b"],
  ["a HTTP/1.1\r\nX-API-Key: other", "a%20HTTP%2F1.1%0D%0AX-API-Key%3A%20other"],
  ["\uff0e\uff0e\uff0fadmin", "%EF%BC%8E%EF%BC%8E%EF%BC%8Fadmin"],
  ["//evil.example", "%2F%2Fevil.example"],
  ["x".repeat(10_000), "x".repeat(10_000)],
])("The id %j arrives as one segment of the path", async (id, segment) => {
  const body = '{"data":{"id":"c-1"}}';
  const { url, requests } = await serveRaw(
    (socket) => void socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`),
  );
  const options = { baseUrl: `${url}/prefix`, apiKey: "test-key-0123456789", rateLimiter: false } as const;

  await new AudienceClient(options).v1.customers.get(id);

  const [line, ...headers] = requests[0]?.split("\r\n") ?? [];
  expect(line).toBe(`GET /prefix/api/v1/customer/${segment} HTTP/1.1`);
  expect(headers.filter((header) => /^x-api-key:/i.test(header))).toEqual(["x-api-key: test-key-0123456789"]);
  expect(requests).toHaveLength(1);
});

it.each([
  ["\t\n", "is empty"],
  ["..", ".. is not an id"],
  ["a\udc00b", "holds half a character"],
  [null, "must be a string, not null"],
  [["a"], "must be a string, not an array"],
])("The id %j is refused together with all other issues, and nothing is sent", async (id, problem) => {
  const mock = createMockService();
  const { v1 } = new AudienceClient(mock.clientOptions);

  const error = await failureOf(v1.contactGroups.addContact(id as string, { email: "x" } as never));

  const message = `${problem}; pass the id as the service returned it`;
  const issues = [
    { path: ["listId"], code: "invalid_id", message },
    { path: ["email"] },
    { path: ["email_opt_in"] },
  ];
  expect(error).toMatchObject({ code: "validation", issues });
  expect(mock.requests).toEqual([]);
});
