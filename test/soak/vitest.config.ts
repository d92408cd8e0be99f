import { mergeConfig } from "vitest/config";
import suite from "../vitest.config.ts";

const { projects: _, ...test } = suite.test ?? {};

// It measures a time, which the other runs would lengthen.
const measured = ["test/soak/bulk-checkpoint.test.ts"];

// The long runs: npm run soak
export default mergeConfig(
  { ...suite, test },
  {
    test: {
      env: { SOAK: "true" },
      testTimeout: 600_000,
      reporters: ["verbose"],
      projects: [
        { extends: true, test: { name: "alone", include: measured, sequence: { groupOrder: 0 } } },
        {
          extends: true,
          test: {
            name: "long",
            include: [
              "test/soak/**/*.test.ts",
              "test/properties/**/*.test.ts",
              "test/examples/importer-consent.test.ts",
              "test/rate-limiter/within-limits.test.ts",
              "test/redis/several-processes.test.ts",
            ],
            exclude: measured,
            sequence: { groupOrder: 1 },
          },
        },
      ],
    },
  },
);
