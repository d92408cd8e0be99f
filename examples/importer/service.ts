import { AudienceClient, DOCUMENTED_WINDOWS, RateLimiter } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { counted } from "../console/counted.ts";
import type { ImporterArguments } from "./arguments.ts";

/** The service that is imported into. */
export interface ImportService {
  readonly audience: AudienceClient;
  /** A description to print. */
  readonly description: string;
  /** The final state, if the service is the mock. */
  readonly state?: () => string;
  close(): Promise<void>;
}

const timesShorter = 60;

/** The mock's address for its client, as a checkpoint records it: its port is another one each time. */
const mockUrl = "https://mock.invalid";

/** The service of the environment. Throws a `ConfigurationError` that names what is missing. */
export function openLive(
  { family, reserve }: Pick<ImporterArguments, "family" | "reserve">,
  rateLimiter?: RateLimiter,
): ImportService {
  const own = new AudienceClient(rateLimiter === undefined ? {} : { rateLimiter });
  const audience = reserve === undefined ? own : own.withOptions({ rateLimiter: { reserve } });
  // Reading the property validates the configuration.
  void audience[family];
  const url = process.env[family === "v1" ? "AUDIENCE_BASE_URL" : "AUDIENCE_BASE_URL_V2"] ?? "";
  return { audience, description: `at ${new URL(url).origin}`, close: () => own.close() };
}

/** A client for a dry run: it needs no key and sends nothing. */
export function openNothing(): ImportService {
  const audience = new AudienceClient({
    baseUrl: "https://nothing-is-sent.invalid",
    rateLimiter: new RateLimiter(),
  });
  return { audience, description: "nothing is sent, as this is a dry run", close: () => audience.close() };
}

/** A mock over real HTTP on loopback. Client and mock count in the same windows, shorter than the service's. */
export async function openMock(listId?: string): Promise<ImportService> {
  const windows = DOCUMENTED_WINDOWS.map(({ limit, intervalMs }) => ({
    limit,
    intervalMs: intervalMs / timesShorter,
  }));
  const mock = createMockService({
    organizations: [
      {
        id: "importer",
        apiKeys: ["mock-key-of-the-importer"],
        appId: "mock-app",
        lists: listId === undefined ? [] : [{ id: listId, name: "Newsletter" }],
      },
    ],
    rateLimits: { windows },
  });
  const server = await mock.listen({ port: 0 });
  const audience = new AudienceClient({
    ...server.clientOptions,
    baseUrl: mockUrl,
    baseUrlV2: mockUrl,
    fetch: (url, init) => fetch(url.replace(mockUrl, server.url), init),
    rateLimiter: new RateLimiter({ windows }),
  });
  return {
    audience,
    description: `a mock at ${server.url}, with windows that are ${timesShorter} times shorter than the service's`,
    state: () => {
      const { contacts, memberships } = mock.organization("importer");
      const inList = listId === undefined ? "" : `, ${memberships.length} of them in the list`;
      return `The mock holds ${counted(contacts.length, "contact")}${inList}.`;
    },
    close: async () => {
      await audience.close();
      await server.close();
    },
  };
}
