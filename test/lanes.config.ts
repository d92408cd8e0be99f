import { defineConfig, type ViteUserConfig } from "vitest/config";
import { canRunBrowser } from "./browser/browser.ts";
import { newestLibraries } from "./newest/setup.ts";
import { lane } from "./vitest.config.ts";

const testsOf = (...folders: string[]) => folders.map((folder) => `test/${folder}/**/*.test.ts`);

/** The lanes with a set-up of their own, by the name of their folder and of their command. */
const lanes: Readonly<Record<string, () => NonNullable<ViteUserConfig["test"]>>> = {
  /** The packed package, installed in an empty folder. */
  package: () => ({ globalSetup: "test/package/installation.ts" }),
  /** The packed package on other platforms. */
  platforms: () => ({ globalSetup: "test/platforms/setup.ts" }),
  /** The packed package with each supported zod. */
  oldest: () => ({ globalSetup: "test/oldest/setup.ts" }),
  /** The page of the mock and the client in a real browser, one at a time. */
  browser: () => (canRunBrowser() ? { fileParallelism: false } : { include: [], passWithNoTests: true }),
  /** What runs through a library, with the newest of each. */
  newest: () => ({
    globalSetup: "test/newest/setup.ts",
    setupFiles: "test/as-found.ts",
    projects: [
      { extends: true, test: { name: "alone", include: testsOf("transport") } },
      {
        extends: true,
        test: { name: "together", include: testsOf("document", "mock", "schemas"), isolate: false },
      },
    ],
  }),
};

// The mode names the lane. A project inside it loads this file again, in a mode of its own.
export default defineConfig((given) => {
  const mode = (process.env["TEST_LANE"] ??= given.mode);
  // Another mode has no tests, so vitest fails.
  const own = lanes[mode]?.() ?? { include: [] };
  return lane({
    plugins: mode === "newest" ? [newestLibraries] : [],
    // Nothing of `src` runs in most of them, also in a check that wants the coverage of the suite.
    test: { coverage: { enabled: false }, include: testsOf(mode), ...own },
  });
});
