import { http, type HttpHandler, HttpResponse } from "msw";
import { isBaseUrl } from "./base-url.ts";
import { checkNames } from "./check-names.ts";
import { withoutFinalSlashes } from "./final-slashes.ts";
import type { MockService } from "./interface.ts";
import { isObject, showsNothing } from "./is-object.ts";
import { readable } from "./own-copy.ts";
import { isConnectionReset } from "./response.ts";

/** The base URLs of the code under test, if they differ from the mock's own. */
export interface MswHandlersOptions {
  /** The base URL of the v1 family; default: the mock's own. */
  baseUrl?: string;
  /** The base URL of the v2 family; default: the mock's own. */
  baseUrlV2?: string;
}

/**
 * Returns the mock as handlers of Mock Service Worker (2.x), for code that builds its own client. With
 * `skipLibCheck: false` MSW's own declarations need the DOM lib.
 *
 * ```ts
 * const server = setupServer(...mswHandlers(mock, { baseUrl: "https://api.example.com", baseUrlV2: "https://v2.example.com" }));
 * ```
 */
export function mswHandlers(mock: MockService, options: MswHandlersOptions = {}): HttpHandler[] {
  // Read once and checked: a test without types may pass any value.
  const own = readable("the mock", () => basesOf(clientOptionsOf(mock)));
  const chosen = readable("the options of mswHandlers", () => basesOf(checkedOptions(options)));
  const bases = new Map([
    [asRequested("baseUrl", chosen.baseUrl ?? own.baseUrl), asRequested("baseUrl", own.baseUrl)],
    [asRequested("baseUrlV2", chosen.baseUrlV2 ?? own.baseUrlV2), asRequested("baseUrlV2", own.baseUrlV2)],
  ]);
  return [...bases].map(([from, to]) =>
    http.all(new RegExp(`^${escapeRegExp(from)}/`), async ({ request }) => {
      const url = to + request.url.slice(from.length);
      try {
        return await mock.fetch(url === request.url ? request : new Request(url, request));
      } catch (error) {
        /* v8 ignore next -- @preserve a defect of the mock itself */
        if (!isConnectionReset(error) && !request.signal.aborted) throw error;
        return HttpResponse.error();
      }
    }),
  );
}

function clientOptionsOf(mock: unknown): object {
  const { fetch, clientOptions } = Object(mock) as Partial<Record<keyof MockService, unknown>>;
  if (typeof fetch !== "function" || typeof clientOptions !== "object" || clientOptions === null)
    throw new TypeError("the first argument of mswHandlers must be a mock service: see createMockService()");
  return clientOptions;
}

function checkedOptions(options: unknown): MswHandlersOptions {
  if (!isObject(options) || ArrayBuffer.isView(options) || showsNothing(options))
    throw new TypeError("the options of mswHandlers must be a plain object");
  checkNames("the options of mswHandlers", options, ["baseUrl", "baseUrlV2"]);
  return options;
}

/** Reads each of the two once. */
function basesOf({ baseUrl, baseUrlV2 }: MswHandlersOptions): MswHandlersOptions {
  return { ...(baseUrl === undefined ? {} : { baseUrl }), ...(baseUrlV2 === undefined ? {} : { baseUrlV2 }) };
}

/** The base URL in the form in which request URLs begin. */
function asRequested(name: keyof MswHandlersOptions, baseUrl: unknown): string {
  if (!isBaseUrl(baseUrl))
    throw new TypeError(`${name} must be a base URL, for example https://api.example.com`);
  return withoutFinalSlashes(new URL(baseUrl).href);
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
