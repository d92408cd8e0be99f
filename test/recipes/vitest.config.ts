import { mergeConfig } from "vitest/config";
import suite from "../vitest.config.ts";

const { projects: _, ...test } = suite.test ?? {};

// The recipes in their frameworks, with the packed package: npm run recipes
export default mergeConfig(
  { ...suite, test },
  {
    test: {
      include: ["test/recipes/**/*.test.ts"],
      globalSetup: "test/recipes/setup.ts",
      // A build of Next takes all cores of a small machine.
      testTimeout: 240_000,
      hookTimeout: 240_000,
    },
  },
);
