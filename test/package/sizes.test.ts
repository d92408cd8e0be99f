import { statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build, type BuildOptions, type OutputFile } from "esbuild";
import { describe, expect, it } from "vitest";
import { programs } from "./copy-programs.ts";
import { fileSizes } from "./installed-files.ts";
import { installedPackage } from "./installed-package.ts";
import { runNode } from "./run-program.ts";
import written from "./sizes.json" with { type: "json" };

const { tarball, consumer } = await installedPackage();
const installed = join(consumer, "node_modules");

/** In bytes. */
const sizes: Record<keyof typeof written, () => number | Promise<number>> = {
  packed: () => statSync(tarball).size,
  unpacked: () => sum(fileSizes(join(installed, "audience-sdk"))),
  // Without npm's own files.
  installed: () => sum([...fileSizes(installed)].filter(([path]) => !path.startsWith("."))),
  // A bundle, minified and compressed.
  client: () => compressed('export { AudienceClient } from "audience-sdk";'),
};

describe("The size in bytes is at most 2 % above that in sizes.json", () => {
  it.each(Object.entries(sizes))("%s", async (name, measure) => {
    const bound = written[name as keyof typeof written]; // one of its own keys

    expect(await measure()).toBeLessThanOrEqual(bound * 1.02);
  });
});

it("A bundle with the client, minified and compressed, is at most 100 kB, libraries included", async () => {
  expect(await sizes.client()).toBeLessThanOrEqual(100_000);
});

describe("Bundled into one file, the package runs", () => {
  it.each(["esm", "cjs"] as const)("as %s", async (format) => {
    const outfile = `bundle.${format === "esm" ? "mjs" : "cjs"}`;
    const [bundle] = await bundled(
      `import * as sdk from "audience-sdk";
       import * as mocking from "audience-sdk/mock";
       import * as schemas from "audience-sdk/schemas";
              import scenario from "./scenario.cjs";
       scenario.run({ sdk, mocking, schemas }).then((result) => console.log(JSON.stringify(result)));`,
      { format, platform: "node" },
    );
    await writeFile(join(consumer, outfile), bundle?.contents ?? "");
    const { stdout, stderr } = await runNode(consumer, outfile);

    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual(programs["scenario"]?.expected);
  });
});

const inOneFile: BuildOptions = { format: "esm", platform: "neutral" };

async function compressed(contents: string): Promise<number> {
  const [bundle] = await bundled(contents, inOneFile);
  return gzipSync(bundle?.contents ?? "", { level: 9 }).length;
}

/** The output of a user's bundler: minified for a page or a worker, and not for a server. */
async function bundled(contents: string, options: BuildOptions): Promise<OutputFile[]> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: consumer },
    bundle: true,
    minify: options.platform === "neutral",
    mainFields: ["module", "main"],
    conditions: ["import"],
    target: "es2022",
    external: ["node:*"],
    write: false,
    ...options,
  });
  return outputFiles ?? [];
}

function sum(files: Iterable<readonly [path: string, bytes: number]>): number {
  return [...files].reduce((total, [, bytes]) => total + bytes, 0);
}
