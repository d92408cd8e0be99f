import {
  AuthenticationError,
  NotFoundError,
  ServerError,
  UnexpectedResponseError,
  type AudienceClient,
  type Operation,
} from "audience-sdk";
import { describe, expect, it } from "vitest";
import { entryPoints, msw } from "../mock/entry-points.ts";
import { expectError, expectNotSent, untyped, useService, v2Contact } from "./service.ts";

type Call = (audience: AudienceClient) => PromiseLike<unknown>;
/** An endpoint of the document, and its call. */
type Endpoint = readonly [
  operation: Exclude<Operation, "v1.request" | "v2.request">,
  method: "GET" | "POST",
  path: string,
  call: Call,
  more?: { query?: Readonly<Record<string, string>>; body?: object; status?: number },
];

const contact = { email: "new@example.com", email_opt_in: "SUBSCRIBED" } as const;
const event = {
  eventName: "order placed",
  uniqueIdentifier: "order-1",
  contact: { email: "new@example.com" },
};
const page = { page: 2, limit: 5 };
const query = { page: "2", limit: "5" };

const table: readonly Endpoint[] = [
  [
    "v1.customers.upsert",
    "POST",
    "/api/v1/customer/create",
    ({ v1 }) => v1.customers.upsert(contact),
    { body: contact, status: 201 },
  ],
  ["v1.customers.get", "GET", "/api/v1/customer/ada", ({ v1 }) => v1.customers.get("ada")],
  ["v1.customers.list", "GET", "/api/v1/customer", ({ v1 }) => v1.customers.list(page), { query }],
  [
    "v1.contactGroups.list",
    "GET",
    "/api/v1/contact-groups",
    ({ v1 }) => v1.contactGroups.list({ type: "LIST", ...page }),
    { query: { type: "LIST", ...query } },
  ],
  ["v1.contactGroups.get", "GET", "/api/v1/contact-groups/news", ({ v1 }) => v1.contactGroups.get("news")],
  [
    "v1.contactGroups.addContact",
    "POST",
    "/api/v1/contact-groups/news/contacts",
    ({ v1 }) => v1.contactGroups.addContact("news", contact),
    { body: contact },
  ],
  ["v1.events.send", "POST", "/api/v1/events", ({ v1 }) => v1.events.send(event), { body: event }],
  [
    "v2.contacts.upsert",
    "POST",
    "/v2/contacts",
    ({ v2 }) => v2.contacts.upsert(v2Contact()),
    { body: v2Contact() },
  ],
  ["v2.lists.list", "GET", "/v2/lists", ({ v2 }) => v2.lists.list(page), { query }],
];

const v1Keys = { "x-api-key": "acme-mock-key" };
const v2Keys = { "service-api-key": "acme-mock-key-v2", "service-app-id": "acme-mock-app" };
const endpoints = table.map(([operation, method, path, call, more = {}]) => {
  const [keys, others] = operation.startsWith("v1.") ? [v1Keys, v2Keys] : [v2Keys, v1Keys];
  return { operation, method, path, call, keys, keysOfOthers: Object.keys(others), ...more };
});

describe.each(entryPoints)("each endpoint, $name", (entryPoint) => {
  const service = useService({ entryPoint });

  it.each(endpoints)(
    "$operation sends $method $path, JSON if it has a body, and the keys of its family alone",
    async ({ operation, call, method, path, query: sent = {}, body, status = 200, keys, keysOfOthers }) => {
      await call(service.audience);

      expect(service.mock.requests).toMatchObject([
        { operation, method, path, query: sent, headers: keys, status, applied: method === "POST" },
      ]);
      const [request] = service.mock.requests;
      expect(request?.body).toEqual(body);
      expect(request?.headers["content-type"]?.split(";")[0]).toBe(body && "application/json");
      for (const name of keysOfOthers) expect(request?.headers).not.toHaveProperty(name);
    },
  );

  it.each(endpoints)(
    "$operation with an unknown key is an AuthenticationError, and changes nothing",
    async ({ operation, call }) => {
      const before = service.state();
      const stranger = service.clientWith({ apiKey: "stranger-key-1", apiKeyV2: "stranger-key-2" });
      const request = { operation, attempts: 1 };
      await expectError(call(stranger), AuthenticationError, {
        status: 401,
        outcome: "not-applied",
        request,
      });

      expect(service.state()).toEqual(before);
    },
  );

  it.each(endpoints)(
    "$operation that gets a 500 is a ServerError: of a write the outcome is unknown, of a read never",
    async ({ operation, call, method }) => {
      service.mock.addFault({ kind: "500-after", operation });
      const outcome = method === "POST" ? "unknown" : "not-applied";
      const once = service.clientWith({ maxRetries: 0 });
      await expectError(call(once), ServerError, { status: 500, outcome });
    },
  );
});

describe("a response that is not documented", () => {
  const service = useService();

  it.each(endpoints.filter(({ operation }) => operation !== "v1.events.send"))(
    "$operation rejects with an UnexpectedResponseError: a write may have been carried out",
    async ({ operation, call, method, status = 200 }) => {
      service.mock.addFault({ kind: "wrong-json", operation });
      const outcome = method === "POST" ? "unknown" : "not-applied";
      await expectError(call(service.audience), UnexpectedResponseError, { status, outcome });

      expect(service.mock.requests).toMatchObject([{ operation, applied: method === "POST" }]);
    },
  );
});

describe("an id in a path", () => {
  const service = useService();
  const calls = [
    ["v1.customers.get", "id", (id: unknown) => service.audience.v1.customers.get(untyped(id))],
    ["v1.contactGroups.get", "id", (id: unknown) => service.audience.v1.contactGroups.get(untyped(id))],
    [
      "v1.contactGroups.addContact",
      "listId",
      (id: unknown) => service.audience.v1.contactGroups.addContact(untyped(id), contact),
    ],
  ] as const;
  const words = "a/b a?b=c a#b ä%2F ../../v2/lists ada@example.com news/contacts?x=1".split(" ");
  const ids = ["a b", "a\0b", "a HTTP/1.1\r\nX-API-Key: other", "..\\..\\admin", "\uff0e\uff0fx", ...words];
  const noIds = ["", " ", "\t", ".", "..", null, undefined, 7];

  it.each(calls.flatMap(([operation, , call]) => ids.map((id) => ({ operation, call, id }))))(
    "$operation sends $id as one part of the path",
    async ({ operation, call, id }) => {
      await expectError(call(id), NotFoundError);

      expect(service.mock.requests).toMatchObject([{ operation, query: {} }]);
      expect(service.mock.requests[0]?.path.split("/")).toContain(encodeURIComponent(id));
    },
  );

  it.each(calls.flatMap(([operation, name, call]) => noIds.map((id) => ({ operation, name, call, id }))))(
    "$operation does not send $id",
    async ({ name, call, id }) => {
      await expectNotSent(service, call(id), `${name} invalid_id`);
    },
  );
});

describe("JSON", () => {
  const service = useService();

  it.each([
    ["/api/v1/customer/create", { email: "new@example.com" }],
    ["/v2/contacts", v2Contact()],
  ])("the service refuses a body of another type on %s", async (path, body) => {
    const { status } = await service.send("POST", path, body, { "content-type": "text/plain" });

    expect(status).toBe(400);
    expect(service.state().contacts).toHaveLength(2);
  });

  it("all responses are JSON, also errors", async () => {
    const responses = await Promise.all([
      service.send("GET", "/v2/lists"),
      service.send("GET", "/v2/lists?page=0"),
      service.send("GET", "/api/v1/customer/nobody"),
      service.send("POST", "/api/v1/events", {}),
    ]);

    expect(responses.map(({ status }) => status)).toEqual([200, 400, 404, 400]);
    expect(responses.map(({ headers }) => headers.get("content-type")?.split(";")[0])).toEqual(
      responses.map(() => "application/json"),
    );
  });
});

describe("the version", () => {
  const service = useService({ entryPoint: msw });

  it.each([
    ["GET", "/api/v2/customer"],
    ["GET", "/v1/customer"],
    ["GET", "/api/v1/lists"],
    ["GET", "/v2/customer"],
    ["POST", "/api/v1/contacts"],
    ["GET", "/api/v1/customer/create/x"],
    ["DELETE", "/api/v1/customer/ada"],
    ["GET", "/v2/contacts"],
    ["GET", "/v2/lists/news"],
  ])("%s %s is no endpoint of either family", async (method, path) => {
    const { status } = await service.send(method, path, method === "POST" ? {} : undefined);

    expect(status).toBe(404);
    expect(service.mock.requests).toMatchObject([{ operation: undefined, method, path, status: 404 }]);
  });
});
