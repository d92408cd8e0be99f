// npm run mutate [-- --mutate src/pagination/**] [--concurrency 2] [--static]
import { parseArgs } from "node:util";
import { Stryker } from "@stryker-mutator/core";
import { sourceFiles } from "../project/source-files.ts";
import { areas, testFiles, type Area } from "./areas.ts";

const { values, positionals } = parseArgs({
  // A shell may have expanded a pattern already.
  allowPositionals: true,
  options: {
    mutate: { type: "string", multiple: true, default: [] },
    concurrency: { type: "string", default: "2" },
    // The constants of a module too: each needs a run of all tests of its area.
    static: { type: "boolean", default: false },
  },
});

const wanted = [...values.mutate, ...positionals].flatMap((list) => list.split(","));
const files = [...sourceFiles("src").keys()];
const chosen = areas
  .map((area) => ({ area, files: files.filter((file) => areaOf(file) === area && isWanted(file)) }))
  .filter((each) => each.files.length > 0);
if (chosen.length === 0) throw new Error(`No file that is mutated fits ${wanted.join(", ")}.`);

for (const { area, files: mutate } of chosen) {
  console.log(`\n=== ${area.name}: ${mutate.length} files`);
  // Read by `vitest.config.ts` beside this file, in the processes that Stryker starts.
  process.env["MUTATION_TESTS"] = testFiles(area).join(" ");
  // Below the lowest score it sets the exit code. An area that cannot be run does not stop the others.
  const run = new Stryker({
    mutate,
    testRunner: "vitest",
    plugins: ["@stryker-mutator/vitest-runner"],
    vitest: { configFile: "test/mutation/vitest.config.ts", related: false },
    coverageAnalysis: "perTest",
    ignoreStatic: !values.static,
    ignorePatterns: ["dist", "docs", "coverage", "reports"],
    concurrency: Number(values.concurrency),
    timeoutMS: 20_000,
    incremental: true,
    incrementalFile: `reports/mutation/${area.name}.incremental.json`,
    reporters: ["clear-text", "progress-append-only", "html"],
    clearTextReporter: { logTests: false, allowColor: false },
    htmlReporter: { fileName: `reports/mutation/${area.name}.html` },
    thresholds: { high: 100, low: 90, break: 90 },
    allowEmpty: false,
    disableTypeChecks: true,
  });
  await run.runMutationTest().catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  });
}

/** The first area that names the file. */
function areaOf(file: string): Area | undefined {
  return areas.find(({ sources }) =>
    sources.some((source) => file === `src/${source}` || file.startsWith(`src/${source}/`)),
  );
}

function isWanted(file: string): boolean {
  return wanted.length === 0 || wanted.some((pattern) => matches(file, pattern));
}

/** Whether a path matches a pattern: `*` matches within a folder, `**` across folders. */
function matches(path: string, pattern: string): boolean {
  const parts = pattern.split("**").map((part) => part.split("*").map(escape).join("[^/]*"));
  return new RegExp(`^${parts.join(".*")}$`).test(path);
}

function escape(text: string): string {
  return text.replace(/[.+?^${}()|[\]\\]/g, String.raw`\$&`);
}
