import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";

it("the issue of an unknown key of a custom request says which keys there are, and names no other key", async () => {
  const mock = createMockService();
  const audience = new AudienceClient(mock.clientOptions);
  const path = "/api/v1/customer/create";
  const request = { method: "POST" as const, path, data: { email: "ada@example.com" }, headers: {} };
  const message = "unknown key: a request has method, path, query and body; options are the second argument";

  const call = audience.v1.request(request);

  await expect(call).rejects.toMatchObject({
    issues: [
      { path: ["data"], message },
      { path: ["headers"], message },
    ],
  });
  expect(mock.requests).toEqual([]);
});
