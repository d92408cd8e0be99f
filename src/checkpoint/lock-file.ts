import { randomBytes } from "node:crypto";
import { closeSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";

/** Who has laid a lock file: enough to tell a live process from one that was killed, and a new one with the same id. */
interface Holder {
  readonly pid: number;
  /** When the process started, as the kernel counts; empty where it does not tell. */
  readonly started: string;
  readonly host: string;
}

const tries = 8;
const longestPauseMs = 50;

/**
 * Takes the lock on a file, and gives what gives it back. Rejects where another process, or another run, has it.
 *
 * Each holder lays a file of its own beside it, whose name says who it is, and then looks for others: so nothing is
 * ever taken over, and clearing away what a killed process left can never hit a live one. Two that come at once may
 * both see the other; both step back, and come again.
 */
export async function acquireLock(file: string): Promise<() => void> {
  for (let tried = 1; ; tried++) {
    const own = createLockFile(file);
    const otherLock = otherLocks(file, own).find(({ holder, path }) => isAlive(holder) || remove(path));
    if (!otherLock) return () => remove(own);
    remove(own);
    if (tried === tries || otherLock.holder.host !== hostName()) throw inUse(file, otherLock);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * longestPauseMs));
  }
}

/** Made in one step with all that it says, so that nobody can read half of it. */
function createLockFile(file: string): string {
  const path = `${file}.lock-${process.pid}-${startOf(process.pid)}-${randomBytes(4).toString("hex")}@${hostName()}`;
  closeSync(openSync(path, "wx", 0o600));
  return path;
}

function otherLocks(file: string, own: string): { holder: Holder; path: string }[] {
  const [folder, prefix] = [dirname(file), `${basename(file)}.lock-`];
  return readdirSync(folder)
    .filter((name) => name.startsWith(prefix) && name !== basename(own))
    .flatMap((name) => {
      const parts = /^(\d+)-(\d*)-[0-9a-f]{8}@(.*)/.exec(name.slice(prefix.length));
      if (!parts) return [];
      const holder = { pid: Number(parts[1]), started: parts[2]!, host: parts[3]! };
      return [{ holder, path: join(folder, name) }];
    });
}

/** A process of another machine cannot be asked after, so it counts as alive. */
function isAlive({ pid, started, host }: Holder): boolean {
  if (host !== hostName()) return true;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // True: `process.kill` throws nothing else. Any other code is of a live process of somebody else.
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  // The id may belong to another process by now.
  return started === "" || started === startOf(pid);
}

/** Somebody else may have been faster. */
function remove(path: string): false {
  rmSync(path, { force: true });
  return false;
}

function startOf(pid: number): string {
  try {
    // The 22nd field; the second, the name in brackets, may hold spaces and brackets.
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!.split(" ")[19]!;
  } catch {
    // Another system than Linux, or the process has just ended.
    return "";
  }
}

/** As a part of a file's name. */
function hostName(): string {
  return encodeURIComponent(hostname()).slice(0, 64);
}

function inUse(file: string, { holder: { pid, host }, path }: { holder: Holder; path: string }): Error {
  const isHere = host === hostName();
  const who = !isHere
    ? `process ${pid} on ${host}`
    : pid === process.pid
      ? "another run of this process"
      : `process ${pid}`;
  const remedy = `if ${isHere ? "that is wrong" : "that machine is gone"}, delete ${path}`;
  return new Error(`The checkpoint ${file} is in use by ${who}. One run at a time; ${remedy}.`);
}
