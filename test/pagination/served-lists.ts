import { AudienceClient, type ClientOptions } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";

/** A client whose service responds to each page of any list with `respond(page)`. */
export function clientOf(respond: (page: number) => unknown, options: ClientOptions = {}): AudienceClient {
  return new AudienceClient({
    ...createMockService().clientOptions,
    ...options,
    fetch: async (url) => {
      const given = respond(Number(new URL(url).searchParams.get("page") ?? 1));
      return given instanceof Response ? given : Response.json(given);
    },
  });
}
