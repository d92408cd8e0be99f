import { randomBytes } from "node:crypto";
import { closeSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { ConfigurationError } from "../errors.ts";

/** A lock file, and its process: enough to recognize a killed process, and a new process with the same id. */
interface Lock {
  readonly path: string;
  readonly pid: number;
  /** The start time of the process, as the kernel counts; empty if unknown. */
  readonly started: string;
  readonly host: string;
}

const tries = 8;
const longestPauseMs = 50;

/**
 * Acquires the lock on a file, and returns the function that releases it. Rejects if another process or run holds it.
 *
 * Each holder creates a lock file of its own, whose name identifies the process, and then looks for others. No lock file
 * is ever taken over, so removing one of a killed process cannot affect a live process. Two processes that start at once
 * may see each other; both remove their files and try again.
 */
export async function acquireLock(file: string): Promise<() => void> {
  for (let tried = 1; ; tried++) {
    const own = createLockFile(file);
    const otherLock = otherLocks(file, own).find((lock) => isAlive(lock) || remove(lock.path));
    if (!otherLock) return () => remove(own);
    remove(own);
    if (tried === tries || otherLock.host !== hostName()) throw inUse(file, otherLock);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * longestPauseMs));
  }
}

/** The name holds all the information, so that no process can read an incomplete file. */
function createLockFile(file: string): string {
  const path = `${file}.lock-${process.pid}-${startOf(process.pid)}-${randomBytes(4).toString("hex")}@${hostName()}`;
  closeSync(openSync(path, "wx", 0o600));
  return path;
}

function otherLocks(file: string, own: string): Lock[] {
  const [folder, prefix] = [dirname(file), `${basename(file)}.lock-`];
  return readdirSync(folder)
    .filter((name) => name.startsWith(prefix) && name !== basename(own))
    .flatMap((name) => {
      const parts = /^(\d+)-(\d*)-[0-9a-f]{8}@(.*)/.exec(name.slice(prefix.length));
      if (!parts) return [];
      return [{ path: join(folder, name), pid: Number(parts[1]), started: parts[2]!, host: parts[3]! }];
    });
}

/** A process of another machine cannot be checked, so it counts as alive. */
function isAlive({ pid, started, host }: Lock): boolean {
  if (host !== hostName()) return true;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Safe: `process.kill` throws nothing else. Any other code means a live process of another user.
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  // The id may belong to another process by now.
  return started === "" || started === startOf(pid);
}

function remove(path: string): false {
  rmSync(path, { force: true });
  return false;
}

function startOf(pid: number): string {
  try {
    // The fields from the third on; the second, the name in brackets, may hold spaces and brackets.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)!.split(" ");
    // A zombie has ended; only its exit code is left.
    return fields[0] === "Z" ? "" : fields[19]!;
  } catch {
    // Not Linux, or the process has just ended.
    return "";
  }
}

function hostName(): string {
  return encodeURIComponent(hostname()).slice(0, 64);
}

function inUse(file: string, { pid, host, path }: Lock): ConfigurationError {
  const remedy = `One run at a time; if that process is gone, delete ${path}.`;
  return new ConfigurationError(`The checkpoint ${file} is in use by process ${pid} on ${host}. ${remedy}`);
}
