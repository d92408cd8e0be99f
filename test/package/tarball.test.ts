import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { linksOf } from "../project/links.ts";
import { pages } from "../project/snippets.ts";
import { fileSizes, installedFiles, packagesOf, sourcesIn } from "./installed-files.ts";
import { installedPackage } from "./installed-package.ts";
import { runNode, tool } from "./run-program.ts";

const { tarball, consumer } = await installedPackage();
const installed = join(consumer, "node_modules");
/** All installed files but the build. */
const documents = [
  ...pages,
  "examples/guides/limits.svg",
  "examples/guides/mock-page.png",
  "CHANGELOG.md",
  "LICENSE",
  "package.json",
  "src/DECISIONS.md",
].sort();

describe("The published package", () => {
  it("holds the build and the documents, and no map, source or test", () => {
    const files = [...fileSizes(join(installed, "audience-sdk")).keys()];
    const built = files.filter((path) => path.startsWith("dist/"));

    expect(files.filter((path) => !path.startsWith("dist/")).sort()).toEqual(documents);
    expect(built.filter((path) => !/\.(js|cjs|d\.ts|d\.cts)$/.test(path))).toEqual([
      "dist/THIRD-PARTY-LICENSES.txt",
    ]);
  });

  it("holds nothing else of the repository", async () => {
    const repository = fileURLToPath(new URL("../..", import.meta.url));
    const run = promisify(execFile);
    const { stdout } = await run("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
      cwd: repository,
    });
    const report: Record<string, { files: { path: string }[] }> = JSON.parse(stdout);
    const paths = Object.values(report).flatMap(({ files }) => files.map(({ path }) => path));

    expect(paths.filter((path) => !path.startsWith("dist/")).sort()).toEqual(documents);
  });

  it.each(documents.filter((path) => path.endsWith(".md")))("holds all that %s links to", (page) => {
    const folder = join(installed, "audience-sdk");
    const targets = linksOf(page, readFileSync(join(folder, page), "utf8")).map((link) => link.split("#")[0]);

    expect(targets.filter((path = "") => !existsSync(join(folder, path)))).toEqual([]);
  });

  it("installs as two packages of at most 9 MB, without an install script", () => {
    const sizes = fileSizes(installed);
    const packages = [...sizes.keys()].filter((path) => /^(@[^/]+\/)?[^/.][^/]*\/package\.json$/.test(path));
    const bytes = [...sizes].reduce((sum, [path, size]) => (path.startsWith(".") ? sum : sum + size), 0);

    expect(packages.map((path) => path.replace("/package.json", "")).sort()).toEqual(["audience-sdk", "zod"]);
    expect(bytes).toBeLessThanOrEqual(9_000_000);
    expect(
      Object.keys(manifest.scripts).filter((name) => /^(pre|post)?install$|^prepare$/.test(name)),
    ).toEqual([]);
  });

  it("lists the version and the licence of each package whose code it holds", () => {
    const inside = packagesOf([...installedFiles(consumer, ".js").values()].flatMap(sourcesIn));
    const versions = inside.map((name) => {
      const { version }: { version: string } = JSON.parse(readFileSync(tool(`${name}/package.json`), "utf8"));
      return `${name} ${version}`;
    });
    const note = readFileSync(join(installed, "audience-sdk/dist/THIRD-PARTY-LICENSES.txt"), "utf8");
    const [, ...licences] = note.split(/^-{80}$/m).map((text) => text.trim());

    expect(inside).toContain("zod");
    expect(licences.map((text) => text.split("\n")[0])).toEqual(versions);
    for (const text of licences) expect(text).toMatch(/Copyright \(c\) .+Permission is hereby granted/s);
  });

  it("passes publint without a warning", async () => {
    const { messages, pkg } = await publint({ pack: { tarball: await arrayBuffer(tarball) }, strict: true });

    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });

  it("has the right declarations for every resolver that supports entries", async () => {
    const attw = tool("@arethetypeswrong/cli/dist/index.js");
    const { exitCode, stdout } = await runNode(
      consumer,
      attw,
      tarball,
      "--profile",
      "node16",
      "--no-emoji",
      "--no-color",
    );

    expect(exitCode, stdout).toBe(0);
  });
});

async function arrayBuffer(path: string): Promise<ArrayBuffer> {
  return new Blob([readFileSync(path)]).arrayBuffer();
}
