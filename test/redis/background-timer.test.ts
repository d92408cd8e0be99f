import { afterEach, expect, it, vi } from "vitest";
import { inBackground } from "../../src/redis/background.ts";

afterEach(() => void vi.useRealTimers());

it("A background timer does not keep the process alive", () => {
  const setTimeout = vi.spyOn(globalThis, "setTimeout");
  clearTimeout(inBackground(60_000, () => {}));
  const timer = setTimeout.mock.results[0]!.value as NodeJS.Timeout; // the returned handle
  expect(timer.hasRef()).toBe(false);
});

it("A background task runs once after its delay, and never after it is cancelled", () => {
  vi.useFakeTimers();
  const log: string[] = [];
  inBackground(100, () => log.push("happened"));
  clearTimeout(inBackground(100, () => log.push("was called off")));
  vi.advanceTimersByTime(99);
  expect(log).toEqual([]);
  vi.advanceTimersByTime(1_000);
  expect(log).toEqual(["happened"]);
});

it.each([1, null])("A timer handle that is not an object is accepted (%s)", (handle) => {
  vi.spyOn(globalThis, "setTimeout").mockReturnValue(handle as never); // the handle of other runtimes
  expect(() => inBackground(100, () => {})).not.toThrow();
});
