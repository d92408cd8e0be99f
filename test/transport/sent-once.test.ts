import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { mswHandlers } from "audience-sdk/mock/msw";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { callKinds } from "./calls.ts";
import { failureOf } from "./failure.ts";
import { json, profileResponse, serve } from "./served.ts";

const contact = { email: "ada@example.com", first_name: "Adá", email_opt_in: "SUBSCRIBED" } as const;
/** A process with other versions. */
const processOf = (versions: object | undefined) =>
  Object.create(process, { versions: { value: versions } }) as object;
const bytes = String(Buffer.byteLength(JSON.stringify(contact)));

afterEach(() => void vi.unstubAllGlobals());

describe("A write leaves once for each attempt, as no runtime repeats a stream", () => {
  const writes = callKinds.filter(({ kind }) => kind !== "read");

  it.each(writes)(
    "after a 421, which Node's fetch would answer with the same string again: $name",
    async ({ call }) => {
      const { options, received } = await serve((outgoing) => json(outgoing, 421, {}));

      const error = await failureOf(call(new AudienceClient(options)));

      expect(error).toMatchObject({ status: 421, outcome: "not-applied", request: { attempts: 1 } });
      expect(received).toHaveLength(1);
    },
  );

  it.each([
    ["Node", {}],
    ["Deno", { Deno: {}, process: processOf({ deno: "2.9.6" }) }],
  ])("on %s, with its length and its very bytes", async (_, globals) => {
    const { options, received } = await serve((outgoing) => json(outgoing, 201, profileResponse));
    const { v1 } = new AudienceClient(options);
    for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);

    await v1.customers.upsert(contact);
    await v1.customers.get("c-1");

    expect(received.map(({ headers, body }) => [headers["content-length"], body])).toEqual([
      [bytes, JSON.stringify(contact)],
      [undefined, ""],
    ]);
    expect(received[0]?.headers).not.toHaveProperty("transfer-encoding");
  });
});

describe("The body stays a string, whose length the runtime sends,", () => {
  const { Request: Native } = globalThis;

  /** As the polyfills of some test tools do. */
  class WithoutStreams extends Native {
    constructor(input: string | URL | Request, { method, headers, body }: RequestInit = {}) {
      super(input, {
        ...(method !== undefined && { method }),
        ...(headers !== undefined && { headers }),
        ...(body !== undefined && { body: typeof body === "string" ? body : "[object ReadableStream]" }),
      });
    }
  }

  it.each([
    ["where no write is repeated, as on Bun and workerd", { process: processOf({ bun: "1.4.5" }) }],
    ["where there is no `process`, as in browsers", { process: undefined }],
    ["where it tells no versions", { process: processOf(undefined) }],
    ["where a polyfill takes no streams", { Request: WithoutStreams }],
  ])("%s", async (_, globals) => {
    const sent: unknown[] = [];
    vi.stubGlobal("fetch", async (request: Request) => {
      sent.push(request.headers.get("content-length"), await request.text());
      return Response.json(profileResponse, { status: 201 });
    });
    const { v1 } = new AudienceClient({ baseUrl: "https://api.test", apiKey: "k", rateLimiter: false });
    for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);

    await v1.customers.upsert(contact);

    expect(sent).toEqual([null, JSON.stringify(contact)]);
  });
});

describe("Tests that replace the global fetch", () => {
  it("read the body of the Request that it is given", async () => {
    const bodies: unknown[] = [];
    vi.stubGlobal("fetch", async (request: Request) => {
      bodies.push(await request.clone().text(), await request.json());
      return Response.json(profileResponse, { status: 201 });
    });

    const audience = new AudienceClient({ baseUrl: "https://api.test", apiKey: "k", rateLimiter: false });
    await audience.v1.customers.upsert(contact);

    expect(bodies).toEqual([JSON.stringify(contact), contact]);
  });

  it("with msw read it too, in handlers of their own and of the mock", async () => {
    const bodies: unknown[] = [];
    const mock = createMockService();
    const server = setupServer(
      http.post("https://own.test/api/v1/customer/create", async ({ request }) => {
        bodies.push(await request.json());
        return HttpResponse.json(profileResponse, { status: 201 });
      }),
      ...mswHandlers(mock, { baseUrl: "https://mock.test" }),
    );
    server.listen({ onUnhandledRequest: "error" });
    onTestFinished(() => server.close());
    const clientOf = (baseUrl: string) =>
      new AudienceClient({ baseUrl, apiKey: mock.clientOptions.apiKey, rateLimiter: false });

    await clientOf("https://own.test").v1.customers.upsert(contact);
    await clientOf("https://mock.test").v1.customers.upsert(contact);

    expect(bodies).toEqual([contact]);
    expect(mock.requests.map(({ body }) => body)).toEqual([contact]);
  });
});
