// What every file of this package obeys. This room imports nothing of ours: the client and the mock both use it.
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";
import { createTemporary, removeTemporary } from "./temporary-file.ts";

/** A file that is not used, and is left as it is. The message begins with its path. */
export class FileRefused extends Error {
  override readonly name = "FileRefused";
}

// A named pipe without a writer would block the process. Windows has neither of them: undefined counts as 0.
const { O_NOFOLLOW, O_NONBLOCK } = constants;

/**
 * Opens a regular file of this user. A link is followed only if `followsLink`: the user named it, as no temporary name is.
 *
 * @throws FileRefused if it is anything else.
 */
export function openRegular(
  path: string,
  flags: number,
  { followsLink = false }: { followsLink?: boolean } = {},
): number {
  // Opening a device alone may change it.
  checkRegular(path, (followsLink ? statSync : lstatSync)(path, { throwIfNoEntry: false }));
  const handle = openSync(path, flags | O_NONBLOCK | (followsLink ? 0 : O_NOFOLLOW), 0o600);
  try {
    // Another one may have come between.
    checkRegular(path, fstatSync(handle));
    return handle;
  } catch (error) {
    closeSync(handle);
    throw error;
  }
}

/** Throws if a file that exists is no regular one, or belongs to another user. */
export function checkRegular(path: string, found = statSync(path, { throwIfNoEntry: false })): void {
  if (!found) return;
  if (!found.isFile()) throw new FileRefused(`${path} is ${kindOf(found)}, and no regular file.`);
  if (found.uid !== (process.geteuid?.() ?? found.uid) && found.uid !== ownerOfNewFile(path))
    throw new FileRefused(`${path} belongs to another user.`);
}

/** A share may show one owner of all files, whoever has created them. Undefined if none can be created there. */
function ownerOfNewFile(path: string): number | undefined {
  try {
    const { handle, path: created } = createTemporary(realpathSync(path));
    try {
      return fstatSync(handle).uid;
    } finally {
      closeSync(handle);
      removeTemporary(created);
    }
  } catch {
    return undefined;
  }
}

function kindOf(found: Stats): string {
  if (found.isDirectory()) return "a folder";
  if (found.isSymbolicLink()) return "a link";
  return found.isFIFO() ? "a named pipe" : "a device or a socket";
}
