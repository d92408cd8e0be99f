import { lane } from "../vitest.config.ts";
import { canRunBrowser } from "./browser.ts";

const canRun = canRunBrowser();

// The page of the mock and the client in a real browser: npm run browser
export default lane({
  test: {
    include: canRun ? ["test/browser/**/*.test.ts"] : [],
    passWithNoTests: !canRun,
    // One browser at a time.
    fileParallelism: false,
  },
});
