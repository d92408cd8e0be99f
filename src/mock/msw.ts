import { http, type HttpHandler, HttpResponse } from "msw";
import { baseUrl as baseUrlRule, checkOption, object } from "./json-rules.ts";
import { isConnectionReset } from "./mock-response.ts";
import type { MockService } from "./public-types.ts";

/**
 * The base URLs of the code under test, if they differ from the mock's own. The links in responses lead to the mock's own,
 * which the variants `baseUrl` and `baseUrlV2` set.
 */
export interface MswHandlersOptions {
  /** The base URL of the v1 family; default: the mock's own. */
  baseUrl?: string | undefined;
  /** The base URL of the v2 family; default: the mock's own. */
  baseUrlV2?: string | undefined;
}

const optionsRule = object({ baseUrl: baseUrlRule, baseUrlV2: baseUrlRule });

/**
 * Returns the mock as handlers of Mock Service Worker (2.7 to 3), for code that builds its own client. With
 * `skipLibCheck: false` MSW's own declarations need the DOM lib.
 *
 * ```ts
 * const server = setupServer(...mswHandlers(mock, { baseUrl: "https://api.example.com", baseUrlV2: "https://v2.example.com" }));
 * ```
 *
 * @throws TypeError if the first argument is no mock, or an option is wrong.
 */
export function mswHandlers(mock: MockService, options: MswHandlersOptions = {}): HttpHandler[] {
  if (typeof mock?.fetch !== "function")
    throw new TypeError("mswHandlers takes a mock, as `createMockService()` returns it.");
  checkOption("options", options, optionsRule);
  const { baseUrl, baseUrlV2 } = mock.clientOptions;
  const v1 = { from: asRequested(options.baseUrl ?? baseUrl), to: asRequested(baseUrl) };
  const v2 = { from: asRequested(options.baseUrlV2 ?? baseUrlV2), to: asRequested(baseUrlV2) };
  // The base URLs may be equal, or one may lie below the other: so the families' own paths come first.
  const bases = [
    { ...v1, path: "/api/v1/" },
    { ...v2, path: "/v2/" },
    // For any other path the mock has a 404.
    { ...v1, path: "/" },
    { ...v2, path: "/" },
  ];
  return bases.map(({ from, to, path }) =>
    http.all(new RegExp(`^${escapeRegExp(from + path)}`), async ({ request }) => {
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

/** The base URL in the form in which request URLs begin. */
function asRequested(baseUrl: string): string {
  return new URL(baseUrl).href.replace(/\/+$/, "");
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
