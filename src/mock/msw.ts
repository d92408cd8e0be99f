import { http, type HttpHandler, HttpResponse } from "msw";
import { checkNames, checkPlainObject, isBaseUrl, isObject } from "./check.ts";
import type { MockService } from "./interface.ts";
import { isConnectionReset } from "./response.ts";

/** The base URLs of the code under test, if they differ from the mock's own. */
export interface MswHandlersOptions {
  /** The base URL of the v1 family; default: the mock's own. */
  baseUrl?: string;
  /** The base URL of the v2 family; default: the mock's own. */
  baseUrlV2?: string;
}

/**
 * Returns the mock as handlers of Mock Service Worker (2.7 to 3), for code that builds its own client. With
 * `skipLibCheck: false` MSW's own declarations need the DOM lib.
 *
 * ```ts
 * const server = setupServer(...mswHandlers(mock, { baseUrl: "https://api.example.com", baseUrlV2: "https://v2.example.com" }));
 * ```
 */
export function mswHandlers(mock: MockService, options: MswHandlersOptions = {}): HttpHandler[] {
  const { fetch, clientOptions } = mockOf(mock);
  checkPlainObject("the options of mswHandlers", options);
  checkNames("the options of mswHandlers", options, ["baseUrl", "baseUrlV2"]);
  const { baseUrl, baseUrlV2 } = clientOptions;
  const bases = new Map([
    [asRequested("baseUrl", options.baseUrl ?? baseUrl), asRequested("baseUrl", baseUrl)],
    [asRequested("baseUrlV2", options.baseUrlV2 ?? baseUrlV2), asRequested("baseUrlV2", baseUrlV2)],
  ]);
  return [...bases].map(([from, to]) =>
    http.all(new RegExp(`^${escapeRegExp(from)}/`), async ({ request }) => {
      const url = to + request.url.slice(from.length);
      try {
        return await fetch(url === request.url ? request : new Request(url, request));
      } catch (error) {
        /* v8 ignore next -- @preserve a defect of the mock itself */
        if (!isConnectionReset(error) && !request.signal.aborted) throw error;
        return HttpResponse.error();
      }
    }),
  );
}

/** A test without types may pass any value. */
function mockOf(mock: unknown): MockService {
  const { fetch, clientOptions } = Object(mock) as Partial<Record<keyof MockService, unknown>>;
  if (typeof fetch !== "function" || !isObject(clientOptions))
    throw new TypeError("the first argument of mswHandlers must be a mock service: see createMockService()");
  // Safe: nothing else has both.
  return mock as MockService;
}

/** The base URL in the form in which request URLs begin. */
function asRequested(name: keyof MswHandlersOptions, baseUrl: unknown): string {
  if (!isBaseUrl(baseUrl))
    throw new TypeError(`${name} must be a base URL, for example https://api.example.com`);
  return new URL(baseUrl).href.replace(/\/+$/, "");
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
