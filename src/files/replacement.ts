import {
  appendFileSync,
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { resolve } from "node:path";
import { checkRegular, createTemporary } from "./regular-file.ts";

/** How a file is replaced. */
export interface ReplacementOptions {
  /** Whether an older file hands its mode on. Default: false, the new one is readable by its owner alone. */
  readonly keepsMode?: boolean;
  /** With `"latin1"` each character is one byte. Default: UTF-8. */
  readonly encoding?: "utf8" | "latin1";
}

const chunkLength = 65_536;

/**
 * A file that is written beside another one, and takes its place as a whole or not at all. A link leads to the new file as
 * before.
 */
export class Replacement {
  readonly #file: string;
  readonly #path: string;
  readonly #handle: number;
  readonly #encoding: "utf8" | "latin1";
  #chunk = "";
  #isOpen = true;

  /** @throws FileRefused if what stands there is no regular file of this user. */
  constructor(file: string, { keepsMode = false, encoding = "utf8" }: ReplacementOptions = {}) {
    checkRegular(file);
    const exists = existsSync(file);
    this.#file = exists ? realpathSync(file) : resolve(file);
    const { path, handle } = createTemporary(this.#file);
    this.#path = path;
    this.#handle = handle;
    this.#encoding = encoding;
    if (exists && keepsMode) this.#setMode(statSync(this.#file).mode & 0o777);
  }

  write(text: string): void {
    this.#chunk += text;
    if (this.#chunk.length >= chunkLength) this.#flush();
  }

  /** Passes all of it to the disk, and then replaces the older file. */
  commit(): void {
    this.#flush();
    fsyncSync(this.#handle);
    this.#close();
    renameSync(this.#path, this.#file);
  }

  /** Removes what was written, unless it has taken its place. */
  [Symbol.dispose](): void {
    this.#close();
    rmSync(this.#path, { force: true });
  }

  /** Unlike `writeSync`, which may take a part, it writes everything or throws. */
  #flush(): void {
    appendFileSync(this.#handle, this.#chunk, this.#encoding);
    this.#chunk = "";
  }

  #setMode(mode: number): void {
    try {
      fchmodSync(this.#handle, mode);
    } catch {
      // Some shares refuse it, as they know no modes. The file stays readable by its owner alone.
    }
  }

  #close(): void {
    if (this.#isOpen) closeSync(this.#handle);
    this.#isOpen = false;
  }
}

/** Replaces a file by these texts. */
export function replaceFile(file: string, texts: Iterable<string>, options?: ReplacementOptions): void {
  using replacement = new Replacement(file, options);
  for (const text of texts) replacement.write(text);
  replacement.commit();
}

/** Replaces a file by texts that come later. */
export async function replaceFileBy(file: string, texts: AsyncIterable<string>): Promise<void> {
  using replacement = new Replacement(file);
  for await (const text of texts) replacement.write(text);
  replacement.commit();
}
