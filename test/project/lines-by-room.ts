import { sourceFiles } from "./source-files.ts";

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
