import { createMockService, type MockServiceOptions } from "audience-sdk/mock";
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
