import { mergeConfig } from "vitest/config";
import suite from "../vitest.config.ts";

const { projects: _, ...test } = suite.test ?? {};

// The long runs: npm run soak
export default mergeConfig(
  { ...suite, test },
  {
    test: {
      include: [
        "test/soak/**/*.test.ts",
        "test/properties/**/*.test.ts",
        "test/examples/importer-consent.test.ts",
        "test/rate-limiter/within-limits-of-an-hour.test.ts",
      ],
      env: { SOAK: "true" },
      testTimeout: 600_000,
      reporters: ["verbose"],
    },
  },
);
