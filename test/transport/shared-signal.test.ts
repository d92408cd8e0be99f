import { getEventListeners } from "node:events";
import { expect, it, vi } from "vitest";
import { onAbort } from "../../src/transport/abort.ts";

const listeners = (signal: AbortSignal): number => getEventListeners(signal, "abort").length;

it("a signal carries one listener, however many wait on it", () => {
  const { signal } = new AbortController();
  for (let call = 0; call < 100; call += 1) onAbort(signal, () => {});
  expect(listeners(signal)).toBe(1);
});

it("10,000 calls on one signal that lives on leave no listener", () => {
  const { signal } = new AbortController();
  const forgets = Array.from({ length: 10_000 }, () => onAbort(signal, () => {}));
  expect(listeners(signal)).toBe(1);
  for (const forget of forgets) forget();
  expect(listeners(signal)).toBe(0);
});

it("a signal whose listener was taken away is listened to again", () => {
  const controller = new AbortController();
  onAbort(controller.signal, () => {})();
  const callback = vi.fn();
  onAbort(controller.signal, callback);
  controller.abort();
  expect(callback).toHaveBeenCalledOnce();
});

it("everybody who waits is called once, in order, and nobody who left", () => {
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

it("one function that waits twice is called once, and has left when it leaves once", () => {
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

it("on a signal that is aborted already the callback runs at once", () => {
  const callback = vi.fn();
  onAbort(AbortSignal.abort(), callback)();
  expect(callback).toHaveBeenCalledOnce();
});

it("a callback that throws leaves nobody waiting, and its error surfaces", async () => {
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
