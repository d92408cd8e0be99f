// The rules of every file of this package. This room imports nothing of ours: the client and the mock both use it.
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

/** A file that is not used, and is left as it is. The message begins with its path. */
export class FileRefused extends Error {
  override readonly name = "FileRefused";
}

// A named pipe without a writer would block the process. Windows has neither flag: undefined counts as 0.
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
    // Another file may have come between.
    checkRegular(path, fstatSync(handle));
    return handle;
  } catch (error) {
    closeSync(handle);
    throw error;
  }
}

/** Throws if a file that exists is no regular one, or belongs to another user. */
export function checkRegular(path: string, stats = statSync(path, { throwIfNoEntry: false })): void {
  if (!stats) return;
  if (!stats.isFile()) {
    const kind = stats.isDirectory() ? "a folder" : "a link, a pipe or a device";
    throw new FileRefused(`${path} is ${kind}, and no regular file.`);
  }
  if (stats.uid !== (process.geteuid?.() ?? stats.uid) && stats.uid !== ownerOfNewFile(path))
    throw new FileRefused(`${path} belongs to another user.`);
}

/** Opens a regular file, lets `use` have its handle, and closes it. */
export function withRegular<Result>(path: string, flags: number, use: (handle: number) => Result): Result {
  const handle = openRegular(path, flags);
  try {
    return use(handle);
  } finally {
    closeSync(handle);
  }
}

/** A share may show one owner of all files, whoever has created them. Undefined if none can be created there. */
function ownerOfNewFile(path: string): number | undefined {
  try {
    const { handle, path: created } = createTemporary(realpathSync(path));
    const { uid } = fstatSync(handle);
    closeSync(handle);
    rmSync(created);
    return uid;
  } catch {
    return undefined;
  }
}

/** A new file beside this one. Nobody can have put a file or a link there before: its name is random. */
export function createTemporary(file: string): { readonly path: string; readonly handle: number } {
  const path = `${file}.${crypto.randomUUID()}.tmp`;
  return { path, handle: openSync(path, "wx", 0o600) };
}

/** Removes the temporary files of killed processes. Only the file's lock tells that no other process writes there. */
export function removeLeftovers(file: string): void {
  const [folder, begin] = [dirname(file), `${basename(file)}.`];
  for (const name of readdirSync(folder))
    if (name.startsWith(begin) && /^[0-9a-f-]{36}\.tmp$/.test(name.slice(begin.length)))
      rmSync(join(folder, name), { force: true });
}
