import { mergeConfig } from "vitest/config";
import suite from "../vitest.config.ts";

const { projects: _, ...test } = suite.test ?? {};

// The packed package with each supported zod: npm run oldest
export default mergeConfig(
  { ...suite, test },
  { test: { include: ["test/oldest/**/*.test.ts"], globalSetup: "test/oldest/setup.ts" } },
);
