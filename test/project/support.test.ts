import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { rowsBelow } from "./pages.ts";
import { repository } from "./source-files.ts";

const read = (path: string) => readFileSync(join(repository, path), "utf8");

/** The README's table: the versions of each row, by its first cell. */
const supported = Object.fromEntries(
  rowsBelow("README.md", "Support").map((row) => {
    const [, what = "", versions = ""] = row.split("|").map((cell) => cell.trim());
    return [what, versions];
  }),
);

describe("The table of supported versions", () => {
  const [oldestNode = "", ...laterNodes] = supported["Node"]?.split(", ") ?? [];
  const nodes = [oldestNode.split(".")[0], ...laterNodes];

  it("lists the versions of Node that .ci/run tries, the oldest as engines and the build name it", () => {
    expect(read(".ci/run")).toContain(`node_versions=(${nodes.join(" ")})\n`);
    expect(manifest.engines).toEqual({ node: `>=${oldestNode}` });
    expect(read("tsup.config.ts")).toContain(`target: ["node${oldestNode}", `);
    expect(manifest.devDependencies["@types/node"]).toMatch(new RegExp(`^\\^${oldestNode}\\.`));
  });

  it("lists the versions of Node in the workflows, which prove with the oldest", () => {
    const used = ["ci.yml", "release.yml"].map((name) =>
      [...read(`.github/workflows/${name}`).matchAll(/node-version: (\S+)/g)].map(([, version]) => version),
    );

    expect(used.map(([first]) => first)).toEqual([nodes[0], nodes[0]]);
    expect(nodes).toEqual(expect.arrayContaining(used.flat()));
    expect(read(".github/workflows/ci.yml")).toContain(`on Node ${nodes[0]} to ${nodes.at(-1)}`);
  });

  it("lists the runtimes and the compilers that npm run platforms tries", () => {
    const tried = [...read("test/platforms/setup.ts").matchAll(/^ {2}"?([\w@.]+)"?: \{ bin: /gm)];
    const names = tried.map(([, name = ""]) => name);
    const compilers = names.flatMap((name) => /^typescript@(.+)/.exec(name)?.[1] ?? []);
    const runtimes = names.filter((name) => !name.startsWith("typescript"));

    expect(`${compilers[0]} to ${compilers.at(-1)}`).toBe(supported["TypeScript"]);
    const listed = Object.keys(supported).find((what) => what.includes("Deno")) ?? "";
    expect(listed.toLowerCase().split(", ")).toEqual(runtimes);
    expect(supported[listed]).toBe("the newest");
  });

  // `npm run oldest` tries both ends of each range.
  it("lists the ranges of zod and msw in package.json", () => {
    expect(manifest.dependencies.zod).toBe(rangeOf(supported["zod of your own"]));
    expect(manifest.peerDependencies.msw).toBe(rangeOf(supported["msw of your own"]));
  });

  it("is the only one", () => {
    expect(read(".github/SECURITY.md")).not.toMatch(/^\| (Node|TypeScript|zod)/m);
  });
});

/** The range that "2.7 to the newest 3" means: `^2.7.0 || ^3.0.0`. */
function rangeOf(versions = ""): string {
  const [, oldest = "", newest = ""] = /^(\d+\.\d+) to the newest (\d+)$/.exec(versions) ?? [];
  const first = Number(oldest.split(".")[0]);
  const later = Array.from({ length: Number(newest) - first }, (_, at) => `^${first + at + 1}.0.0`);
  return [`^${oldest}.0`, ...later].join(" || ");
}
