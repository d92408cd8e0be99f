import { mergeConfig } from "vitest/config";
import suite from "../vitest.config.ts";

const { projects: _, ...test } = suite.test ?? {};

// The page of the mock and the client in a real browser: npm run browser
export default mergeConfig(
  { ...suite, test },
  {
    test: {
      include: ["test/browser/**/*.test.ts"],
      globalSetup: "test/browser/setup.ts",
      // One browser at a time.
      fileParallelism: false,
    },
  },
);
