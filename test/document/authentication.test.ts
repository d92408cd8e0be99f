import { AuthenticationError, ConfigurationError, PermissionError } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { expectError, useService } from "./service.ts";

describe("credentials", () => {
  const service = useService();

  it("another organization's app id is an AuthenticationError", async () => {
    await expectError(service.clientWith({ appId: "globex-mock-app" }).v2.lists.list(), AuthenticationError);
  });

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
    ["v2 with an invalid key", "/v2/lists", { "service-api-key": "stranger" }],
    ["v2 with an invalid app id", "/v2/lists", { "service-app-id": "stranger" }],
    ["v1 with an invalid key", "/api/v1/customer", { "x-api-key": "stranger" }],
  ])("%s are missing or invalid: 401", async (_, path, headers) => {
    const { status, body } = await service.send("GET", path, undefined, headers);

    expect(status).toBe(401);
    if (path === "/v2/lists") expect(body).toEqual({ status: "error", message: expect.any(String) });
    expect(service.mock.requests).toMatchObject([{ status: 401, applied: false }]);
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
    await expectError(service.audience.v1.customers.upsert({ email: "new@example.com" }), PermissionError, {
      status: 403,
      outcome: "not-applied",
    });
    expect((await service.audience.v1.customers.get("ada")).id).toBe("ada");
  });
});

describe("an app id on the v1 family, which is not documented", () => {
  const service = useService({ variants: { v1NeedsAppId: true } });

  it("is not sent by default: where the service requires it, the call is an AuthenticationError", async () => {
    await expectError(service.audience.v1.customers.get("ada"), AuthenticationError);
    expect(service.mock.requests[0]?.headers).not.toHaveProperty("service-app-id");
  });

  it("can be sent as a header of the caller", async () => {
    const headers = { "Service-App-Id": "acme-mock-app" };

    expect((await service.audience.v1.customers.get("ada", { headers })).id).toBe("ada");
    expect((await service.audience.withOptions({ headers }).v1.customers.get("ada")).id).toBe("ada");
    expect((await service.audience.v2.lists.list()).items).not.toEqual([]);
  });
});
