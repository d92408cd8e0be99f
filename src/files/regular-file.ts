// The rules of every file of this package. This room imports nothing of ours: the client and the mock both use it.
import {
  type Stats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  read,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";

/** A file that is not used, and is left as it is. The message begins with its path. */
export class FileRefused extends Error {
  override readonly name = "FileRefused";
}

/** A line of a file, with its bytes. */
export interface Line {
  readonly text: string;
  readonly start: number;
  /** The start of the next line. */
  readonly end: number;
}

/** The longest line, in bytes: a file without a line end would be read into memory as a whole. */
export const longestLineBytes = 2 ** 20;

const chunkBytes = 65_536;
const lineFeed = 10;
const readChunk = promisify(read);

/** A file that is open, from its path to its lines. It is closed once. */
export class RegularFile {
  readonly path: string;
  readonly handle: number;
  /** The file as it was opened. */
  readonly opened: Stats;
  /** What follows the whole lines, once they were read: a line that is too long, or a part that a kill has left of one. */
  rest: Uint8Array = new Uint8Array();
  isOpen = true;

  constructor(path: string, flags: number | string) {
    this.path = path;
    this.handle = openSync(path, flags, 0o600);
    this.opened = fstatSync(this.handle);
  }

  /** The whole lines of the file, or those from a line's start on, up to one that is too long. */
  async *lines(firstStart = 0): AsyncGenerator<Line, void, undefined> {
    const chunk = Buffer.alloc(chunkBytes);
    let [rest, lineStart] = [new Uint8Array(), firstStart];
    for (;;) {
      const { bytesRead } = await readChunk(this.handle, chunk, 0, chunkBytes, lineStart + rest.length);
      if (bytesRead === 0 || rest.length > longestLineBytes) break;
      const bytes = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
      let from = 0;
      for (let to = bytes.indexOf(lineFeed, rest.length); to >= 0; to = bytes.indexOf(lineFeed, from)) {
        const lineEnd = lineStart + to - from + 1;
        yield { text: bytes.toString("utf8", from, to), start: lineStart, end: lineEnd };
        lineStart = lineEnd;
        from = to + 1;
      }
      rest = bytes.subarray(from);
    }
    this.rest = rest;
  }

  close(): void {
    const { isOpen } = this;
    this.isOpen = false;
    if (isOpen) closeSync(this.handle);
  }

  [Symbol.dispose](): void {
    this.close();
  }
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
): RegularFile {
  // Opening a device alone may change it.
  checkRegular(path, (followsLink ? statSync : lstatSync)(path, { throwIfNoEntry: false }));
  const file = new RegularFile(path, flags | O_NONBLOCK | (followsLink ? 0 : O_NOFOLLOW));
  try {
    // Another file may have come between.
    checkRegular(path, file.opened);
    return file;
  } catch (error) {
    file.close();
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

/** A share may show one owner of all files, whoever has created them. Undefined if none can be created there. */
function ownerOfNewFile(path: string): number | undefined {
  try {
    const created = createTemporary(realpathSync(path));
    // Some shares remove no open file.
    created.close();
    rmSync(created.path);
    return created.opened.uid;
  } catch {
    return undefined;
  }
}

/** A new file beside this one. Nobody can have put a file or a link there before: its name is random. */
export function createTemporary(file: string): RegularFile {
  return new RegularFile(`${file}.${crypto.randomUUID()}.tmp`, "wx");
}

/** Removes the temporary files of killed processes. Only the file's lock tells that no other process writes there. */
export function removeLeftovers(file: string): void {
  const [folder, begin] = [dirname(file), `${basename(file)}.`];
  for (const name of readdirSync(folder))
    if (name.startsWith(begin) && /^[0-9a-f-]{36}\.tmp$/.test(name.slice(begin.length)))
      rmSync(join(folder, name), { force: true });
}
