import { existsSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Mock } from "../handle-request.ts";
import { restoreState, saveState } from "../state/saved-state.ts";
import { replaceFile } from "./replace-file.ts";
import { messageOf, UsageError } from "./usage-error.ts";

/** From a change to its place in the file. */
const DELAY_MS = 200;

/** The file of `--state`: restored at the start, written soon after each change and at the end. */
export class StateFile {
  readonly #name: string;
  readonly #path: string;
  readonly #mock: Mock;
  #timer: NodeJS.Timeout | undefined;
  #stopListening: (() => void) | undefined;

  constructor(name: string, mock: Mock) {
    this.#name = name;
    this.#path = existsSync(name) ? realpathSync(name) : resolve(name);
    this.#mock = mock;
  }

  /** Restores the state, and keeps the file up to date from now on. A file that is damaged stays as it is. */
  open(): void {
    this.#lock();
    this.#restore();
    try {
      // At once: a file that cannot be written is refused before anyone relies on it.
      this.#write();
    } catch (error) {
      throw new UsageError(`--state ${this.#name}: ${messageOf(error)}`);
    }
    this.#stopListening = this.#mock.log.onChange(() => {
      this.#timer ??= setTimeout(() => this.#save(), DELAY_MS);
    });
  }

  /** Writes what has changed last. Later changes count no more. */
  close(): void {
    this.#stopListening?.();
    if (this.#timer !== undefined) this.#save();
  }

  #restore(): void {
    if (!existsSync(this.#path)) return;
    try {
      restoreState(this.#mock.state().organizations, readFileSync(this.#path, "utf8"));
    } catch (error) {
      throw new UsageError(
        `--state ${this.#name}: ${messageOf(error)}. The file is untouched. Start with the same --seed as before, ` +
          "mend the file, or name another one, which begins with the seed",
      );
    }
    this.#mock.log.changed();
  }

  #save(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      this.#write();
    } catch (error) {
      process.stderr.write(`--state ${this.#name}: not saved: ${messageOf(error)}\n`);
    }
  }

  #write(): void {
    replaceFile(this.#path, saveState(this.#mock.state().organizations));
  }

  /** Two mocks with one file would overwrite each other's state. */
  #lock(): void {
    const lock = `${this.#path}.lock`;
    // An empty one, as after a full disk, names nobody.
    const owner = existsSync(lock) ? Number(readFileSync(lock, "utf8")) : 0;
    if (owner > 0 && owner !== process.pid && isRunning(owner))
      throw new UsageError(
        `--state ${this.#name}: the process ${owner} keeps its state there. End it, or name another file; ` +
          `if it is no audience-mock, remove ${lock}`,
      );
    try {
      writeFileSync(lock, String(process.pid), { mode: 0o600 });
    } catch (error) {
      throw new UsageError(`--state ${this.#name}: ${messageOf(error)}`);
    }
    process.once("exit", () => rmSync(lock, { force: true }));
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It runs for another user.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
