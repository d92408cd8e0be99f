import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/** Resolves all links of a path, also of a file that does not exist yet. Throws if its folder does not exist. */
export function realPath(path: string): string {
  return resolveLinks(path) ?? pathOfNewFile(path);
}

function pathOfNewFile(path: string): string {
  const folder = resolveLinks(dirname(path));
  if (folder === undefined) {
    const remedy = "Create the folder first, or name another file.";
    throw new Error(`The checkpoint ${path} cannot be created: its folder does not exist. ${remedy}`);
  }
  const file = join(folder, basename(path));
  const isLink = lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  return isLink ? realPath(resolve(folder, readlinkSync(file))) : file;
}

/** Undefined if nothing exists at the path. */
function resolveLinks(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch (error) {
    // Safe: `node:fs` throws nothing else.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return undefined;
  }
}
