import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** Size in bytes by path, of all files below a folder. */
export function fileSizes(folder: string): Map<string, number> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const found = names.map((name) => [name.replaceAll("\\", "/"), statSync(join(folder, name))] as const);
  return new Map(found.flatMap(([name, stat]) => (stat.isFile() ? [[name, stat.size] as const] : [])));
}

/** Text by path, of the package's files with one of these endings. */
export function installedFiles(consumer: string, ...endings: string[]): Map<string, string> {
  const folder = join(consumer, "node_modules", "audience-sdk");
  const paths = [...fileSizes(folder).keys()].filter((path) =>
    endings.some((ending) => path.endsWith(ending)),
  );
  return new Map(paths.map((path) => [path, readFileSync(join(folder, path), "utf8")]));
}

/** The source files whose code a built file holds: the build writes the path of each above it, our own and a library's. */
export function sourcesIn(text: string): string[] {
  const found = text.matchAll(/^\/\/ ((?:src|node_modules)\/.+)$/gm);
  return [...new Set([...found].flatMap(([, path]) => path ?? []))];
}

/** The names of the packages that these source files belong to. */
export function packagesOf(sources: readonly string[]): string[] {
  const names = sources.flatMap((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  return [...new Set(names)].sort();
}
