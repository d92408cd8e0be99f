import { lane } from "../vitest.config.ts";

// The packed package, installed in an empty folder: npm run package
export default lane({
  test: {
    include: ["test/package/**/*.test.ts"],
    globalSetup: "test/package/installation.ts",
    // Also in a check that wants the coverage of the suite: nothing of `src` runs here.
    coverage: { enabled: false },
  },
});
