import { ApiError, NotFoundError, RateLimitError, ServerError } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { entryPoints } from "../mock/entry-points.ts";
import { v1ErrorBodies } from "../mock/v1-error-bodies.ts";
import { consent, errorOf, useService, v2Contact } from "./service.ts";

const tooMany = Object.fromEntries(Array.from({ length: 31 }, (_, at) => [`key ${at}`, "x"]));

describe.each(entryPoints)("the errors of the v2 family, $name", (entryPoint) => {
  const service = useService({ entryPoint });

  it.each<[number, string, string, string, unknown, Record<string, string>]>([
    [400, "identifiers missing", "POST", "/v2/contacts", { firstName: "Alan", listIds: [] }, {}],
    [
      400,
      "a field invalid",
      "POST",
      "/v2/contacts",
      { ...v2Contact(), identifiers: [{ type: "fax", id: "1", channels: {}, consent }] },
      {},
    ],
    [400, "page invalid", "GET", "/v2/lists?page=-1", undefined, {}],
    [400, "limit invalid", "GET", "/v2/lists?limit=-1", undefined, {}],
    [401, "key missing", "GET", "/v2/lists", undefined, { "service-api-key": "" }],
    [401, "key invalid", "POST", "/v2/contacts", v2Contact(), { "service-api-key": "stranger" }],
    [401, "app id missing", "GET", "/v2/lists", undefined, { "service-app-id": "" }],
    [401, "app id invalid", "GET", "/v2/lists", undefined, { "service-app-id": "stranger" }],
  ])("%i: %s, with status error and a message", async (status, _, method, path, body, headers) => {
    const response = await service.send(method, path, body, headers);

    expect(response.status).toBe(status);
    expect(response.body).toEqual({ status: "error", message: expect.any(String) });
  });

  it("500: an unexpected error of the server has the same body, which the client passes on", async () => {
    service.mock.addFault({ kind: "500-before" });
    const error = await errorOf(service.clientWith({ maxRetries: 0 }).v2.contacts.upsert(v2Contact()));

    expect(error).toBeInstanceOf(ServerError);
    expect(error).toMatchObject({
      status: 500,
      body: { status: "error", message: expect.any(String) },
      outcome: "unknown",
    });
    expect(service.contact("alan@example.com")).toBeUndefined();
  });
});

describe.each(entryPoints)("the errors of the v1 family, $name", (entryPoint) => {
  const service = useService({ entryPoint });

  it.each<[number, string, string, string, unknown, Record<string, string>]>([
    [
      400,
      "unrecognized field",
      "POST",
      "/api/v1/customer/create",
      { email: "new@example.com", firstName: "New" },
      {},
    ],
    [400, "neither e-mail nor phone", "POST", "/api/v1/customer/create", { first_name: "New" }, {}],
    [
      400,
      "more than 30 custom properties",
      "POST",
      "/api/v1/customer/create",
      { email: "new@example.com", custom_properties: tooMany },
      {},
    ],
    [
      400,
      "wrapped body",
      "POST",
      "/api/v1/contact-groups/news/contacts",
      { contact: { email: "new@example.com" } },
      {},
    ],
    [400, "array body", "POST", "/api/v1/contact-groups/news/contacts", [{ email: "new@example.com" }], {}],
    [401, "key missing", "GET", "/api/v1/customer", undefined, { "x-api-key": "" }],
    [401, "key invalid", "POST", "/api/v1/events", {}, { "x-api-key": "stranger" }],
    [404, "no contact has the id", "GET", "/api/v1/customer/nobody", undefined, {}],
    [
      404,
      "no list has the id",
      "POST",
      "/api/v1/contact-groups/nothing/contacts",
      { email: "ada@example.com" },
      {},
    ],
  ])("%i: %s", async (status, _, method, path, body, headers) => {
    const response = await service.send(method, path, body, headers);

    expect(response.status).toBe(status);
    expect(service.contact("new@example.com")).toBeUndefined();
  });
});

describe.each(v1ErrorBodies)("a v1 error whose body is %s", (v1Error) => {
  const service = useService({ variants: { v1Error } });

  it("has its class and status for any body, and the unchanged body", async () => {
    const error = await errorOf(service.audience.v1.customers.get("nobody"));
    const { body } = await service.send("GET", "/api/v1/customer/nobody");

    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({ status: 404, code: "not_found", outcome: "not-applied" });
    const shown = error instanceof ApiError ? error.body : "no ApiError";
    expect(shown === undefined ? "" : shown).toEqual(body);
  });
});

describe("an exceeded rate limit", () => {
  const service = useService({
    rateLimits: [{ limit: 1, intervalMs: 60_000 }],
    client: { rateLimiter: false, maxRetries: 0 },
  });

  it("429, which is not documented, is a RateLimitError with the time to wait", async () => {
    await service.audience.v1.customers.get("ada");
    const error = await errorOf(
      service.audience.v1.customers.upsert({ email: "new@example.com", email_opt_in: "SUBSCRIBED" }),
    );

    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({ status: 429, outcome: "not-applied", retryAfterMs: expect.any(Number) });
    expect(service.contact("new@example.com")).toBeUndefined();
  });
});

describe("an exceeded rate limit, where the service responds 503", () => {
  const limits = [{ limit: 1, intervalMs: 60_000 }];
  const service = useService({
    rateLimits: limits,
    variants: { rateLimitStatus: 503 },
    client: { rateLimiter: false, maxRetries: 0 },
  });

  it("is a ServerError with the same wait", async () => {
    await service.audience.v1.customers.get("ada");
    const error = await errorOf(service.audience.v1.customers.get("ada"));

    expect(error).toBeInstanceOf(ServerError);
    expect(error).toMatchObject({ status: 503, retryAfterMs: expect.any(Number) });
  });
});
