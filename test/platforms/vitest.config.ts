import { mergeConfig } from "vitest/config";
import suite from "../vitest.config.ts";

const { projects: _, ...test } = suite.test ?? {};

// The packed package on other platforms: npm run platforms
export default mergeConfig(
  { ...suite, test },
  {
    test: {
      include: ["test/platforms/**/*.test.ts"],
      globalSetup: "test/platforms/setup.ts",
    },
  },
);
