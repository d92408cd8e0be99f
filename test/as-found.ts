import { tracingChannel } from "node:diagnostics_channel";
import { afterAll, afterEach, expect, vi } from "vitest";
import { timersEnd } from "./timers-end.ts";

// For files of tests that share a process: each finds it as it was when it started, and leaves it so.

// The limiter of the process would count the calls of the files before.
Reflect.deleteProperty(globalThis, Symbol.for("audience-sdk.rate-limiters"));
// A run that a file before leaves behind would note the consents of this file.
Reflect.deleteProperty(globalThis, Symbol.for("audience-sdk.consent-registry"));
// One line for each process would be that of a file before.
Reflect.deleteProperty(globalThis, Symbol.for("audience-sdk.rate-limit-said"));

const found = state();

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});

afterAll(async () => {
  await timersEnd();

  // A call whose channel has subscribers fails by another way, with another stack.
  for (const name of ["audience-sdk:call", "audience-sdk:request"])
    expect(tracingChannel(name).hasSubscribers, `subscribers of ${name} that are left behind`).toBe(false);
  const left = state();

  for (const [name, value] of found) expect(left.get(name), `${name}, as this file leaves it`).toBe(value);
});

/** Globals and environment. Without globals that Node makes when they are first used. */
function state(): ReadonlyMap<string, unknown> {
  const globals = Object.entries(Object.getOwnPropertyDescriptors(globalThis))
    .map(([name, { value }]) => [name, value as unknown] as const)
    .filter(([, value]) => value !== undefined);
  return new Map([...globals, ...Object.entries(process.env)]);
}
