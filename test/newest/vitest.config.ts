import { mergeConfig } from "vitest/config";
import suite from "../vitest.config.ts";
import { newestLibraries } from "./setup.ts";

const { projects: _, ...test } = suite.test ?? {};
const testsOf = (...folders: string[]) => folders.map((folder) => `test/${folder}/**/*.test.ts`);

// What runs through a library, with the newest of each: npm run newest
export default mergeConfig(
  { ...suite, test },
  {
    plugins: [newestLibraries],
    test: {
      globalSetup: "test/newest/setup.ts",
      projects: [
        { extends: true, test: { name: "alone", include: testsOf("transport") } },
        {
          extends: true,
          test: {
            name: "together",
            include: testsOf("document", "mock", "schemas"),
            isolate: false,
            setupFiles: "test/as-found.ts",
          },
        },
      ],
    },
  },
);
