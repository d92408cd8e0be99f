import { AudienceClient, type ClientOptions, DOCUMENTED_WINDOWS, RateLimiter } from "audience-sdk";
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

/** The service of the options, or of the environment. Throws a `ConfigurationError` that names what is missing. */
export function openService(
  { isDryRun, isMock, listId, reserve }: ImporterArguments,
  client: ClientOptions = {},
): ImportService {
  if (isDryRun) {
    const audience = new AudienceClient({
      baseUrl: "https://nothing-is-sent.invalid",
      rateLimiter: new RateLimiter(reserve === undefined ? {} : { reserve }),
    });
    const description = "nothing is sent, as this is a dry run";
    return { audience, description, close: () => audience.close() };
  }
  if (isMock) return openMock(listId);
  const own = new AudienceClient(client);
  const audience = reserve === undefined ? own : own.withOptions({ rateLimiter: { reserve } });
  // Reading the property validates the configuration.
  void audience.v1;
  const url = client.baseUrl ?? process.env["AUDIENCE_BASE_URL"] ?? "";
  return { audience, description: `at ${new URL(url).origin}`, close: () => own.close() };
}

/** A mock in this process. Client and mock count in the same windows, shorter than the service's. */
function openMock(listId: string | undefined): ImportService {
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
  const audience = new AudienceClient({ ...mock.clientOptions, rateLimiter: new RateLimiter({ windows }) });
  return {
    audience,
    description: `a mock in this process, with windows that are ${timesShorter} times shorter than the service's`,
    state: () => {
      const { contacts, memberships } = mock.organization("importer");
      const inList = listId === undefined ? "" : `, ${memberships.length} of them in the list`;
      return `The mock holds ${counted(contacts.length, "contact")}${inList}.`;
    },
    close: () => audience.close(),
  };
}
