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

  it("installs as two packages, without an install script", () => {
    const packages = [...fileSizes(installed).keys()].filter((path) =>
      /^(@[^/]+\/)?[^/.][^/]*\/package\.json$/.test(path),
    );

    expect(packages.map((path) => path.replace("/package.json", "")).sort()).toEqual(["audience-sdk", "zod"]);
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

it.each([
  ["client", 100_000],
  ["installed", 9_000_000],
] as const)(
  "The size of %s, libraries included, is at most %d bytes, whatever sizes.json says",
  async (name, bound) => {
    expect(await sizes[name]()).toBeLessThanOrEqual(bound);
  },
);

function sum(files: Iterable<readonly [path: string, bytes: number]>): number {
  return [...files].reduce((total, [, bytes]) => total + bytes, 0);
}

async function arrayBuffer(path: string): Promise<ArrayBuffer> {
  return new Blob([readFileSync(path)]).arrayBuffer();
}
