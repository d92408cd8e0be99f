import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** File contents by path; paths are relative to the repository's root, with `/`. */
export type SourceFiles = ReadonlyMap<string, string>;

export const repository = fileURLToPath(new URL("../..", import.meta.url));

/** Every TypeScript file below a folder of the repository. */
export function sourceFiles(folder: string): SourceFiles {
  const names = readdirSync(join(repository, folder), { recursive: true, encoding: "utf8" });
  const paths = names
    .filter((name) => name.endsWith(".ts"))
    .map((name) => `${folder}/${name.replaceAll("\\", "/")}`);
  return new Map(paths.sort().map((path) => [path, readFileSync(join(repository, path), "utf8")]));
}

/** The lines of TypeScript in each room: a folder of `src` or `test`, the files beside those folders, and the examples. */
export function linesByRoom(): Record<string, number> {
  const lines: Record<string, number> = {};
  for (const [path, text] of ["src", "test", "examples"].flatMap((folder) => [...sourceFiles(folder)])) {
    // The build writes it.
    if (path === "src/mock/page/page-file.ts") continue;
    const room = /^examples|^\w+\/[\w-]+(?=\/)|^\w+/.exec(path)?.[0] ?? path;
    lines[room] = (lines[room] ?? 0) + text.split("\n").length - 1;
  }
  return lines;
}
