import { execFile } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { describe, expect, inject, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { linksOf, pages } from "../project/pages.ts";
import { bundle } from "./compile.ts";
import { fileSizes, installedFiles, packagesOf, sourcesIn } from "./installation.ts";
import { runNode, tool } from "./programs.ts";
import written from "./sizes.json" with { type: "json" };

const { tarball, consumer } = inject("installed");
const installed = join(consumer, "node_modules");
/** All installed files but the build: pages, and the recipes that they show in part. */
const documents = [
  ...pages,
  "examples/guides/limits.svg",
  "examples/guides/mock-page.png",
  "CHANGELOG.md",
  "LICENSE",
  "package.json",
  "src/DECISIONS.md",
  ...[...fileSizes(fileURLToPath(new URL("../../examples/recipes", import.meta.url))).keys()].map(
    (path) => `examples/recipes/${path}`,
  ),
].sort();

describe("The published package", () => {
  it("holds the build, the documents and the recipes, and no map, source or test", () => {
    const files = [...fileSizes(join(installed, "audience-sdk")).keys()];
    const built = files.filter((path) => path.startsWith("dist/"));

    expect(files.filter((path) => !path.startsWith("dist/")).sort()).toEqual(documents);
    expect(built.filter((path) => !/\.(js|cjs|d\.ts|d\.cts)$/.test(path))).toEqual([
      "dist/THIRD-PARTY-LICENSES.txt",
      "dist/sbom.cdx.json",
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

  it("installs as two packages, without an install script", () => {
    const packages = [...fileSizes(installed).keys()].filter((path) =>
      /^(@[^/]+\/)?[^/.][^/]*\/package\.json$/.test(path),
    );

    expect(packages.map((path) => path.replace("/package.json", "")).sort()).toEqual(["audience-sdk", "zod"]);
    expect(
      Object.keys(manifest.scripts).filter((name) => /^(pre|post)?install$|^prepare$/.test(name)),
    ).toEqual([]);
  });

  describe("names each package whose code it holds, with its version,", () => {
    const inside = packagesOf([...installedFiles(consumer, ".js", ".cjs").values()].flatMap(sourcesIn));
    const versions = Object.fromEntries(inside.map((name) => [name, manifestOf(tool(name)).version]));
    const read = (path: string) => readFileSync(join(installed, "audience-sdk", path), "utf8");

    it("in inlinedDependencies of package.json", () => {
      expect(inside).toContain("zod");
      expect(manifestOf(join(installed, "audience-sdk")).inlinedDependencies).toEqual(versions);
    });

    it("in the note of licences", () => {
      const [, ...licences] = read("dist/THIRD-PARTY-LICENSES.txt")
        .split(/^-{80}$/m)
        .map((text) => text.trim());

      expect(licences.map((text) => text.split("\n")[0])).toEqual(
        Object.entries(versions).map(([name, version]) => `${name} ${version}`),
      );
      for (const text of licences) expect(text).toMatch(/Copyright \(c\) .+Permission is hereby granted/s);
    });

    it("in a CycloneDX SBOM", () => {
      const component = ([name, version]: [string, string]) => {
        const purl = `pkg:npm/${name}@${version}`;
        return {
          type: "library",
          "bom-ref": purl,
          name,
          version,
          licenses: [{ license: { id: "MIT" } }],
          purl,
        };
      };
      const own = component([manifest.name, manifest.version]);
      const components = Object.entries(versions).map(component);

      expect(JSON.parse(read("dist/sbom.cdx.json"))).toEqual({
        bomFormat: "CycloneDX",
        specVersion: "1.6",
        version: 1,
        metadata: { component: own },
        components,
        dependencies: [{ ref: own.purl, dependsOn: components.map(({ purl }) => purl) }],
      });
    });
  });

  it("passes publint without a warning", async () => {
    const { messages, pkg } = await publint({ pack: { tarball: await arrayBuffer(tarball) }, strict: true });

    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });

  it("passes attw: each resolver finds declarations that fit the code", async () => {
    const attw = tool("@arethetypeswrong/cli/dist/index.js");
    const { exitCode, stdout } = await runNode(consumer, attw, tarball, "--profile", "node16");

    expect(exitCode, stdout).toBe(0);
  });
});

/** In bytes. */
const sizes: Record<keyof typeof written, () => number | Promise<number>> = {
  packed: () => statSync(tarball).size,
  unpacked: () => sum(fileSizes(join(installed, "audience-sdk"))),
  // Without npm's own files.
  installed: () => sum([...fileSizes(installed)].filter(([path]) => !path.startsWith("."))),
  // A bundle for a page or a worker, minified and compressed.
  client: async () => {
    const contents = 'export { AudienceClient } from "audience-sdk";';
    const minified = { format: "esm", platform: "neutral", minify: true } as const;
    return gzipSync(await bundle(contents, consumer, minified), { level: 9 }).length;
  },
};

describe("The size in bytes is at most 2 % above that in sizes.json", () => {
  it.each(Object.entries(sizes))("%s", async (name, measure) => {
    const bound = written[name as keyof typeof written]; // one of its own keys

    expect(await measure()).toBeLessThanOrEqual(bound * 1.02);
  });
});

function manifestOf(folder: string) {
  const text = readFileSync(join(folder, "package.json"), "utf8");
  const read: { version: string; inlinedDependencies?: Record<string, string> } = JSON.parse(text);
  return read;
}

function sum(files: Iterable<readonly [path: string, bytes: number]>): number {
  return [...files].reduce((total, [, bytes]) => total + bytes, 0);
}

async function arrayBuffer(path: string): Promise<ArrayBuffer> {
  return new Blob([readFileSync(path)]).arrayBuffer();
}
