import { NotFoundError } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { entryPoints } from "../mock/entry-points.ts";
import { errorOf, expectNotSent, untyped, useService } from "./service.ts";

describe.each(entryPoints)("customers.get, $name", (entryPoint) => {
  const service = useService({ entryPoint });

  it("sends no body, and the key of the v1 family", async () => {
    await service.audience.v1.customers.get("ada");

    expect(service.mock.requests).toMatchObject([
      {
        operation: "v1.customers.get",
        method: "GET",
        path: "/api/v1/customer/ada",
        query: {},
        headers: { "x-api-key": "acme-mock-key" },
        status: 200,
        applied: false,
      },
    ]);
    expect(service.mock.requests[0]?.body).toBeUndefined();
    expect(service.mock.requests[0]?.headers).not.toHaveProperty("content-type");
  });

  it("returns the profile", async () => {
    const profile = await service.audience.v1.customers.get("ada");

    expect(profile).toMatchObject({
      type: "profile",
      id: "ada",
      attributes: { email: "ada@example.com", first_name: "Ada" },
    });
  });

  it("an unknown id is a NotFoundError after one request", async () => {
    const error = await errorOf(service.audience.v1.customers.get("nobody"));

    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({
      status: 404,
      outcome: "not-applied",
      request: { path: "/api/v1/customer/{id}", attempts: 1 },
    });
    expect(service.mock.requests).toHaveLength(1);
  });

  it.each(["create", "%E0%A4%A", "ada%2Fx"])("the service has no contact at %s", async (id) => {
    expect((await service.send("GET", `/api/v1/customer/${id}`)).status).toBe(404);
  });

  it.each(["a/b", "a?b=c", "a#b", "a b", "ä%2F", "../../v2/lists", "ada@example.com"])(
    "the id %j stays one part of the path",
    async (id) => {
      const error = await errorOf(service.audience.v1.customers.get(id));

      expect(error).toBeInstanceOf(NotFoundError);
      expect(service.mock.requests).toMatchObject([{ operation: "v1.customers.get", query: {} }]);
      expect(decodeURIComponent(service.mock.requests[0]?.path ?? "")).toBe(`/api/v1/customer/${id}`);
    },
  );

  it.each(["", " ", ".", "..", null, undefined, 7])("the id %j is not sent", async (id) => {
    await expectNotSent(service, service.audience.v1.customers.get(untyped(id)), "id");
  });
});
