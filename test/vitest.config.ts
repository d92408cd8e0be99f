import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { mergeConfig, type ViteUserConfig } from "vitest/config";

const source = (path: string) => fileURLToPath(new URL(`../src/${path}`, import.meta.url));

// The folder where `.ci/run` wants the figures of each run.
const reports = process.env["TEST_REPORTS"];

const isCovered = process.env["TEST_COVERAGE"] !== undefined;

// Each in a process of its own: what replaces a module or asks what the whole process does, and what leaves
// timers behind, as a program that is killed does, or subscribers, as a guide's program does.
const alone = [
  "bulk/{file-checkpoint-lock-and-disk,workers}",
  "chaos/*",
  "examples/numbered",
  "project/snippets",
  "properties/nobody-who-left-is-subscribed",
  "rate-limiter/{clock-and-timers,cost-of-waiting,usage,waiting}",
  "transport/{abort,api-key,close,deadlines,random-values,tracing}",
].map((path) => `test/${path}.test.ts`);

// All others share the processes: with one for each, more than half of the time would go into starting them.
const notTogether = [
  ...["browser", "oldest", "package", "platforms", "recipes", "soak"].map((folder) => `test/${folder}/**`),
  ...alone,
];

const settings: ViteUserConfig = {
  root: fileURLToPath(new URL("..", import.meta.url)),
  resolve: {
    // The longest name first: an alias also matches the names that begin with it.
    alias: [
      { find: "audience-sdk/mock/msw", replacement: source("mock/msw.ts") },
      { find: "audience-sdk/mock", replacement: source("mock/index.ts") },
      { find: "audience-sdk/schemas", replacement: source("schemas.ts") },
      { find: "audience-sdk/redis", replacement: source("redis/redis-rate-limit-store.ts") },
      { find: "audience-sdk/checkpoint", replacement: source("checkpoint/file-checkpoint.ts") },
      { find: "audience-sdk/snapshot", replacement: source("snapshot/index.ts") },
      { find: /^audience-sdk$/, replacement: source("index.ts") },
    ],
  },
  test: {
    // Nothing here takes that long; a machine that is busy with other things does.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Many tests wait for sockets and child processes, so four workers keep two cores busy.
    maxWorkers: Math.max(4, availableParallelism()),
    restoreMocks: true,
    // The next run need not compile again what has not changed.
    experimental: { fsModuleCache: true },
    // `npm run coverage`, and in `.ci/run`: it takes hardly longer.
    coverage: {
      enabled: isCovered,
      include: ["src/**/*.ts"],
      // Run as a program of its own: test/mock starts it, and nothing in that process is counted here. The script of the page
      // runs in a browser: test/browser has its tests.
      exclude: [
        "src/mock/cli.ts",
        "src/mock/cli-messages.ts",
        "src/mock/command/**",
        "src/mock/page/script/**",
      ],
      reporter: ["text-summary", ["text", { skipFull: true }], ...(isCovered ? [] : ["html"])],
      // Where a line that no test runs could cost a consent, a row or a refusal, none may be missing. Elsewhere a branch that
      // no rule needs is no reason for a test.
      thresholds: {
        lines: 95,
        branches: 95,
        "src/{consent,rate-limiter/sliding-window-log,transport/retry-plan}.ts": {
          lines: 100,
          branches: 100,
        },
        "src/bulk/{run-record,fingerprint,refusals}.ts": { lines: 100 },
      },
    },
    reporters:
      reports === undefined
        ? ["default"]
        : ["default", ["json", { outputFile: join(reports, `${process.pid}.json`) }]],
  },
};

/** Other tests with the same settings, for a command of their own. */
export function lane(config: ViteUserConfig): ViteUserConfig {
  return mergeConfig(settings, config);
}

export default lane({
  test: {
    projects: [
      // Vitest runs them in the order of their names.
      {
        extends: true,
        test: { name: "alone", include: alone },
      },
      {
        extends: true,
        test: {
          name: "together",
          include: ["test/**/*.test.ts"],
          exclude: notTogether,
          isolate: false,
          setupFiles: "test/as-found.ts",
        },
      },
      {
        extends: true,
        // Read by the compiler and never run: what must not compile stands under `@ts-expect-error`.
        test: {
          name: "types",
          include: [],
          typecheck: {
            enabled: true,
            only: true,
            include: ["test/types/**/*.test-d.ts"],
            // Without the other tests: `npm run types` checks them.
            tsconfig: "test/types/tsconfig.json",
          },
        },
      },
    ],
  },
});
