import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import rules from "../vitest.config.ts";

// As the `rules` of the suite run, but only the tests of the area that is mutated.
export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  resolve: rules.resolve ?? {},
  test: {
    include: (process.env["MUTATION_TESTS"] ?? "").split(" "),
    // A mutant that waits for ever is to fail here: ended from outside, it would take the whole worker along.
    testTimeout: 5_000,
    restoreMocks: true,
  },
});
