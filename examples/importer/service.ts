import { AudienceClient, type ClientOptions, isAudienceError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { counted } from "../console/counted.ts";
import { InputError } from "../console/program.ts";
import type { ImporterArguments } from "./arguments.ts";

/** The service that is imported into. */
export interface ImportService {
  readonly audience: AudienceClient;
  readonly description: string;
  /** The final state, if the service is the mock. */
  readonly state?: () => string;
}

/** The service of the options, or of the environment. Throws a `ConfigurationError` that names what is missing. */
export function openService(
  { isDryRun, isMock, listId, reserve }: ImporterArguments,
  client: ClientOptions = {},
): ImportService {
  if (isMock && !isDryRun) return openMock(listId);
  const own = new AudienceClient(isDryRun ? { baseUrl: "https://nothing-is-sent.invalid" } : client);
  const audience = reserve === undefined ? own : own.withOptions({ rateLimiter: { reserve } });
  if (isDryRun) return { audience, description: "nothing is sent, as this is a dry run" };
  // Reading the property validates the configuration.
  void audience.v1;
  const url = client.baseUrl ?? process.env["AUDIENCE_BASE_URL"] ?? "";
  return { audience, description: `at ${new URL(url).origin}` };
}

/** A mock in this process, without a rate limit. */
function openMock(listId: string | undefined): ImportService {
  const mock = createMockService({
    organizations: [
      {
        id: "importer",
        apiKeys: ["mock-key-of-the-importer"],
        appId: "mock-app",
        lists: listId === undefined ? [] : [{ id: listId, name: "Newsletter" }],
      },
    ],
  });
  return {
    audience: new AudienceClient(mock.clientOptions),
    description: "a mock in this process, without a rate limit",
    state: () => {
      const { contacts, memberships } = mock.organization("importer");
      const inList = listId === undefined ? "" : `, ${memberships.length} of them in the list`;
      return `The mock holds ${counted(contacts.length, "contact")}${inList}.`;
    },
  };
}

/** Rejects if the list is missing or cannot be read, or is a segment: adding to it may still create contacts. */
export async function checkList(
  { v1 }: AudienceClient,
  listId: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  if (listId === undefined) return;
  const group = await v1.contactGroups.get(listId, { signal, priority: 9 }).catch((cause: unknown) => {
    if (!isAudienceError(cause) || signal.aborted) throw cause;
    const message =
      cause.code === "not_found"
        ? `The service has no list ${listId}. Nothing was sent. Check --list.`
        : `The list ${listId} could not be checked, so nothing was sent: ${cause.message}`;
    throw new InputError(message, { cause });
  });
  if (group["type"] === "SEGMENT")
    throw new InputError(
      `${listId} is a segment, and contacts can be added only to a list. Nothing was sent. Check --list.`,
    );
}
