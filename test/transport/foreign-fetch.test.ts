import { Readable } from "node:stream";
import {
  AudienceClient,
  ConfigurationError,
  ConnectionError,
  RateLimiter,
  ServerError,
  type Fetch,
} from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { fetch as undiciFetch } from "undici";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { failureOf } from "./failure.ts";

const contact = { email: "ada@example.com", email_opt_in: "SUBSCRIBED" } as const;
const profile = { data: { type: "profile", id: "c-1", attributes: { email: contact.email } } };

/** A response of another fetch implementation: it has all properties of a Response, but another class. */
function foreign(response: Response): Response {
  const { status, ok, headers, url, body } = response;
  // The client uses only these properties, and never the class.
  return { status, ok, headers, url, body } as Response;
}

describe("The option `fetch`", () => {
  it.each([
    ["of this realm", (response: Response) => response],
    ["of another implementation", foreign],
  ])("gives a Response %s, is asked once, and given (url, init) with key and body", async (_whose, of) => {
    const sent: Parameters<Fetch>[] = [];
    const audience = new AudienceClient({
      baseUrl: "https://api.example.com",
      apiKey: "key-1234567890",
      rateLimiter: false,
      fetch: async (...request) => {
        sent.push(request);
        return of(Response.json(profile, { status: 201 }));
      },
    });

    const { data, response } = await audience.v1.customers.upsert(contact).withResponse();

    expect(data.id).toBe("c-1");
    expect(response.status).toBe(201);
    expect(sent).toEqual([
      [
        "https://api.example.com/api/v1/customer/create",
        expect.objectContaining({
          method: "POST",
          redirect: "manual",
          body: JSON.stringify(contact),
          headers: expect.objectContaining({ "x-api-key": "key-1234567890" }) as unknown,
        }),
      ],
    ]);
  });

  it("can be that of npm's undici, which calls the service as the global fetch does", async () => {
    const mock = createMockService();
    const server = await mock.listen();
    onTestFinished(server.close);
    const audience = new AudienceClient({ ...server.clientOptions, fetch: undiciFetch });

    const { id } = await audience.v1.customers.upsert(contact);

    expect((await audience.v1.customers.get(id)).attributes.email).toBe(contact.email);
    expect(mock.requests.map(({ status }) => status)).toEqual([201, 200]);
  });
});

const options = { baseUrl: "https://api.example.com", apiKey: "key-1234567890", rateLimiter: false } as const;
const event = { eventName: "order placed", contact: { email: contact.email } };

/** The client whose requests this function gets. */
const doors: [name: string, clientOf: (fetch: () => Promise<Response>) => AudienceClient][] = [
  ["The fetch option", (fetch) => new AudienceClient({ ...options, fetch })],
  [
    "The global fetch",
    (fetch) => {
      vi.stubGlobal("fetch", fetch);
      return new AudienceClient(options);
    },
  ],
];

async function readBefore(): Promise<Response> {
  const response = Response.json(profile);
  await response.text();
  return response;
}

async function lockedBefore(): Promise<Response> {
  const response = Response.json(profile);
  response.body?.getReader();
  return response;
}

async function streamedBefore(): Promise<Response> {
  const response = Response.json(profile);
  const reader = response.body?.getReader();
  await reader?.read();
  reader?.releaseLock();
  return response;
}

describe.each(doors)("%s, as a test replaces it, is asked once", (name, clientOf) => {
  it.each([
    ["nothing", undefined],
    ["an object that is no Response", { ok: true, json: async () => ({}) }],
    ["a body that is no web stream", { status: 200, headers: new Headers(), body: "{}" }],
    ["a body that is a stream of Node", { status: 200, headers: new Headers(), body: Readable.from(["{}"]) }],
    ["a status that is no number", { status: "200", headers: new Headers(), body: null }],
    ["an object without headers", { status: 200 }],
  ])("if it returns %s, which is a fault of the program", async (_, given) => {
    // Safe: a test in JavaScript can return any value.
    const fetch = vi.fn(async () => given as Response);
    const { v1 } = clientOf(fetch);

    const failures = [await failureOf(v1.events.send(event)), await failureOf(v1.customers.get("c-1"))];

    const message = `${name} must return a Response whose body is a web stream.`;
    expect(failures).toMatchObject([
      { name: "ConfigurationError", message, outcome: "unknown", request: { attempts: 1 } },
      { name: "ConfigurationError", message, outcome: "not-applied", request: { attempts: 1 } },
    ]);
    expect(fetch).toHaveBeenCalledTimes(2);
  });

  it.each([
    ["read", readBefore],
    ["read as a stream", streamedBefore],
    ["locked", lockedBefore],
  ])("if the body of its Response was %s before, and the error says so", async (_, given) => {
    const fetch = vi.fn(given);

    const error = await failureOf(clientOf(fetch).v1.events.send(event));

    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toBe(
      `${name} returned a Response whose body was read before. Let each call return a new one, or a clone().`,
    );
    expect(error.outcome).toBe("unknown");
    expect(fetch).toHaveBeenCalledTimes(1);
  });

  it("Response.error() is a connection that failed", async () => {
    const { v1 } = clientOf(async () => Response.error());

    const error = await failureOf(v1.events.send(event, { maxRetries: 0 }));

    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({
      outcome: "unknown",
      cause: { message: `${name} returned Response.error().` },
    });
  });
});

it("A fetch that throws an error of this package, for example through another client, is a failed connection that releases its permit", async () => {
  const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 20 }] });
  const broken = async () => new Response("", { status: 500 });
  const inner = new AudienceClient({ ...options, fetch: broken, maxRetries: 0 });
  const fetch = async () => {
    await inner.v1.customers.get("c-1");
    return new Response();
  };
  const audience = new AudienceClient({ ...options, fetch, rateLimiter, maxRetries: 0 });

  const failure = await failureOf(audience.v1.customers.get("c-1"));

  expect(failure).toBeInstanceOf(ConnectionError);
  expect(failure).not.toBeInstanceOf(ServerError);
  expect(rateLimiter.usage().inFlight).toBe(0);
});
