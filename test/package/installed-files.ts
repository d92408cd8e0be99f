import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";

/** Size in bytes by path, of all files below a folder; what is only linked there is not followed. */
export function fileSizes(folder: string): Map<string, number> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name));
  return new Map(paths.map((path) => [relative(folder, path).replaceAll("\\", "/"), statSync(path).size]));
}

/** Text by path, of the package's files with one of these endings. */
export function installedFiles(consumer: string, ...endings: string[]): Map<string, string> {
  const folder = join(consumer, "node_modules", "audience-sdk");
  const paths = [...fileSizes(folder).keys()].filter((path) =>
    endings.some((ending) => path.endsWith(ending)),
  );
  return new Map(paths.map((path) => [path, readFileSync(join(folder, path), "utf8")]));
}
