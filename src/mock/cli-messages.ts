import { type Addressed, environmentOf, shellWord } from "./start-page.ts";
import type { MockOrganizationSeed } from "./state/seed.ts";

export const HELP = `audience-mock: the audience service, in memory, as an HTTP server on loopback

  audience-mock [--port N] [--host ADDRESS] [--allow-host NAME]... [--seed FILE] [--state FILE] [--env FILE]
                [--speed N] [--quiet]

  --port N            the port; default 4010, 0 for any free one
  --host ADDRESS      the address to listen on; default 127.0.0.1, so that no other machine can reach it. 0.0.0.0
                      for all addresses, as in a container
  --allow-host NAME   a further name by which requests may call it (their Host); may be given several times. Without
                      it: localhost, 127.0.0.1, [::1] and ADDRESS (not 0.0.0.0 or ::), with any port
  --seed FILE         the initial state: JSON, or people as FILE.csv (see below)
  --state FILE        keeps the state in FILE over a restart: contacts, consents and their history, lists, events.
                      Without FILE it begins with the seed; else new people, lists and organizations of the seed are
                      added, and no others changed. Faults, requests and rate limits begin anew.
                      If the last change cannot be saved, the exit code is 1
  --env FILE          writes the environment of a client to FILE, for node --env-file and dotenv; its other lines stay,
                      those of another service as comments. A file that is no environment is refused
  --speed N           counts in windows N times shorter (2 to 1000), without a rate limit in the seed in the documented
                      ones, and adds AUDIENCE_RATE_LIMIT=Nx to the environment, so that the client does, too
  -q, --quiet         prints its address alone, and no requests
  -h, --help          this help

Open its address in a browser: a page shows requests, people, lists and events, live, and arms faults.
It prints a line for each request: time (UTC), operation, status, and what it changed or the rule that refused it.

It prints its address, its page and its keys. Without --seed there is one organization with
  a list          mock-list
  a segment       mock-segment
  a key           mock-api-key-not-a-secret     (v1: X-API-Key, v2: Service-Api-Key)
  an app id       mock-app-id                   (v2: Service-App-Id)

Try it:

  URL=http://127.0.0.1:4010
  KEY='X-API-Key: mock-api-key-not-a-secret'
  JSON='Content-Type: application/json'

  # all of this mock's paths, and the environment of a client
  curl $URL/

  # create or update a contact, then page through all of them
  curl -H "$KEY" -H "$JSON" $URL/api/v1/customer/create -d '{"email":"ada@example.com","email_opt_in":"SUBSCRIBED"}'
  curl -H "$KEY" "$URL/api/v1/customer?page=1&limit=50"
  curl -H "$KEY" $URL/api/v1/customer/ID

  # lists and segments; add a contact to a list
  curl -H "$KEY" "$URL/api/v1/contact-groups?type=LIST"
  curl -H "$KEY" $URL/api/v1/contact-groups/mock-list
  curl -H "$KEY" -H "$JSON" $URL/api/v1/contact-groups/mock-list/contacts -d '{"email":"ada@example.com","email_opt_in":"SUBSCRIBED"}'

  # a custom event
  curl -H "$KEY" -H "$JSON" $URL/api/v1/events -d '{"eventName":"order placed","uniqueIdentifier":"order-1","contact":{"email":"ada@example.com"}}'

  # the v2 family has other headers
  curl -H 'Service-Api-Key: mock-api-key-not-a-secret' -H 'Service-App-Id: mock-app-id' $URL/v2/lists
  curl -H 'Service-Api-Key: mock-api-key-not-a-secret' -H 'Service-App-Id: mock-app-id' -H "$JSON" $URL/v2/contacts -d '{
    "firstName":"Ada","listIds":["mock-list"],"identifiers":[{"type":"email","id":"ada@example.com",
    "channels":{"email":{"status":"subscribed"}},"consent":{"createdAt":"2026-01-31T09:30:00Z","ip":"192.0.2.1","source":"form"}}]}'

For tests there are additional paths that need no key. They refuse what a page of another site asks for; a POST needs the
content type of JSON, also without a body:

  curl $URL/__mock/organizations/mock-organization      # the state: contacts, groups, memberships, events, triggers,
                                                        # automationRuns, welcomeEmails, webhookCalls, consentHistory
  curl $URL/__mock/requests                             # all requests: operation, headers, body, status, applied, fault
  curl -H "$JSON" $URL/__mock/faults -d '{"kind":"reset-after","operation":"v1.events.send","times":1}'
  curl $URL/__mock/faults                               # all faults, each with its id
  curl -X DELETE -H "$JSON" $URL/__mock/faults/1        # removes one; without an id all of them
  curl -H "$JSON" $URL/__mock/unsubscribe -d '{"person":"ada@example.com","channel":"email"}'
  curl -H "$JSON" $URL/__mock/confirm -d '{"person":"ada@example.com"}'   # answers the mail of a double opt-in
  curl -H "$JSON" $URL/__mock/asks-again -d '{"person":"ada@example.com"}' # asks again on your own site
  curl $URL/__mock/resubscriptions                      # the changes of a consent that went over a refusal
  curl -X POST -H "$JSON" $URL/__mock/reset             # restores the initial state
  curl $URL/__mock/settled                              # waits until no webhook call is under way

  kinds of faults: reset-before reset-after hang latency 429 500-before 500-after 502-html 503-retry-after
  truncated-json wrong-json wrong-content-type empty-body huge-body slow-body redirect
  further keys: operation times after probability retryAfter delayMs location

People as a CSV: the columns are fields of a v1 contact, id, lists (ids with spaces between) and custom_properties.NAME.
They join the organization above.

  email,phone,first_name,email_opt_in,lists
  ada@example.com,+41441234567,Ada,SUBSCRIBED,mock-list
  grace@example.com,,Grace,UNSUBSCRIBED,

A seed as JSON; only id, apiKeys and appId of each organization are required:

  {
    "organizations": [{
      "id": "acme", "apiKeys": ["acme-key"], "apiKeysV2": ["acme-key-v2"], "appId": "acme-app",
      "lists": [{ "id": "news", "name": "Newsletter", "type": "LIST" }],
      "contacts": [{ "email": "ada@example.com", "email_opt_in": "SUBSCRIBED", "lists": ["news"] }],
      "automations": [
        { "name": "Hello", "on": { "listId": "news" } },
        { "name": "Thanks", "on": { "event": "order placed" }, "webhook": { "url": "http://127.0.0.1:3000/hooks" } }
      ],
      "welcomeFlow": true
    }],
    "rateLimits": "documented",
    "faults": [{ "kind": "500-before", "probability": 0.05 }],
    "latencyMs": [20, 200],
    "seed": 7,
    "webhooks": "loopback",
    "variants": { "v1List": "array", "rateLimitStatus": 503 }
  }
`;

export function startMessage(client: Addressed, organizations: readonly MockOrganizationSeed[]): string {
  const described = organizations.map(({ id, apiKeys, apiKeysV2 = apiKeys, appId, lists = [] }) =>
    [
      `organization ${id}`,
      `  X-API-Key (v1)        ${apiKeys.join(", ")}`,
      `  Service-Api-Key (v2)  ${apiKeysV2.join(", ")}`,
      `  Service-App-Id (v2)   ${appId}`,
      ...lists.map(({ id: listId, name, type = "LIST" }) => `  ${type.padEnd(20)}  ${listId} (${name})`),
    ].join("\n"),
  );
  const [header, address] = [`X-API-Key: ${client.apiKey}`, `${client.baseUrl}/api/v1/contact-groups`];
  const call = `curl -H ${shellWord(header)} ${shellWord(address)}`;
  const { origin } = new URL(client.baseUrl);
  return [
    `audience-mock listens on ${origin}`,
    `Its page, for a browser: ${origin}/`,
    ...(client.speed === undefined ? [] : [`It counts in windows ${client.speed} times shorter.`]),
    ...described,
    ...environmentOf(client),
    call,
    "Ctrl-C stops it.",
    "",
  ].join("\n");
}
