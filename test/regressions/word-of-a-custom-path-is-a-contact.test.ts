import type { CustomRequest } from "audience-sdk";
import { expect, it } from "vitest";
import { createFixture, flushEventLoop, until } from "../bulk/fixture.ts";

/** Whether a second request of the form waits for the first one. */
async function waits(request: CustomRequest): Promise<boolean> {
  const responses: ((response: Response) => void)[] = [];
  const fetch = () => new Promise<Response>((resolve) => void responses.push(resolve));
  const { audience } = createFixture({}, { fetch, rateLimiter: false });
  const calls = [audience.v1.request(request), audience.v1.request(request)];
  await until(() => responses.length > 0);
  await flushEventLoop();
  const isWaiting = responses.length === 1;
  responses[0]!(Response.json({}));
  await until(() => responses.length === 2);
  responses[1]!(Response.json({}));
  await Promise.all(calls);
  return isWaiting;
}

it.each([
  ["POST", "/api/v1/customer/update", false],
  ["POST", "/api/v1/customer/create/", false],
  ["PUT", "/api/v1/customer/upsert", false],
  ["GET", "/api/v1/customer/0190c2f7-5f34", false],
  ["PATCH", "/api/v1/customer/0190c2f7-5f34", true],
  ["POST", "/api/v1/customer/0190c2f7-5f34/notes", true],
] as const)("%s %s takes part in the order of writes to a contact: %s", async (method, path, isWrite) => {
  expect(await waits({ method, path })).toBe(isWrite);
});
