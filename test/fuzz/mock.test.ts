import {
  createMockService,
  everyFault,
  type EveryFaultOptions,
  FaultFound,
  type MockFault,
  type MockListenOptions,
  type MockService,
} from "audience-sdk/mock";
import { mswHandlers, type MswHandlersOptions } from "audience-sdk/mock/msw";
import { describe, it } from "vitest";
import { hostileMessage } from "./build-value.ts";
import { tryEntryPoint } from "./try-entry-point.ts";

/** The mock runs in no production process. */
const ofMock = { allowedError: "a TypeError", longestMs: 500 } as const;

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

  it("unsubscribe and confirm", async () => {
    const contacts = [{ email: "ada@example.com", double_opt_in: true }];
    const mock = createMockService({ organizations: [{ id: "acme", apiKeys: ["k"], appId: "a", contacts }] });
    const options = { channel: "email", organization: "acme" };
    const unsubscribe = (person: unknown, given: unknown) =>
      mock.unsubscribe(person as string, given as object);
    const confirm = (person: unknown, given: unknown) => mock.confirm(person as string, given as object);
    for (const act of [unsubscribe, confirm])
      await tryEntryPoint({ act, argumentCount: 2, valid: [["ada@example.com", options]], ...ofMock }, 200);
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
    await tryEntryPoint({ act, valid: [[{ port: 0, allowHosts: ["mock.test"] }]], ...ofMock }, 60);
  });

  it("everyFault and FaultFound", async () => {
    const own = (error: unknown) => {
      if (!String(error).includes(hostileMessage)) throw error;
    };
    const kinds = ["500-before"] as const;
    const job = (mock: MockService) => mock.fetch("https://audience-mock.example/");
    const run = (given: unknown, options: unknown) =>
      everyFault(given as typeof job, options as EveryFaultOptions).catch(own);
    const construct = (...given: unknown[]) => {
      try {
        const made: unknown = Reflect.construct(FaultFound, given);
        return made;
      } catch (error) {
        return own(error);
      }
    };
    const request = { number: 1, operation: "v1.events.send", route: "POST /api/v1/events" };
    const valid = [[job], [{ kinds, mock: { seed: 7 } }]];
    await tryEntryPoint({ act: run, argumentCount: 2, valid, ...ofMock }, 200);
    await tryEntryPoint(
      { act: construct, argumentCount: 3, valid: [kinds, [request], [new Error("c")]], ...ofMock },
      200,
    );
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
