import {
  createMockService,
  type MockFault,
  type MockListenOptions,
  type MockServiceOptions,
} from "audience-sdk/mock";
import { mswHandlers, type MswHandlersOptions } from "audience-sdk/mock/msw";
import { describe, it } from "vitest";
import { hostileMessage } from "./build-value.ts";
import { tryEntryPoint } from "./try-entry-point.ts";
import { validEvent, validV1Contact, validV2Contact } from "./valid-inputs.ts";

/** The mock copies up to a million values, and runs in no production process. */
const ofMock = { allowedError: "a TypeError", longestMs: 500 } as const;

const validOptions: MockServiceOptions = {
  organizations: [
    {
      id: "organization",
      apiKeys: ["key"],
      apiKeysV2: ["key-v2"],
      appId: "app",
      lists: [{ id: "list-1", name: "Newsletter", type: "LIST", description: "d", created_at: 5 }],
      contacts: [{ ...validSeed(), id: "contact-1", lists: ["list-1"], created: "2026-01-31T09:30:00.000Z" }],
      automations: [
        { name: "welcome", on: { event: "signed_up" } },
        { name: "joined", on: { listId: "list-1" } },
      ],
      welcomeFlow: true,
    },
  ],
  rateLimits: {
    windows: [{ limit: 1_000, intervalMs: 1_000 }],
    algorithm: "fixed",
    retryAfter: "date",
    phaseMs: 3,
  },
  faults: [{ kind: "429", operation: "v1.events.send", times: 1, after: 1, probability: 0.5, retryAfter: 1 }],
  latencyMs: [0, 1],
  clock: () => 1_000,
  seed: 7,
  variants: {
    v1List: "array",
    v1Error: "errors",
    eventStatus: 202,
    eventBody: { ok: true },
    permissions: { key: ["v1.events.send"] },
  },
};

function validSeed() {
  const { email, phone, email_opt_in } = validV1Contact;
  return { email, phone, email_opt_in, custom_properties: { plan: "gold", seats: 5 } };
}

function isReset(error: unknown): boolean {
  return error instanceof TypeError && error.message === "fetch failed";
}

/** One request of each family and a response of each kind: the mock responds for any options. */
async function use(options: unknown): Promise<void> {
  const mock = createMockService(options as MockServiceOptions);
  const { baseUrl, baseUrlV2, apiKey, apiKeyV2 = apiKey, appId } = mock.clientOptions;
  const v1 = { "x-api-key": apiKey, "content-type": "application/json" };
  const v2 = { "service-api-key": apiKeyV2, "service-app-id": appId, "content-type": "application/json" };
  // A fault may make it hang or respond late.
  const ask = async (url: string, init: RequestInit) => {
    const signal = AbortSignal.timeout(20);
    await mock.fetch(url, { ...init, signal }).catch((error: unknown) => {
      if (!signal.aborted && !isReset(error)) throw error;
    });
  };
  const post = (url: string, headers: Record<string, string>, body: unknown) =>
    ask(url, { method: "POST", headers, body: JSON.stringify(body) });
  for (let round = 0; round < 2; round++) {
    await post(`${baseUrl}/api/v1/customer/create`, v1, validV1Contact);
    await post(`${baseUrl}/api/v1/events`, v1, validEvent);
    await post(`${baseUrl}/api/v1/contact-groups/list-1/contacts`, v1, { email: "bo@example.com" });
    await ask(`${baseUrl}/api/v1/customer`, { headers: v1 });
    await ask(`${baseUrl}/api/v1/contact-groups/list-1`, { headers: v1 });
    await post(`${baseUrlV2}/v2/contacts`, v2, validV2Contact);
    await ask(`${baseUrlV2}/v2/lists`, { headers: v2 });
    mock.organization(apiKey);
    mock.reset();
  }
}

it("For any options, the mock responds or throws a TypeError", async () => {
  await tryEntryPoint({ act: use, valid: [[validOptions]], ...ofMock }, 300);
});

it("For any value of one option, the mock responds or throws a TypeError", async () => {
  for (const name of Object.keys(validOptions)) {
    const act = (value: unknown) => use({ ...validOptions, faults: undefined, latencyMs: 0, [name]: value });
    const valid = Reflect.get(validOptions, name) as unknown;
    await tryEntryPoint({ act, valid: [[valid]], ...ofMock }, 60);
  }
});

describe("For any arguments, a function of the mock returns its value or throws a TypeError", () => {
  it("addFault", async () => {
    const mock = createMockService();
    const act = async (fault: unknown) => {
      mock.reset();
      mock.addFault(fault as MockFault);
    };
    const valid = [{ kind: "slow-body", operation: "v1.events.send", times: 1, delayMs: 5, location: "x" }];
    await tryEntryPoint({ act, valid: [valid], ...ofMock }, 200);
  });

  it("organization", async () => {
    const mock = createMockService();
    const act = (id: unknown) => mock.organization(id as string);
    await tryEntryPoint({ act, valid: [["mock-organization"]], ...ofMock }, 200);
  });

  it("fetch", async () => {
    const mock = createMockService();
    const valid = [
      ["https://audience-mock.example/api/v1/customer/create", { url: "x", method: "GET" }],
      [{ method: "POST", headers: { "x-api-key": "mock-api-key-not-a-secret" }, body: "{}" }],
    ];
    // The reason of an aborted signal is passed on.
    const act = (input: unknown, init: unknown) =>
      mock.fetch(input as string, init as RequestInit).catch((error: unknown) => {
        if (error !== hostileMessage) throw error;
      });
    await tryEntryPoint({ act, argumentCount: 2, valid, ...ofMock }, 200);
  });

  it("listen", async () => {
    const act = async (options: unknown) => {
      const listener = await createMockService().listen(options as MockListenOptions);
      await listener.close();
    };
    await tryEntryPoint({ act, valid: [[{ port: 0 }]], ...ofMock }, 60);
  });

  it("mswHandlers", async () => {
    const mock = createMockService();
    const act = (given: unknown, options: unknown) =>
      mswHandlers(given as typeof mock, options as MswHandlersOptions).length;
    const valid = [[mock], [{ baseUrl: "https://a.example", baseUrlV2: "https://b.example/" }]];
    await tryEntryPoint({ act, argumentCount: 2, valid, ...ofMock }, 200);
    await tryEntryPoint({ act: (options) => act(mock, options), valid: [valid[1] ?? []], ...ofMock }, 200);
  });
});
