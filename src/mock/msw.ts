import { http, type HttpHandler, HttpResponse } from "msw";
import { withoutFinalSlashes } from "./final-slashes.ts";
import type { MockService } from "./mock-service.ts";
import { readable } from "./own-copy.ts";
import { isConnectionReset } from "./response.ts";

/** Where the code under test sends its requests, if not to the mock's own base URLs. */
export interface MswHandlersOptions {
  /** Of the v1 family; default: the mock's own. */
  baseUrl?: string;
  /** Of the v2 family; default: the mock's own. */
  baseUrlV2?: string;
}

/**
 * The mock as handlers of Mock Service Worker (2.x), for code that builds its own client. With `skipLibCheck: false`
 * MSW's own declarations ask for the DOM lib.
 *
 * ```ts
 * const server = setupServer(...mswHandlers(mock, { baseUrl: "https://api.example.com", baseUrlV2: "https://v2.example.com" }));
 * ```
 */
export function mswHandlers(mock: MockService, options: MswHandlersOptions = {}): HttpHandler[] {
  // Read once, by their rules: a test without types may give anything.
  const own = readable("the mock", () => basesOf(mock.clientOptions));
  const chosen = readable("the options of mswHandlers", () => basesOf(options));
  const bases = new Map([
    [trimmed(chosen.baseUrl ?? own.baseUrl), trimmed(own.baseUrl)],
    [trimmed(chosen.baseUrlV2 ?? own.baseUrlV2), trimmed(own.baseUrlV2)],
  ]);
  return [...bases].map(([from, to]) =>
    http.all(new RegExp(`^${escaped(from)}/`), async ({ request }) => {
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

/** These two and no more: whatever else is given may be of any size. */
function basesOf(options: MswHandlersOptions): MswHandlersOptions {
  if (typeof options !== "object" || options === null) throw new TypeError("the options must be an object");
  const { baseUrl, baseUrlV2 } = options;
  return { ...(baseUrl === undefined ? {} : { baseUrl }), ...(baseUrlV2 === undefined ? {} : { baseUrlV2 }) };
}

function trimmed(baseUrl: unknown): string {
  if (typeof baseUrl !== "string") throw new TypeError("a base URL must be a text");
  return withoutFinalSlashes(baseUrl);
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
