import { afterEach, vi } from "vitest";

// What the process keeps would be that of the files before.
for (const name of ["rate-limiter", "consent-registry", "rate-limit-off"])
  Reflect.deleteProperty(globalThis, Symbol.for(`audience-sdk.${name}`));

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});
