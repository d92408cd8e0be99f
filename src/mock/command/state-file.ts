import { existsSync, readFileSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { acquireLock, type Lock, LockRefused } from "../../files/lock.ts";
import { checkRegular } from "../../files/regular-file.ts";
import { replaceFile } from "../../files/replacement.ts";
import type { Mock } from "../handle-request.ts";
import { restoreState, saveState } from "../state/saved-state.ts";
import { messageOf, UsageError } from "./usage-error.ts";

/** From a change to its place in the file. */
const DELAY_MS = 200;

/** The file of `--state`: restored at the start, written soon after each change and at the end. */
export class StateFile {
  readonly #name: string;
  readonly #path: string;
  readonly #mock: Mock;
  #lock: Lock | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopListening: (() => void) | undefined;

  constructor(name: string, mock: Mock) {
    this.#name = name;
    this.#path = existsSync(name) ? realpathSync(name) : resolve(name);
    this.#mock = mock;
  }

  /** Restores the state, and keeps the file up to date from now on. A file that is damaged stays as it is. */
  async open(): Promise<void> {
    try {
      checkRegular(this.#path);
      await this.#acquireLock();
      this.#restore();
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
      throw new Error(
        `${messageOf(error)}. The file is untouched. Start with the same --seed as before, mend the file, or name ` +
          "another one, which begins with the seed",
        { cause: error },
      );
    }
    this.#mock.log.changed();
  }

  #save(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      this.#write();
      process.exitCode = 0;
    } catch (error) {
      // Unless a later change is saved.
      process.exitCode = 1;
      process.stderr.write(`--state ${this.#name}: not saved: ${messageOf(error)}\n`);
    }
  }

  #write(): void {
    if (this.#lock?.isOurs() !== true)
      throw new Error("another audience-mock has taken over the file, or its lock was deleted");
    replaceFile(this.#path, [saveState(this.#mock.state().organizations)], { keepsMode: true });
  }

  /** Two mocks with one file would overwrite each other's state. */
  async #acquireLock(): Promise<void> {
    const sayWait = () =>
      process.stderr.write(
        `--state ${this.#name}: waits up to 30 s for the lock of a mock that was killed\n`,
      );
    try {
      const lock = await acquireLock(this.#path, sayWait);
      process.once("exit", () => lock.release());
      this.#lock = lock;
    } catch (error) {
      if (!(error instanceof LockRefused)) throw error;
      throw new Error(`another audience-mock keeps its state there: ${error.message}`, { cause: error });
    }
  }
}
