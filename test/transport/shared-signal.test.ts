import { getEventListeners } from "node:events";
import { expect, it, vi } from "vitest";
import { onAbort } from "../../src/transport/abort.ts";

const listeners = (signal: AbortSignal): number => getEventListeners(signal, "abort").length;

it("a signal has one listener for any number of waiting calls", () => {
  const { signal } = new AbortController();
  for (let call = 0; call < 100; call += 1) onAbort(signal, () => {});
  expect(listeners(signal)).toBe(1);
});

it("10,000 calls on one long-lived signal leave no listener behind", () => {
  const { signal } = new AbortController();
  const forgets = Array.from({ length: 10_000 }, () => onAbort(signal, () => {}));
  expect(listeners(signal)).toBe(1);
  for (const forget of forgets) forget();
  expect(listeners(signal)).toBe(0);
});

it("a signal whose listener was removed gets a new one", () => {
  const controller = new AbortController();
  onAbort(controller.signal, () => {})();
  const callback = vi.fn();
  onAbort(controller.signal, callback);
  controller.abort();
  expect(callback).toHaveBeenCalledOnce();
});

it("each registered callback is called once, in order, and a removed one is not", () => {
  const controller = new AbortController();
  const log: string[] = [];
  onAbort(controller.signal, () => log.push("first"));
  const forget = onAbort(controller.signal, () => log.push("left"));
  onAbort(controller.signal, () => log.push("second"));
  forget();
  forget();
  controller.abort();
  expect(log).toEqual(["first", "second"]);
  expect(listeners(controller.signal)).toBe(0);
});

it("a function that is registered twice is called once, and removed by one removal", () => {
  const controller = new AbortController();
  const callback = vi.fn();
  onAbort(controller.signal, callback);
  onAbort(controller.signal, callback);
  controller.abort();
  expect(callback).toHaveBeenCalledOnce();
  const other = new AbortController();
  onAbort(other.signal, callback);
  onAbort(other.signal, callback)();
  expect(listeners(other.signal)).toBe(0);
});

it("on an aborted signal the callback runs at once", () => {
  const callback = vi.fn();
  onAbort(AbortSignal.abort(), callback)();
  expect(callback).toHaveBeenCalledOnce();
});

it("a callback that throws does not stop the others, and its error is reported", async () => {
  const controller = new AbortController();
  const surfaced: unknown[] = [];
  const catchers = process.listeners("uncaughtException");
  process.removeAllListeners("uncaughtException");
  process.once("uncaughtException", (error) => surfaced.push(error));
  const callback = vi.fn();
  onAbort(controller.signal, () => {
    throw new Error("mine");
  });
  onAbort(controller.signal, callback);
  controller.abort();
  await new Promise((resolve) => setTimeout(resolve, 1));
  for (const catcher of catchers) process.on("uncaughtException", catcher);
  expect(callback).toHaveBeenCalledOnce();
  expect(surfaced).toMatchObject([{ message: "mine" }]);
});
