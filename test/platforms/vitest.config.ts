import { lane } from "../vitest.config.ts";

// The packed package on other platforms: npm run platforms
export default lane({
  test: {
    include: ["test/platforms/**/*.test.ts"],
    globalSetup: "test/platforms/setup.ts",
  },
});
