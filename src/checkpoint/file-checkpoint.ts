// The entry "audience-sdk/checkpoint".
import { closeSync, constants, existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { type Checkpoint, type OpenCheckpoint, readOnly } from "../bulk/checkpoint.ts";
import { ConfigurationError } from "../errors.ts";
import { acquireLock, describeRefusal } from "../files/lock.ts";
import { openRegular } from "../files/regular-file.ts";
import { CheckpointFile, flags, readCheckpoint } from "./checkpoint-file.ts";

export type { Checkpoint, OpenCheckpoint } from "../bulk/checkpoint.ts";

/**
 * Records the rows of a run in a file that grows by lines: a run that was killed continues, and with a `key` the next run sends
 * the rows that have changed. One run at a time, over processes, containers and machines that share the file: a second run
 * is refused, and one after a kill waits up to 30 seconds, as only then the lock of the killed one counts as left behind.
 *
 * The file holds hashes of keys and contacts, never the keys themselves. An incomplete last line is dropped. A full disk
 * ends the run. 100,000 rows take 10 to 20 MB in the file and at most 30 MB of memory, and are read in a second.
 *
 * The file is created if it does not exist; its folder is not. `bulk.check` leaves no new file behind. A symbolic link
 * stands for its target. Two hard links to one file count as two files, so the lock does not cover both.
 *
 * ```ts
 * const run = audience.bulk(rows, toWrites, { key: (row) => row.email, checkpoint: fileCheckpoint("import.ckpt") });
 * ```
 *
 * `open` rejects with a `ConfigurationError` if the file is in use, damaged, no checkpoint of this version, no regular file,
 * or another user's; the run does if the file is replaced, or its lock taken over, while the run has it open.
 *
 * @throws TypeError if the path is not a string, or empty.
 */
export function fileCheckpoint(path: string): Checkpoint {
  if (typeof path !== "string" || path === "")
    throw new TypeError("fileCheckpoint takes the path of a file, as a string.");
  const named = resolve(path);
  const checkpoint: Checkpoint & { readonly [readOnly]: Checkpoint["open"] } = {
    open: () => unlessRefused(named, () => openFile(named)),
    // A run may have it open: its lock is left alone, and nothing is written.
    [readOnly]: async () => ({
      entries: readAlone(named),
      put: refuse,
      clear: refuse,
      close: async () => {},
    }),
  };
  return checkpoint;
}

/** What must not be used is a `ConfigurationError` with the way out; any other error stays as it is. */
async function unlessRefused<Result>(named: string, open: () => Promise<Result>): Promise<Result> {
  try {
    return await open();
  } catch (error) {
    const refusal = describeRefusal(error, "checkpoint", named);
    throw refusal === undefined ? error : new ConfigurationError(refusal);
  }
}

async function openFile(named: string): Promise<CheckpointFile> {
  // Created first: links to one file share its lock.
  closeSync(openRegular(named, flags, { followsLink: true }));
  const file = realpathSync(named);
  const lock = await acquireLock(file);
  try {
    return new CheckpointFile(file, openRegular(file, flags), lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** None where there is no file. */
async function* readAlone(named: string): OpenCheckpoint["entries"] & AsyncGenerator<[string, string]> {
  if (!existsSync(named)) return;
  const open = async () => openRegular(named, constants.O_RDONLY, { followsLink: true });
  const handle = await unlessRefused(named, open);
  try {
    yield* (await readCheckpoint(named, handle)).newest;
  } finally {
    closeSync(handle);
  }
}

async function refuse(): Promise<never> {
  throw new TypeError("This checkpoint was opened to be read.");
}
