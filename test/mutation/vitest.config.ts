import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import rules from "../vitest.config.ts";

// Like the project `alone` of the suite, with only the tests of the mutated area.
export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  resolve: rules.resolve ?? {},
  test: {
    include: (process.env["MUTATION_TESTS"] ?? "").split(" "),
    // A mutant that hangs must fail here: Stryker's own timeout would end the whole worker.
    testTimeout: 15_000,
    restoreMocks: true,
    isolate: false,
    setupFiles: "test/mutation/setup.ts",
  },
});
