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
