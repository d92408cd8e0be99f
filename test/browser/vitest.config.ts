import { mergeConfig } from "vitest/config";
import suite from "../vitest.config.ts";
import { canRunBrowser } from "./browser.ts";

const canRun = canRunBrowser();

const { projects: _, ...test } = suite.test ?? {};

// The page of the mock and the client in a real browser: npm run browser
export default mergeConfig(
  { ...suite, test },
  {
    test: {
      include: canRun ? ["test/browser/**/*.test.ts"] : [],
      passWithNoTests: !canRun,
      // One browser at a time.
      fileParallelism: false,
    },
  },
);
