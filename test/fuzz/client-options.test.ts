import {
  AudienceClient,
  ConfigurationError,
  isAudienceError,
  V1Client,
  V2Client,
  type ClientOptions,
} from "audience-sdk";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { offline, offlineFetch } from "../transport/fixture.ts";
import { tryEntryPoint } from "./try-entry-point.ts";

const silent = () => undefined;
const validOptions = {
  ...offline,
  apiKeyV2: "other-key-0123456789",
  timeoutMs: 1_000,
  deadlineMs: 2_000,
  maxResponseBytes: 1_000_000,
  rateLimiter: {
    windows: [{ limit: 1_000_000, intervalMs: 1_000 }],
    maxWaitMs: 0,
    maxQueued: 10,
  },
  parsePage: () => ({ items: [] }),
  headers: { "x-app": "1" },
  logger: { debug: silent, info: silent, warn: silent, error: silent },
  logLevel: "debug",
  hooks: { onRequest: silent, onResponse: silent, onRetry: silent, onThrottle: silent },
  userAgent: "app/1",
  allowInsecureHttp: false,
};
const valid = [[validOptions, offline]];

// An invalid option may lead to the global fetch, which must not reach the network.
beforeEach(() => void vi.stubGlobal("fetch", offlineFetch));

async function use(client: { v1: V1Client; v2: V2Client }): Promise<void> {
  // Options without a limiter use the process's default limiter, which these calls would exhaust.
  await client.v1.customers.get("contact-1", { maxWaitMs: 0 });
  await client.v2.lists.list({}, { maxWaitMs: 0 });
}

describe("For any options, the constructor returns a client that works or throws an SDK error", () => {
  it.each([
    ["AudienceClient", (options: unknown) => use(new AudienceClient(options as ClientOptions))],
    [
      "V1Client",
      (options: unknown) =>
        new V1Client(options as ClientOptions).customers.get("contact-1", { maxWaitMs: 0 }),
    ],
    [
      "V2Client",
      async (options: unknown) =>
        await new V2Client(options as ClientOptions).lists.list({}, { maxWaitMs: 0 }),
    ],
    [
      "withOptions",
      (options: unknown) => use(new AudienceClient(offline).withOptions(options as ClientOptions)),
    ],
  ])("%s", async (_, act) => {
    await tryEntryPoint({ act, valid }, 120);
  });

  it("for each single option", async () => {
    for (const name of Object.keys(validOptions)) {
      const act = (value: unknown) => use(new AudienceClient({ ...offline, [name]: value }));
      await tryEntryPoint({ act, valid: [Object.values(validOptions)] }, 15);
    }
  });
});

it("An option is read once: the validated value is the one that is used", () => {
  let reads = 0;
  const options = {
    ...offline,
    get maxRetries() {
      return reads++ === 0 ? 0 : "many";
    },
  };
  // A caller in JavaScript can pass this.
  const audience = new AudienceClient(options as ClientOptions);
  expect(reads).toBe(1);
  expect(() => audience.withOptions({ timeoutMs: 5 })).not.toThrow();
  expect(isAudienceError(new ConfigurationError("x"))).toBe(true);
});
