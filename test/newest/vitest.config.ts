import { mergeConfig } from "vitest/config";
import suite from "../vitest.config.ts";
import { newestLibraries } from "./setup.ts";

const { projects: _, ...test } = suite.test ?? {};

// What runs through a library, with the newest of each: npm run newest
export default mergeConfig(
  { ...suite, test },
  {
    plugins: [newestLibraries],
    test: {
      include: ["document", "mock", "schemas", "transport"].map((folder) => `test/${folder}/**/*.test.ts`),
      globalSetup: "test/newest/setup.ts",
    },
  },
);
