import {
  createMockService,
  type MockClientOptions,
  type MockService,
  type MockServiceOptions,
} from "audience-sdk/mock";
import { mswHandlers } from "audience-sdk/mock/msw";
import { setupServer } from "msw/node";

/** A plain HTTP request, as a client in any language makes it. */
export interface Call {
  method?: string;
  /** JSON to send. */
  body?: unknown;
  /** Sent unchanged, instead of `body`. */
  rawBody?: string;
  /** In addition to valid credentials; an empty string removes a header. */
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export interface MockResponse {
  status: number;
  headers: Headers;
  /** The parsed JSON, or else the string. */
  body: unknown;
}

export interface OpenEntryPoint {
  mock: MockService;
  options: MockClientOptions;
  /** `path` is of either family. */
  call: (path: string, call?: Call) => Promise<MockResponse>;
  /** The response before its body is read. */
  send: (path: string, call?: Call) => Promise<Response>;
  close: () => Promise<void>;
}

export interface EntryPoint {
  name: string;
  open: (options?: MockServiceOptions) => Promise<OpenEntryPoint>;
}

/** What no handler matches fails the test, by the option of msw 2 and that of msw 3. */
export const failUnhandled = { onUnhandledRequest: "error", onUnhandledFrame: "error" } as const;

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

function opened(
  mock: MockService,
  options: MockClientOptions,
  fetch: Fetch,
  close: () => Promise<void>,
): OpenEntryPoint {
  const send = (path: string, { method, body, rawBody, headers, signal }: Call = {}) => {
    const isV2 = path.startsWith("/v2/");
    const text = rawBody ?? (body === undefined ? undefined : JSON.stringify(body));
    const credentials: Record<string, string> = isV2
      ? { "service-api-key": options.apiKeyV2 ?? options.apiKey, "service-app-id": options.appId }
      : { "x-api-key": options.apiKey };
    const all = {
      ...credentials,
      ...(text !== undefined && { "content-type": "application/json" }),
      ...headers,
    };
    const baseUrl = isV2 ? options.baseUrlV2 : options.baseUrl;
    return fetch(baseUrl.replace(/\/+$/, "") + path, {
      method: method ?? (text === undefined ? "GET" : "POST"),
      headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== "")),
      redirect: "manual",
      ...(text !== undefined && { body: text }),
      ...(signal !== undefined && { signal }),
    });
  };
  const call = async (path: string, request?: Call) => {
    const response = await send(path, request);
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: parsed(text) };
  };
  return { mock, options, call, send, close };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export const inProcess: EntryPoint = {
  name: "in process",
  open: (options) => {
    const mock = createMockService(options);
    return Promise.resolve(opened(mock, mock.clientOptions, mock.fetch, () => Promise.resolve()));
  },
};

export const msw: EntryPoint = {
  name: "MSW",
  open: (options) => {
    const mock = createMockService(options);
    const server = setupServer(...mswHandlers(mock));
    server.listen(failUnhandled);
    const { fetch: _, ...clientOptions } = mock.clientOptions;
    return Promise.resolve(
      opened(
        mock,
        clientOptions,
        (url, init) => fetch(url, init),
        () => Promise.resolve(server.close()),
      ),
    );
  },
};

export const nodeHttp: EntryPoint = {
  name: "node:http",
  open: async (options) => {
    const mock = createMockService(options);
    const listener = await mock.listen();
    return opened(mock, listener.clientOptions, (url, init) => fetch(url, init), listener.close);
  },
};

export const entryPoints: readonly EntryPoint[] = [inProcess, msw, nodeHttp];
