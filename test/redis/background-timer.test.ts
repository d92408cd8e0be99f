import { afterEach, expect, it, vi } from "vitest";
import { inBackground } from "../../src/redis/background-timer.ts";

afterEach(() => void vi.useRealTimers());

it("What happens in the background keeps no process alive", () => {
  const setTimeout = vi.spyOn(globalThis, "setTimeout");
  const callOff = inBackground(60_000, () => {});
  const timer = setTimeout.mock.results[0]!.value as NodeJS.Timeout; // what it gave
  expect(timer.hasRef()).toBe(false);
  callOff();
});

it("It happens once, after its delay, and not at all once it is called off", () => {
  vi.useFakeTimers();
  const log: string[] = [];
  inBackground(100, () => log.push("happened"));
  const callOff = inBackground(100, () => log.push("was called off"));
  callOff();
  vi.advanceTimersByTime(99);
  expect(log).toEqual([]);
  vi.advanceTimersByTime(1_000);
  expect(log).toEqual(["happened"]);
});

it.each([1, null])("A handle that is no object is left alone (%s)", (handle) => {
  vi.spyOn(globalThis, "setTimeout").mockReturnValue(handle as never); // what other runtimes give
  expect(() => inBackground(100, () => {})).not.toThrow();
});
