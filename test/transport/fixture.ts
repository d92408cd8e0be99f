import type { TracingChannel } from "node:diagnostics_channel";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { connect, createServer as createTcpServer } from "node:net";
import { AudienceClient, type ClientOptions, type Fetch } from "audience-sdk";
import { createMockService, type MockService, type MockServiceOptions } from "audience-sdk/mock";
import { afterEach, beforeEach, expect, onTestFinished, vi } from "vitest";

/** A contact whose write may be carried out twice. */
export const contact = { email: "ada@example.com", email_opt_in: "SUBSCRIBED" } as const;

/** What hooks and channels tell of the write of a contact. */
export const facts = {
  requestId: expect.any(String),
  operation: "v1.customers.upsert",
  method: "POST",
  path: "/api/v1/customer/create",
};

/** A mock, and a client of it. */
export function mockedClient(options: MockServiceOptions = {}, clientOptions: ClientOptions = {}) {
  const mock = createMockService(options);
  const audience = new AudienceClient({ ...mock.clientOptions, ...clientOptions });
  return { mock, audience, v1: audience.v1, v2: audience.v2 };
}

/** The tests of this file or block have a fake clock. */
export function useFakeTime(): void {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
}

/** How it ends, once so much time of the fake clock has passed. */
export async function within<T>(durationMs: number, work: PromiseLike<T>): Promise<T> {
  const ended = Promise.allSettled([work]);
  await vi.advanceTimersByTimeAsync(durationMs);
  await ended;
  return await work;
}

/** Waits for its end, however it ends, for 100 seconds of the fake clock. */
export async function settle(call: PromiseLike<unknown>): Promise<void> {
  await within(100_000, Promise.allSettled([call]));
}

export type Published = [event: string, message: Record<string, unknown>];

/** The messages of a channel until the end of the test, each as a copy. */
export function recorded(channel: TracingChannel, name = "", log: unknown[] = []): Published[] {
  const note = (event: string) => (message: object) => void log.push([name + event, { ...message }]);
  const events = ["start", "end", "error", "asyncStart", "asyncEnd"];
  const subscribers = Object.fromEntries(events.map((event) => [event, note(event)]));
  // Safe: all five are there.
  channel.subscribe(subscribers as never);
  onTestFinished(() => channel.unsubscribe(subscribers as never));
  // Safe: a log of the test's own is read as what it holds.
  return log as Published[];
}

/** A request as it arrived over a socket. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface Served {
  readonly url: string;
  readonly received: Received[];
  /** The options of a client of this server, without a rate limit. */
  readonly options: { baseUrl: string; baseUrlV2: string; apiKey: string; appId: string; rateLimiter: false };
}

export type Respond = (outgoing: ServerResponse, received: Received, count: number) => void;

const servedKey = "test-key-0123456789";

/** A real HTTP server on loopback, with the responses of the test. It and its connections are closed when the test ends. */
export async function serve(respond: Respond): Promise<Served> {
  const received: Received[] = [];
  const server = createServer((incoming, outgoing) => {
    const pieces: Buffer[] = [];
    incoming.on("data", (piece: Buffer) => pieces.push(piece));
    incoming.on("end", () => {
      const { method = "", url = "", headers } = incoming;
      const request = { method, path: url, headers, body: Buffer.concat(pieces).toString() };
      respond(outgoing, request, received.push(request));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${portOf(server.address())}`;
  const options = {
    baseUrl: url,
    baseUrlV2: url,
    apiKey: servedKey,
    appId: "app",
    rateLimiter: false,
  } as const;
  return { url, received, options };
}

/**
 * An address that refuses every connection while this process runs. Its port is the local end of a connection
 * that stays open, so that no other test can listen there.
 */
export async function refusedUrl(): Promise<string> {
  const far = createTcpServer().listen(0, "127.0.0.1").unref();
  await once(far, "listening");
  const near = connect(portOf(far.address()), "127.0.0.1").unref();
  await once(near, "connect");
  return `http://127.0.0.1:${near.localPort}`;
}

export function json(
  outgoing: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  outgoing.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

/** The response to `GET /api/v1/customer/{id}` and `POST /api/v1/customer/create`. */
export const profileResponse = {
  data: { type: "profile", id: "c-1", attributes: { email: "ada@example.com" } },
  links: {},
};

function portOf(address: ReturnType<ReturnType<typeof createServer>["address"]>): number {
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return address.port;
}

const offlineProfile = { type: "profile", id: "contact-1", attributes: { email: "ada@example.com" } };
const offlineResponses: readonly (readonly [RegExp, unknown])[] = [
  [/\/customer\?/, { data: [offlineProfile], meta: { total: 1 } }],
  [/\/customer\//, { data: offlineProfile, links: { self: "x" } }],
  [/\/contact-groups\?/, { data: [{ id: "list-1", name: "Newsletter" }], meta: { total: 1 } }],
  [
    /\/contacts$/,
    { message: "m", contact: { email: "a@b", contactUUID: "c", action: "created" }, status: true },
  ],
  [/\/contact-groups\//, { data: { id: "list-1" } }],
  [/\/events$/, {}],
  [
    /\/v2\/lists/,
    { success: true, data: { lists: [{ uuid: "u", name: "n" }], current_page: 1, total_pages: 1 } },
  ],
];

/** Responds to each of the nine calls as the service would, at once. */
export const offlineFetch: Fetch = async (url) => {
  const found = offlineResponses.find(([address]) => address.test(url));
  return Response.json(found?.[1] ?? { message: "no such endpoint" }, { status: found ? 200 : 404 });
};

/** The options of a client without network access. */
export const offline = {
  baseUrl: "https://api.example.com",
  baseUrlV2: "https://v2.example.com",
  apiKey: "test-key-0123456789",
  appId: "app",
  rateLimiter: false,
  maxRetries: 0,
  fetch: offlineFetch,
} as const;

type Options = Parameters<AudienceClient["v1"]["customers"]["get"]>[1];

/** A call of one of the four kinds of the retry table. */
export interface CallKind {
  readonly name: string;
  readonly kind: "read" | "event" | "repeatable write" | "unrepeatable write";
  readonly call: (
    audience: AudienceClient,
    options?: Options,
  ) => ReturnType<AudienceClient["v1"]["customers"]["get"]> | AnyCall;
}

type AnyCall = Promise<unknown> & {
  withResponse(): Promise<{ data: unknown; attempts: number; queuedMs: number }>;
};

const consent = { createdAt: "2026-01-31T09:30:00Z", ip: "192.0.2.1", source: "form" };
const channels = { email: { status: "subscribed" } };
const identifier = { type: "email", id: "new@example.com", channels, consent } as const;

/** A contact that v2 accepts. */
export const v2Contact = { firstName: "Ada", listIds: ["list-1"], identifiers: [identifier] };

/** Calls that may, and calls that must not, be carried out twice. */
export const callKinds: readonly CallKind[] = [
  { name: "customers.get", kind: "read", call: ({ v1 }, o) => v1.customers.get("contact-1", o) },
  {
    name: "events.send",
    kind: "event",
    call: ({ v1 }, o) =>
      v1.events.send({ eventName: "order placed", contact: { email: "new@example.com" } }, o),
  },
  {
    name: "customers.upsert with its opt-in",
    kind: "repeatable write",
    call: ({ v1 }, o) => v1.customers.upsert({ email: "new@example.com", email_opt_in: "SUBSCRIBED" }, o),
  },
  {
    name: "customers.upsert of a phone alone with its opt-in",
    kind: "repeatable write",
    call: ({ v1 }, o) => v1.customers.upsert({ phone: "+15550100", phone_opt_in: "SUBSCRIBED" }, o),
  },
  {
    name: "addContact with its opt-in",
    kind: "repeatable write",
    call: ({ v1 }, o) =>
      v1.contactGroups.addContact("list-1", { email: "new@example.com", email_opt_in: "NON_SUBSCRIBED" }, o),
  },
  {
    name: "v2 upsert with its status",
    kind: "repeatable write",
    call: ({ v2 }, o) => v2.contacts.upsert(v2Contact, o),
  },
  {
    name: "customers.upsert without email_opt_in",
    kind: "unrepeatable write",
    call: ({ v1 }, o) => v1.customers.upsert({ email: "new@example.com" }, o),
  },
  {
    name: "customers.upsert of a phone without phone_opt_in",
    kind: "unrepeatable write",
    call: ({ v1 }, o) =>
      v1.customers.upsert({ email: "new@example.com", email_opt_in: "SUBSCRIBED", phone: "+15550100" }, o),
  },
  {
    name: "addContact that leaves consent to the service",
    kind: "unrepeatable write",
    call: ({ v1 }, o) =>
      v1.contactGroups.addContact(
        "list-1",
        { email: "new@example.com" },
        { ...o, consent: "service-decides" },
      ),
  },
  {
    name: "customers.upsert with double_opt_in",
    kind: "unrepeatable write",
    call: ({ v1 }, o) =>
      v1.customers.upsert({ email: "new@example.com", email_opt_in: "SUBSCRIBED", double_opt_in: true }, o),
  },
  {
    name: "v2 upsert of an identifier without its own channel's status",
    kind: "unrepeatable write",
    call: ({ v2 }, o) =>
      v2.contacts.upsert(
        {
          firstName: "Ada",
          listIds: [],
          identifiers: [identifier, { type: "phone", id: "+15550100", channels, consent }],
        },
        o,
      ),
  },
  {
    name: "v2 upsert with triggerWelcomeEmail",
    kind: "unrepeatable write",
    call: ({ v2 }, o) =>
      v2.contacts.upsert(
        { firstName: "Ada", listIds: [], identifiers: [identifier], triggerWelcomeEmail: true },
        o,
      ),
  },
];

/** The only contact at the start. */
const seed = {
  id: "org",
  apiKeys: ["matrix-key-0123456789"],
  appId: "app",
  welcomeFlow: true,
  lists: [{ id: "list-1", name: "Newsletter" }],
  contacts: [{ id: "contact-1", email: "ada@example.com", email_opt_in: "SUBSCRIBED" }],
  automations: [
    { name: "Thanks", on: { event: "order placed" } },
    { name: "Hello", on: { listId: "list-1" } },
  ],
};

/** A mock with a stopped clock, so that its states can be compared. */
export function comparableMock(options: MockServiceOptions = {}): MockService {
  return createMockService({ organizations: [seed], clock: () => Date.UTC(2026, 10, 21), ...options });
}

/** A body that arrives in pieces, and then ends or breaks off. */
export function inPieces(pieces: readonly (string | Uint8Array)[], then: "ends" | "breaks off" = "ends") {
  const left = pieces.map((piece) => Buffer.from(piece)).values();
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const { value } = left.next();
      if (value) controller.enqueue(value);
      else if (then === "ends") controller.close();
      else controller.error(new Error("cut"));
    },
  });
}
