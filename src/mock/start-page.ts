import type { MockClientOptions } from "./public-types.ts";
import type { MockOrganizationSeed } from "./state/seed.ts";
import { V1_ENDPOINTS } from "./v1/routes.ts";
import { V2_ENDPOINTS } from "./v2/routes.ts";

type Credentials = Pick<MockClientOptions, "apiKey" | "apiKeyV2" | "appId">;

/** The text at the mock's address, for a terminal. */
export function startPage(client: Addressed): string {
  const endpoints = [...V1_ENDPOINTS, ...V2_ENDPOINTS].map(
    ({ route, operation }) => `  ${route.padEnd(45)}  ${operation}`,
  );
  return `This is the mock of the audience service, for tests. It obeys the service's rules, and keeps its state in memory.

The environment of a client:

${environmentOf(client)
  .map((line) => `  ${line}`)
  .join("\n")}

The endpoints (v1 needs the header X-API-Key; v2 needs Service-Api-Key and Service-App-Id):

${endpoints.join("\n")}

For tests, without a key; a POST needs the header Content-Type: application/json:

  GET /__mock/organizations/{id or key}          the state
  GET /__mock/requests                           all requests that arrived
  GET /__mock/resubscriptions                    the changes of a consent that went over a refusal
  GET /__mock/faults                             the faults, each with its id
  DELETE /__mock/faults/{id}                     removes one; without an id all of them
  GET /__mock/settled                            waits until no webhook call is under way
  POST /__mock/faults                            adds a fault: {"kind":"500-before","times":1}
  POST /__mock/unsubscribe                       a person unsubscribes: {"person":"ada@example.com","channel":"email"}
  POST /__mock/confirm                           a person answers the mail of a double opt-in: {"person":"ada@example.com"}
  POST /__mock/asks-again                        a person asks again on your own site: {"person":"ada@example.com"}
  POST /__mock/reset                             restores the initial state

"npx audience-mock --help" has a curl command for each.
`;
}

/** The first keys and the app id of an organization. */
export function credentialsOf({ apiKeys, apiKeysV2, appId }: MockOrganizationSeed): Credentials {
  const [apiKey = ""] = apiKeys;
  const [apiKeyV2 = apiKey] = apiKeysV2 ?? [];
  return { apiKey, ...(apiKeyV2 !== apiKey && { apiKeyV2 }), appId };
}

/** A client's credentials and addresses, and the speed of the mock. */
export type Addressed = Credentials &
  Pick<MockClientOptions, "baseUrl" | "baseUrlV2"> & { speed?: number | undefined };

/** The environment of a client. */
export function variablesOf(client: Addressed): Record<string, string> {
  return {
    AUDIENCE_BASE_URL: client.baseUrl,
    AUDIENCE_BASE_URL_V2: client.baseUrlV2,
    AUDIENCE_API_KEY: client.apiKey,
    ...(client.apiKeyV2 !== undefined && { AUDIENCE_API_KEY_V2: client.apiKeyV2 }),
    AUDIENCE_APP_ID: client.appId,
    ...(client.speed !== undefined && { AUDIENCE_RATE_LIMIT: `${client.speed}x` }),
  };
}

/** The commands that set it in a POSIX shell. */
export function environmentOf(client: Addressed): string[] {
  return Object.entries(variablesOf(client)).map(([name, value]) => `export ${name}=${shellWord(value)}`);
}

/** A string as one word of a POSIX shell, quoted if necessary. */
export function shellWord(value: string): string {
  return /^[\w%+,./:=@-]+$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`;
}
