import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string) => fileURLToPath(new URL(`../src/${path}`, import.meta.url));

export default defineConfig({
  root: fileURLToPath(new URL("..", import.meta.url)),
  resolve: {
    // The longest name first: an alias also matches the names that begin with it.
    alias: [
      { find: "audience-sdk/mock/msw", replacement: source("mock/msw.ts") },
      { find: "audience-sdk/mock", replacement: source("mock/index.ts") },
      { find: "audience-sdk/schemas", replacement: source("schemas.ts") },
      { find: "audience-sdk/redis", replacement: source("redis/index.ts") },
      { find: "audience-sdk/checkpoint", replacement: source("checkpoint/index.ts") },
      { find: /^audience-sdk$/, replacement: source("index.ts") },
    ],
  },
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/soak/**"],
    testTimeout: 10_000,
    restoreMocks: true,
  },
});
