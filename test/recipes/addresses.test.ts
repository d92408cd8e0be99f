import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chdir, cwd } from "node:process";
import { DOCUMENTED_WINDOWS, write } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { senderOf, sendersOf } from "../../examples/recipes/addresses/senders.ts";

const speed = 5;
const people = Array.from({ length: 120 }, (_, order) => ({
  id: `${order}`,
  email: `person${order}@example.com`,
}));

// The mock counts by the address of the peer, and loopback has many.
async function openMock() {
  const windows = DOCUMENTED_WINDOWS.map(({ limit, intervalMs }) => ({
    limit,
    intervalMs: intervalMs / speed,
  }));
  const mock = createMockService({ rateLimits: { windows } });
  const { clientOptions, close } = await mock.listen();
  onTestFinished(close);
  const { baseUrl, apiKey } = clientOptions;
  return { mock, options: { baseUrl, apiKey } };
}

beforeEach(async () => {
  const [folder, before] = [await mkdtemp(join(tmpdir(), "addresses-")), cwd()];
  chdir(folder);
  vi.stubEnv("AUDIENCE_RATE_LIMIT", `${speed}x`);
  onTestFinished(async () => {
    chdir(before);
    await rm(folder, { recursive: true });
  });
});
afterEach(() => void vi.unstubAllEnvs());

async function send(addresses: readonly string[]) {
  const { mock, options } = await openMock();
  const senders = sendersOf(addresses, { ...options, maxRetries: 0 });
  const runs = senders.map(({ audience, checkpoint }, index) =>
    audience.bulk(
      people.filter(({ id }) => senderOf(senders, id) === senders[index]),
      ({ email }) => write.v1.customers.upsert({ email, email_opt_in: "SUBSCRIBED" }),
      { key: ({ id }) => id, checkpoint },
    ),
  );
  const summaries = await Promise.all(runs);
  await Promise.all(senders.map(({ audience }) => audience.close()));
  return { mock, totals: summaries.map(({ total }) => total) };
}

it("each address has a limit of its own, and a person one address", async () => {
  const { mock, totals } = await send(["127.0.0.1", "127.0.0.2", "127.0.0.3"]);

  expect(mock.requests.filter(({ status }) => status === 429)).toEqual([]);
  expect(mock.organization("mock-organization").contacts).toHaveLength(120);
  expect(totals.reduce((sum, total) => sum + total, 0)).toBe(120);
  expect(Math.min(...totals)).toBeGreaterThan(25);
});
