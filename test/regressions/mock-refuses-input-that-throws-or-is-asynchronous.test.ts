import { createMockService, type MockFault, type MockServiceOptions } from "audience-sdk/mock";
import { mswHandlers } from "audience-sdk/mock/msw";
import { expect, it, onTestFinished } from "vitest";

it("an asynchronous clock that rejects is refused, and its rejection is handled", async () => {
  const unhandled: unknown[] = [];
  const record = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", record);
  onTestFinished(() => void process.off("unhandledRejection", record));
  const clock = async () => {
    throw new Error("no time");
  };

  expect(() => createMockService({ clock } as unknown as MockServiceOptions)).toThrow(
    new TypeError("clock must be a function that returns milliseconds"),
  );
  await new Promise(setImmediate);
  expect(unhandled).toEqual([]);
});

it("a fault with a getter that throws is refused with a message of the mock", () => {
  const kind = new Proxy(() => {}, {
    get() {
      throw new Error("thrown by the input");
    },
  });
  expect(() => createMockService().addFault({ kind } as unknown as MockFault)).toThrow(TypeError);
});

it("the mock's fetch reads no option that a request does not have", async () => {
  const { fetch, clientOptions, requests } = createMockService();
  const read: unknown[] = [];
  const init = new Proxy(
    { method: "GET" },
    {
      get: (target, name): unknown => {
        read.push(name);
        return Reflect.get(target, name);
      },
      ownKeys: () => {
        throw new Error("counts its ten million keys");
      },
    },
  );
  await fetch(`${clientOptions.baseUrl}/api/v1/customer/nobody`, init);
  expect(read).toContain("method");
  expect(requests).toMatchObject([{ method: "GET", status: 401 }]);
});

it.each<[kind: string, given: object]>([
  ["a Promise", Promise.resolve({ seed: 7 })],
  ["an AbortSignal", AbortSignal.abort()],
  ["a Map", new Map([["seed", 7]])],
])("mock options that are %s are refused", async (_kind, given) => {
  const mock = createMockService();
  expect(() => createMockService(given)).toThrow(
    new TypeError("the options of the mock must be a plain object"),
  );
  expect(() => mswHandlers(mock, given)).toThrow(
    new TypeError("the options of mswHandlers must be a plain object"),
  );
  await expect(mock.listen(given)).rejects.toThrow(
    new TypeError("the options of listen must be a plain object"),
  );
});
