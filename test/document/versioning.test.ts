import { V1Client, V2Client } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { msw } from "../mock/entry-points.ts";
import { useService, v2Contact } from "./service.ts";

describe("the version", () => {
  const service = useService({ entryPoint: msw });

  it("is part of the path: /api/v1/ for the seven v1 calls, /v2/ for the two v2 calls", async () => {
    const { v1, v2 } = service.audience;
    await v1.customers.upsert({ email: "new@example.com" });
    await v1.customers.get("ada");
    await v1.customers.list();
    await v1.contactGroups.list();
    await v1.contactGroups.get("news");
    await v1.contactGroups.addContact("news", { email: "new@example.com", email_opt_in: "SUBSCRIBED" });
    await v1.events.send({ eventName: "x", contact: { email: "new@example.com" } });
    await v2.contacts.upsert(v2Contact());
    await v2.lists.list();

    expect(service.mock.requests.map(({ operation, method, path }) => [operation, method, path])).toEqual([
      ["v1.customers.upsert", "POST", "/api/v1/customer/create"],
      ["v1.customers.get", "GET", "/api/v1/customer/ada"],
      ["v1.customers.list", "GET", "/api/v1/customer"],
      ["v1.contactGroups.list", "GET", "/api/v1/contact-groups"],
      ["v1.contactGroups.get", "GET", "/api/v1/contact-groups/news"],
      ["v1.contactGroups.addContact", "POST", "/api/v1/contact-groups/news/contacts"],
      ["v1.events.send", "POST", "/api/v1/events"],
      ["v2.contacts.upsert", "POST", "/v2/contacts"],
      ["v2.lists.list", "GET", "/v2/lists"],
    ]);
    expect(service.mock.requests.every(({ applied, method }) => applied === (method === "POST"))).toBe(true);
  });

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

  it("the families are separate: each has its own client, without the settings of the other", async () => {
    const { baseUrl, baseUrlV2, apiKey, apiKeyV2 = apiKey, appId } = service.options;
    const v1 = new V1Client({ baseUrl, apiKey, rateLimiter: false });
    const v2 = new V2Client({ baseUrlV2, apiKey: apiKeyV2, appId, rateLimiter: false });

    expect((await v1.customers.get("ada")).id).toBe("ada");
    expect(await v2.lists.list().toArray()).toHaveLength(2);
    await Promise.all([v1.close(), v2.close()]);
  });
});

describe("base addresses", () => {
  const variants = { baseUrl: "https://one.example/eu/audience", baseUrlV2: "https://two.example/gate" };
  const service = useService({ variants });

  it.each(["", "/"])("may differ per family, contain a path, and end in %j", async (end) => {
    const audience = service.clientWith({
      baseUrl: variants.baseUrl + end,
      baseUrlV2: variants.baseUrlV2 + end,
    });
    await audience.v1.customers.get("ada");
    await audience.v2.lists.list();

    expect(service.mock.requests.map(({ path, status }) => [path, status])).toEqual([
      ["/eu/audience/api/v1/customer/ada", 200],
      ["/gate/v2/lists", 200],
    ]);
  });
});
