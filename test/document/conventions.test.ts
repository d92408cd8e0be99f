import { V1Client, V2Client } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { msw } from "../mock/entry-points.ts";
import { useService, v2Contact } from "./service.ts";

describe("JSON", () => {
  const service = useService();

  it("a request has a content type exactly when it has a body", async () => {
    const { v1, v2 } = service.audience;
    await v1.customers.upsert({ email: "new@example.com" });
    await v1.contactGroups.addContact("news", { email: "new@example.com", email_opt_in: "SUBSCRIBED" });
    await v1.events.send({ eventName: "x", contact: { email: "new@example.com" } });
    await v2.contacts.upsert(v2Contact());
    await v1.customers.get("ada");
    await v2.lists.list();

    const types = service.mock.requests.map(({ headers }) => headers["content-type"]?.split(";")[0]);
    expect(types).toEqual([...Array.from({ length: 4 }, () => "application/json"), undefined, undefined]);
  });

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

  it("any character arrives unchanged", async () => {
    const first_name = "Zoë \u{1f388} \u0000 \u2028 <b>&\"'\\ 日本語";
    await service.audience.v1.customers.upsert({ email: "new@example.com", first_name });

    expect(service.contact("new@example.com")?.first_name).toBe(first_name);
    expect(
      (await service.audience.v1.customers.upsert({ email: "new@example.com" })).attributes.first_name,
    ).toBe(first_name);
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
