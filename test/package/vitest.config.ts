import { mergeConfig } from "vitest/config";
import suite from "../vitest.config.ts";

const { projects: _, ...test } = suite.test ?? {};

// The packed package, installed in an empty folder: npm run package
export default mergeConfig(
  { ...suite, test },
  {
    test: {
      include: ["test/package/**/*.test.ts"],
      globalSetup: "test/package/installation.ts",
      // Also in a check that wants the coverage of the suite: nothing of `src` runs here.
      coverage: { enabled: false },
    },
  },
);
