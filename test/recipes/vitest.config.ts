import { lane } from "../vitest.config.ts";

// The recipes in their frameworks, with the packed package: npm run recipes
export default lane({
  test: {
    include: ["test/recipes/**/*.test.ts"],
    globalSetup: "test/recipes/setup.ts",
    // A build of Next takes all cores of a small machine.
    testTimeout: 480_000,
    hookTimeout: 480_000,
  },
});
