import { AudienceClient, type ClientOptions } from "audience-sdk";
import {
  createMockService,
  type MockOrganizationState,
  type MockClientOptions,
  type MockContact,
  type MockService,
  type MockServiceOptions,
} from "audience-sdk/mock";
import { mswHandlers } from "audience-sdk/mock/msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { failUnhandled } from "../mock/entry-points.ts";
import { acme, globex } from "./organizations.ts";

/** The entry points of the mock: a function, a patched `fetch`, a socket. */
export const entryPoints = ["in process", "MSW", "real HTTP"] as const;

export type EntryPoint = (typeof entryPoints)[number];

export interface ServiceResponse {
  status: number;
  headers: Headers;
  /** The parsed JSON, or else the string. */
  body: unknown;
}

/** A client and its mock. */
export interface Service {
  readonly mock: MockService;
  readonly audience: AudienceClient;
  readonly options: MockClientOptions;
  /** The current state of Acme. */
  state(): MockOrganizationState;
  /** Acme's contact with this e-mail or phone, as stored. */
  contact(emailOrPhone: string): MockContact | undefined;
  /** Another client of the same mock, with other options. */
  clientWith(options: ClientOptions): AudienceClient;
  /** A plain request with valid credentials, for rules that the client never breaks. `""` omits a header. */
  send(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<ServiceResponse>;
}

export interface ServiceOptions extends MockServiceOptions {
  /** Default MSW: the client's default `fetch`, without a socket. */
  entryPoint?: EntryPoint;
  client?: ClientOptions;
}

/** The time on the mock's clock. */
export const now = "2026-01-31T00:00:00.000Z";

/**
 * A service for the tests of the enclosing `describe`: Acme and Globex, reset before each test.
 *
 * ```ts
 * const service = useService();
 * it("…", async () => {
 *   await service.audience.v1.customers.upsert({ email: "new@example.com" });
 *   expect(service.contact("new@example.com")).toBeDefined();
 * });
 * ```
 */
export function useService({
  entryPoint = "MSW",
  client = {},
  ...mockOptions
}: ServiceOptions = {}): Service {
  const mock = createMockService({
    organizations: [acme, globex],
    clock: () => Date.parse(now),
    ...mockOptions,
  });
  const clients: AudienceClient[] = [];
  let entry: Entry;
  let audience: AudienceClient | undefined;

  beforeAll(async () => {
    entry = await open(entryPoint, mock);
  });
  beforeEach(() => mock.reset());
  afterEach(async () => {
    audience = undefined;
    await Promise.all(clients.splice(0).map((each) => each.close()));
  });
  afterAll(() => entry.close());

  const clientWith = (options: ClientOptions): AudienceClient => {
    const created = new AudienceClient({ ...entry.options, ...entry.client, ...client, ...options });
    clients.push(created);
    return created;
  };
  return {
    mock,
    clientWith,
    get audience() {
      audience ??= clientWith({});
      return audience;
    },
    get options() {
      return entry.options;
    },
    state: () => mock.organization("acme"),
    contact: (name) =>
      mock.organization("acme").contacts.find(({ email, phone }) => email === name || phone === name),
    send: (method, path, body, headers) => send(entry, { method, path, body, headers }),
  };
}

interface Entry {
  options: MockClientOptions;
  /** The further client options for this entry point. */
  client: ClientOptions;
  fetch: (url: string, init: RequestInit) => Promise<Response>;
  close: () => void | Promise<void>;
}

async function open(entryPoint: EntryPoint, mock: MockService): Promise<Entry> {
  const { fetch: mockFetch, ...options } = mock.clientOptions;
  const globalFetch = (url: string, init: RequestInit) => fetch(url, init);
  switch (entryPoint) {
    case "in process":
      return { options, client: { fetch: mockFetch }, fetch: mockFetch, close: () => undefined };
    case "MSW": {
      const server = setupServer(...mswHandlers(mock));
      server.listen(failUnhandled);
      return { options, client: {}, fetch: globalFetch, close: () => server.close() };
    }
    case "real HTTP": {
      const listener = await mock.listen();
      return {
        options: listener.clientOptions,
        client: {},
        fetch: globalFetch,
        close: () => listener.close(),
      };
    }
  }
}

interface PlainRequest {
  method: string;
  path: string;
  body: unknown;
  headers: Record<string, string> | undefined;
}

async function send(
  { options, fetch: fetchThrough }: Entry,
  { method, path, body, headers }: PlainRequest,
): Promise<ServiceResponse> {
  const isV2 = path.startsWith("/v2/");
  const credentials: Record<string, string> = isV2
    ? { "service-api-key": options.apiKeyV2 ?? options.apiKey, "service-app-id": options.appId }
    : { "x-api-key": options.apiKey };
  const all = {
    ...credentials,
    ...(body !== undefined && { "content-type": "application/json" }),
    ...headers,
  };
  const response = await fetchThrough((isV2 ? options.baseUrlV2 : options.baseUrl) + path, {
    method,
    headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== "")),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: readJson(text) };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
