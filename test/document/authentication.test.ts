import { AuthenticationError, ConfigurationError, PermissionError, type AudienceClient } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { entryPoints } from "../mock/entry-points.ts";
import { errorOf, useService, v2Contact } from "./service.ts";

type Call = (audience: AudienceClient) => PromiseLike<unknown>;

/** The nine calls, one of each endpoint. */
const v1Calls: [string, Call][] = [
  ["v1.customers.upsert", ({ v1 }) => v1.customers.upsert({ email: "new@example.com" })],
  ["v1.customers.get", ({ v1 }) => v1.customers.get("ada")],
  ["v1.customers.list", ({ v1 }) => v1.customers.list()],
  ["v1.contactGroups.list", ({ v1 }) => v1.contactGroups.list()],
  ["v1.contactGroups.get", ({ v1 }) => v1.contactGroups.get("news")],
  [
    "v1.contactGroups.addContact",
    ({ v1 }) => v1.contactGroups.addContact("news", { email: "new@example.com", email_opt_in: "SUBSCRIBED" }),
  ],
  ["v1.events.send", ({ v1 }) => v1.events.send({ eventName: "x", contact: { email: "new@example.com" } })],
];
const v2Calls: [string, Call][] = [
  ["v2.contacts.upsert", ({ v2 }) => v2.contacts.upsert(v2Contact())],
  ["v2.lists.list", ({ v2 }) => v2.lists.list()],
];

describe.each(entryPoints)("authentication, $name", (entryPoint) => {
  const service = useService({ entryPoint });
  const headers = () => service.mock.requests.map((request) => request.headers);

  it.each(v1Calls)("%s sends X-API-Key, and no v2 header", async (operation, call) => {
    await call(service.audience);

    expect(service.mock.requests).toMatchObject([{ operation, headers: { "x-api-key": "acme-mock-key" } }]);
    expect(Object.keys(headers()[0] ?? {})).not.toContain("service-api-key");
    expect(Object.keys(headers()[0] ?? {})).not.toContain("service-app-id");
  });

  it.each(v2Calls)(
    "%s sends Service-Api-Key and Service-App-Id, and no v1 header",
    async (operation, call) => {
      await call(service.audience);

      expect(service.mock.requests).toMatchObject([
        { operation, headers: { "service-api-key": "acme-mock-key-v2", "service-app-id": "acme-mock-app" } },
      ]);
      expect(Object.keys(headers()[0] ?? {})).not.toContain("x-api-key");
    },
  );

  it.each([...v1Calls, ...v2Calls])(
    "%s with an unknown key is an AuthenticationError, and changes nothing",
    async (operation, call) => {
      const stranger = service.clientWith({ apiKey: "stranger-key-1", apiKeyV2: "stranger-key-2" });
      const before = service.state();
      const error = await errorOf(call(stranger));

      expect(error).toBeInstanceOf(AuthenticationError);
      expect(error).toMatchObject({
        status: 401,
        outcome: "not-applied",
        request: { operation, attempts: 1 },
      });
      expect(service.state()).toEqual(before);
    },
  );

  it.each(v2Calls)("%s with another organization's app id is an AuthenticationError", async (_, call) => {
    const error = await errorOf(call(service.clientWith({ appId: "globex-mock-app" })));

    expect(error).toBeInstanceOf(AuthenticationError);
  });
});

describe("credentials", () => {
  const service = useService();

  it.each([
    ["v1 without its key", "/api/v1/customer", { "x-api-key": "" }],
    [
      "v1 with the headers of v2",
      "/api/v1/customer",
      { "x-api-key": "", "service-api-key": "acme-mock-key", "service-app-id": "acme-mock-app" },
    ],
    ["v2 without its key", "/v2/lists", { "service-api-key": "" }],
    ["v2 without an app id", "/v2/lists", { "service-app-id": "" }],
    ["v2 with the header of v1", "/v2/lists", { "service-api-key": "", "x-api-key": "acme-mock-key-v2" }],
    ["v2 with a key of v1", "/v2/lists", { "service-api-key": "acme-mock-key" }],
    ["v2 with an app id alone", "/v2/lists", { "service-api-key": "", "x-api-key": "" }],
  ])("%s are missing or invalid: 401", async (_, path, headers) => {
    const { status } = await service.send("GET", path, undefined, headers);

    expect(status).toBe(401);
    expect(service.mock.requests).toMatchObject([{ status: 401, applied: false }]);
  });

  it("a request without a valid key gets no details about its body", async () => {
    const { status } = await service.send(
      "POST",
      "/api/v1/customer/create",
      { firstName: "x" },
      { "x-api-key": "stranger" },
    );

    expect(status).toBe(401);
  });

  it("every key of an organization accesses its data", async () => {
    const other = service.clientWith({ apiKey: "acme-mock-key-two" });

    expect((await other.v1.customers.get("ada")).id).toBe("ada");
  });

  it("the v1 family needs no app id; a client without one has no v2", async () => {
    const { apiKey, baseUrl } = service.options;
    const v1Only = service.clientWith({ apiKey, baseUrl, appId: undefined, baseUrlV2: undefined });

    expect((await v1Only.v1.customers.get("ada")).id).toBe("ada");
    expect(() => v1Only.v2).toThrow(ConfigurationError);
    expect(() => v1Only.v2).toThrow(/appId/);
  });
});

describe("key permissions, which are not documented", () => {
  const service = useService({ variants: { permissions: { "acme-mock-key": ["v1.customers.get"] } } });

  it("a call that the key does not permit is a PermissionError", async () => {
    const error = await errorOf(service.audience.v1.customers.upsert({ email: "new@example.com" }));

    expect(error).toBeInstanceOf(PermissionError);
    expect(error).toMatchObject({ status: 403, outcome: "not-applied" });
    expect((await service.audience.v1.customers.get("ada")).id).toBe("ada");
  });
});

describe("an app id on the v1 family, which is not documented", () => {
  const service = useService({ variants: { v1NeedsAppId: true } });

  it("is not sent by default: where the service requires it, the call is an AuthenticationError", async () => {
    const error = await errorOf(service.audience.v1.customers.get("ada"));

    expect(error).toBeInstanceOf(AuthenticationError);
    expect(service.mock.requests[0]?.headers).not.toHaveProperty("service-app-id");
  });

  it("can be sent as a header of the caller", async () => {
    const headers = { "Service-App-Id": "acme-mock-app" };

    expect((await service.audience.v1.customers.get("ada", { headers })).id).toBe("ada");
    expect((await service.audience.withOptions({ headers }).v1.customers.get("ada")).id).toBe("ada");
    expect((await service.audience.v2.lists.list()).items).not.toEqual([]);
  });
});
