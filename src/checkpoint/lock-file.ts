import { createHash, randomBytes } from "node:crypto";
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  utimesSync,
} from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { ConfigurationError } from "../errors.ts";

/** The lock that a run holds. */
export interface HeldLock {
  /** False once another run has taken it over. */
  isHeld(): boolean;
  release(): void;
}

/** A lock file, and the process that created it. */
interface LockFile {
  readonly path: string;
  readonly pid: number;
  /** The start time of the process, as the kernel counts: a later process may have the same id. */
  readonly started: string;
  /** The machine and the process namespace in which `pid` counts; empty if unknown. */
  readonly namespace: string;
  readonly host: string;
}

/** A lock file as a waiting run sees it. */
interface SeenLock {
  readonly renewedAt: number;
  readonly looks: number;
}

const renewalMs = 1_000;
const lookMs = 250;
/** 20 to 24 seconds without a renewal. Looks are counted, and no clock: a suspended run must not count its own pause. */
const patienceLooks = 80;

/**
 * Acquires the lock on a file. Waits while another run's lock is not renewed, and then removes it; rejects if it is renewed.
 *
 * Each run creates a lock file of its own, whose name is unique, and then looks for others. So removing one cannot affect
 * a run that has come meanwhile. Runs that start at once may see each other: they remove their files, and try again.
 */
export async function acquireLock(
  file: string,
  what: "checkpoint" | "snapshot" = "checkpoint",
): Promise<HeldLock> {
  const seen = new Map<string, SeenLock>();
  for (;;) {
    const locks = lockFiles(file).filter((lock) => !isStale(lock, { file, seen, what }) || remove(lock.path));
    if (locks.length === 0) {
      const own = createLockFile(file);
      if (lockFiles(file).every(({ path }) => path === own)) return hold(own);
      remove(own);
    }
    // Runs that have met must not meet again.
    const jitterMs = Math.random() * 50;
    await new Promise((resolve) => setTimeout(resolve, lookMs + jitterMs));
  }
}

function hold(path: string): HeldLock {
  const timer = setInterval(() => renew(path), renewalMs);
  // A number on some runtimes: there it keeps the process alive until the run has ended.
  if (typeof timer === "object") timer.unref();
  return {
    isHeld: () => renewedAt(path) !== undefined,
    release() {
      clearInterval(timer);
      remove(path);
    },
  };
}

function renew(path: string): void {
  const now = new Date();
  try {
    utimesSync(path, now, now);
  } catch {
    // A lock that cannot be renewed is taken over, and the next write of its run fails.
  }
}

/** As the file system shows it; undefined if the lock is gone. */
function renewedAt(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}

/** Throws if the lock is renewed. Compares what changes, because the clocks of two machines may differ. */
function isStale(
  lock: LockFile,
  { file, seen, what }: { file: string; seen: Map<string, SeenLock>; what: string },
): boolean {
  const { path } = lock;
  if (hasEnded(lock)) return true;
  const now = renewedAt(path);
  // Its run has ended.
  if (now === undefined) return true;
  const before = seen.get(path) ?? { renewedAt: now, looks: 0 };
  if (now !== before.renewedAt) throw inUse(file, what, lock);
  const looks = before.looks + 1;
  seen.set(path, { renewedAt: now, looks });
  return looks > patienceLooks;
}

/** Whether it is certain that the process has ended: elsewhere its id means another process, or none. */
function hasEnded({ pid, started, namespace, host }: LockFile): boolean {
  const here = thisProcess();
  if (namespace === "" || namespace !== here.namespace || host !== here.host) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Safe: `process.kill` throws nothing else. Any other code means a live process of another user.
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return true;
  }
  const now = statOf(String(pid));
  // A zombie has ended; only its exit code is left.
  return now !== undefined && (now.state === "Z" || now.started !== started);
}

/** An empty file: its name holds all the information, so that it needs no space on a full disk. */
function createLockFile(file: string): string {
  const { started, namespace, host } = thisProcess();
  const name = `${process.pid}-${started}-${namespace}-${randomBytes(4).toString("hex")}@${host}`;
  const path = `${file}.lock-${name}`;
  closeSync(openSync(path, "wx", 0o600));
  return path;
}

function lockFiles(file: string): LockFile[] {
  const [folder, prefix] = [dirname(file), `${basename(file)}.lock-`];
  return readdirSync(folder)
    .filter((name) => name.startsWith(prefix))
    .flatMap((name) => {
      const parts = /^(\d+)-(\d*)-([0-9a-f]*)-[0-9a-f]{8}@(.*)$/.exec(name.slice(prefix.length));
      if (!parts) return [];
      // Safe: the pattern has four groups, and each takes part in a match.
      const [, pid, started, namespace, host] = parts as unknown as [string, string, string, string, string];
      return [{ path: join(folder, name), pid: Number(pid), started, namespace, host }];
    });
}

function remove(path: string): false {
  rmSync(path, { force: true });
  return false;
}

/** Where and since when this process runs. The namespace is known on Linux alone, and not in every sandbox. */
function thisProcess(): { started: string; namespace: string; host: string } {
  const host = encodeURIComponent(hostname()).slice(0, 64);
  const own = statOf("self");
  // In a namespace with the /proc of another one, the ids there are those of other processes.
  if (own?.pid !== process.pid) return { started: "", namespace: "", host };
  return { started: own.started, namespace: ownNamespace(), host };
}

function ownNamespace(): string {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8");
    const processes = readlinkSync("/proc/self/ns/pid");
    return createHash("sha256").update(`${boot} ${processes}`).digest("hex").slice(0, 16);
  } catch {
    return "";
  }
}

/** A process as Linux describes it; undefined if it cannot be read. */
function statOf(id: string): { pid: number; state: string; started: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, "utf8");
    // The fields from the third on; the second, the name in brackets, may hold spaces and brackets.
    const fields = stat.split(") ").at(-1)!.split(" ");
    return { pid: Number.parseInt(stat, 10), state: fields[0]!, started: fields[19]! };
  } catch {
    // Not Linux, hidden, or the process has just ended.
    return undefined;
  }
}

function inUse(file: string, what: string, { pid, host }: LockFile): ConfigurationError {
  return new ConfigurationError(
    `The ${what} ${file} is in use by process ${pid} on ${host}, which renews its lock. One run at a time: ` +
      "end that process or wait until it has ended, and run this again.",
  );
}
