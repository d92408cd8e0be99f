import { lane } from "../vitest.config.ts";
import { newestLibraries } from "./setup.ts";

const testsOf = (...folders: string[]) => folders.map((folder) => `test/${folder}/**/*.test.ts`);

// What runs through a library, with the newest of each: npm run newest
export default lane({
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
});
