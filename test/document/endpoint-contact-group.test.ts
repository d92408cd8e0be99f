import { AudienceClient, NotFoundError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { describe, expect, it } from "vitest";
import { entryPoints } from "../mock/entry-points.ts";
import { errorOf, expectNotSent, untyped, useService } from "./service.ts";

describe.each(entryPoints)("contactGroups.get, $name", (entryPoint) => {
  const service = useService({ entryPoint });

  it("sends no body, and returns the list", async () => {
    const group = await service.audience.v1.contactGroups.get("news");

    expect(group).toMatchObject({ id: "news", name: "Newsletter" });
    expect(service.mock.requests).toMatchObject([
      {
        operation: "v1.contactGroups.get",
        method: "GET",
        path: "/api/v1/contact-groups/news",
        query: {},
        headers: { "x-api-key": "acme-mock-key" },
        status: 200,
      },
    ]);
    expect(service.mock.requests[0]?.body).toBeUndefined();
  });

  it("returns a segment too", async () => {
    expect(await service.audience.v1.contactGroups.get("engaged")).toMatchObject({ id: "engaged" });
  });

  it("an unknown id is a NotFoundError", async () => {
    const error = await errorOf(service.audience.v1.contactGroups.get("a/b?c"));

    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({ status: 404, outcome: "not-applied" });
    expect(service.mock.requests).toMatchObject([
      { operation: "v1.contactGroups.get", path: "/api/v1/contact-groups/a%2Fb%3Fc" },
    ]);
  });

  it.each(["", "\t", ".", "..", null, undefined, 7])("the id %j is not sent", async (id) => {
    await expectNotSent(service, service.audience.v1.contactGroups.get(untyped(id)), "id");
  });
});

it("A response without a contact group is an UnexpectedResponseError", async () => {
  const audience = new AudienceClient({
    ...createMockService().clientOptions,
    fetch: async () => Response.json({ name: "Newsletter" }),
  });

  expect(await errorOf(audience.v1.contactGroups.get("news"))).toMatchObject({
    code: "unexpected_response",
    message: expect.stringContaining("its body holds no contact group with an id"),
    outcome: "not-applied",
    status: 200,
    body: { name: "Newsletter" },
  });
});

describe.each(["flat", "data", "resource"] as const)(
  "contactGroups.get where the response is %s",
  (v1Group) => {
    const service = useService({ variants: { v1Group } });

    it.each(["news", "engaged"])("%s yields its id", async (id) => {
      const group = await service.audience.v1.contactGroups.get(id);

      expect(group.id).toBe(id);
      expect(JSON.stringify(group)).toContain(id === "news" ? "Newsletter" : "Engaged");
    });
  },
);
