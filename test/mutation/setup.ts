import { afterEach, vi } from "vitest";

// The limiter of the process would count the calls of the files before.
Reflect.deleteProperty(globalThis, Symbol.for("audience-sdk.rate-limiter"));

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});
