import { fileURLToPath } from "node:url";
import { mergeConfig } from "vitest/config";
import suite from "../vitest.config.ts";

const { projects: _, ...test } = suite.test ?? {};

// All that reads by a schema, on the oldest zod that the package allows: npm run oldest
export default mergeConfig(
  { ...suite, test },
  {
    resolve: {
      alias: [
        {
          find: /^zod(?=\/|$)/,
          replacement: fileURLToPath(new URL("../../node_modules/zod-oldest", import.meta.url)),
        },
      ],
    },
    test: {
      include: [
        "test/schemas/**/*.test.ts",
        "test/document/**/*.test.ts",
        "test/fuzz/schemas.test.ts",
        "test/properties/two-readings-agree.test.ts",
        "test/oldest/**/*.test.ts",
      ],
    },
  },
);
