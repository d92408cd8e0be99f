import { closeSync, openSync, readFileSync, unlinkSync, writeSync } from "node:fs";
import { hostname } from "node:os";

/** Who holds a file: enough to tell a live process from one that was killed, and a new one with the same id. */
interface Holder {
  readonly pid: number;
  readonly host: string;
  /** When the process started, as the kernel counts; undefined where it does not tell. */
  readonly started: string | undefined;
}

const tries = 5;

/** Takes the lock beside a file, and gives what gives it back. Throws where another process, or run, has it. */
export function takeLock(file: string): () => void {
  const lock = `${file}.lock`;
  for (let tried = 0; tried < tries; tried++) {
    if (create(lock)) return () => unlinkSync(lock);
    const holder = read(lock);
    // Gone in between, or left behind by a process that was killed.
    if (holder !== "gone" && isAlive(holder, lock)) throw inUse(file, lock, holder);
    remove(lock);
  }
  throw new Error(`The checkpoint ${file} is fought over: its lock ${lock} keeps coming back. Try again.`);
}

function create(lock: string): boolean {
  let handle: number;
  try {
    handle = openSync(lock, "wx");
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
  const me: Holder = { pid: process.pid, host: hostname(), started: startOf(process.pid) };
  writeSync(handle, JSON.stringify(me));
  closeSync(handle);
  return true;
}

function read(lock: string): Holder | "gone" {
  let text: string;
  try {
    text = readFileSync(lock, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return "gone";
    throw error;
  }
  try {
    // Written by `create` alone; a torn one is judged by what can be read of it.
    return JSON.parse(text) as Holder;
  } catch {
    return { pid: 0, host: hostname(), started: undefined };
  }
}

function isAlive({ pid, host, started }: Holder, lock: string): boolean {
  if (host !== hostname()) {
    throw new Error(`The checkpoint is held by process ${pid} on ${host}. If that machine is gone, delete ${lock}.`);
  }
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (codeOf(error) === "ESRCH") return false;
  }
  // The id may belong to another process by now.
  return pid > 0 && (started === undefined || started === startOf(pid));
}

function startOf(pid: number): string | undefined {
  try {
    // The 22nd field; the second, the name in brackets, may hold spaces.
    return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ")[19];
  } catch {
    return undefined;
  }
}

function remove(lock: string): void {
  try {
    unlinkSync(lock);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

function inUse(file: string, lock: string, { pid }: Holder): Error {
  const who = pid === process.pid ? "another run of this process" : `process ${pid}`;
  return new Error(`The checkpoint ${file} is in use by ${who}. One run at a time; if that is wrong, delete ${lock}.`);
}

function codeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}
