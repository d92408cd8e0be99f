import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/** Where a file is, or will be, so that all links that lead to it meet in one name. Throws where its folder is not there. */
export function realPath(path: string): string {
  return resolveLinks(path) ?? pathOfNewFile(path);
}

function pathOfNewFile(path: string): string {
  const folder = resolveLinks(dirname(path));
  if (folder === undefined) {
    const remedy = "Make the folder first, or name another file.";
    throw new Error(`The checkpoint ${path} cannot be made: its folder does not exist. ${remedy}`);
  }
  const file = join(folder, basename(path));
  const isLink = lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  return isLink ? realPath(resolve(folder, readlinkSync(file))) : file;
}

/** Undefined where nothing is there. */
function resolveLinks(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch (error) {
    // True: `node:fs` throws nothing else.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return undefined;
  }
}
