import { AudienceClient, ConfigurationError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { MemoryCheckpoint } from "../bulk/memory-checkpoint.ts";
import { failureOf } from "./failure.ts";

const contact = { email: "ada@example.com" };
const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

// A page without TLS has neither `randomUUID` nor `subtle`.
beforeEach(() => {
  const getRandomValues = crypto.getRandomValues.bind(crypto);
  vi.stubGlobal("crypto", { getRandomValues });
});
afterEach(() => void vi.unstubAllGlobals());

it("On an insecure origin every event has an identifier of its own, the same in each attempt", async () => {
  const mock = createMockService({ faults: [{ kind: "500-after", times: 1 }] });
  const { v1 } = new AudienceClient(mock.clientOptions);
  await v1.events.send({ eventName: "order placed", contact });
  await v1.events.send({ eventName: "order placed", contact });
  const sent = mock.requests.map(({ body }) => (body as { uniqueIdentifier: string }).uniqueIdentifier);

  expect(sent).toEqual([expect.stringMatching(UUID), sent[0], expect.stringMatching(UUID)]);
  expect(sent[2]).not.toBe(sent[0]);
  expect(mock.organization("mock-organization").events).toHaveLength(2);
});

it("On an insecure origin a call has an id for its hooks, and rows without a checkpoint are sent", async () => {
  const mock = createMockService();
  const ids: string[] = [];
  const hooks = { onResponse: ({ requestId }: { requestId: string }) => void ids.push(requestId) };
  const { v1, bulk } = new AudienceClient({ ...mock.clientOptions, hooks });
  const result = await bulk([contact], (row, request) =>
    v1.events.send({ eventName: "order placed", contact: row }, request),
  );

  expect(ids).toEqual([expect.stringMatching(UUID)]);
  expect(result).toMatchObject({ succeeded: 1 });
});

it("On an insecure origin a checkpoint is refused, with the reason", async () => {
  const mock = createMockService();
  const { v1, bulk } = new AudienceClient(mock.clientOptions);
  const checkpoint = new MemoryCheckpoint();
  const run = bulk([contact], (row, request) => v1.customers.upsert(row, request), { checkpoint });
  const error = await failureOf(run);

  expect(error).toBeInstanceOf(ConfigurationError);
  expect(error).toMatchObject({ message: expect.stringContaining("crypto.subtle") });
  expect(mock.requests).toEqual([]);
});
