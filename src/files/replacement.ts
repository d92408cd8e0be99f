import {
  appendFileSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { resolve } from "node:path";
import { checkRegular, createTemporary, type RegularFile } from "./regular-file.ts";

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
  readonly #replacedFile: string;
  readonly #temporary: RegularFile;
  readonly #encoding: "utf8" | "latin1";
  #chunk = "";

  /** @throws FileRefused if the file to replace is no regular one of this user. */
  constructor(file: string, { keepsMode = false, encoding = "utf8" }: ReplacementOptions = {}) {
    checkRegular(file);
    const isReplaced = existsSync(file);
    this.#replacedFile = isReplaced ? realpathSync(file) : resolve(file);
    this.#temporary = createTemporary(this.#replacedFile);
    this.#encoding = encoding;
    if (isReplaced && keepsMode) this.#setMode(statSync(this.#replacedFile).mode & 0o777);
  }

  write(text: string): void {
    this.#chunk += text;
    if (this.#chunk.length >= chunkLength) this.#flush();
  }

  /** Passes the new file to the disk as a whole, and then replaces the older one. */
  commit(): void {
    this.#flush();
    fsyncSync(this.#temporary.handle);
    this.#temporary.close();
    renameSync(this.#temporary.path, this.#replacedFile);
  }

  /** Removes the new file, unless it has taken the place of the older one. */
  [Symbol.dispose](): void {
    this.#temporary.close();
    rmSync(this.#temporary.path, { force: true });
  }

  /** Unlike `writeSync`, which may take a part, this writes the whole chunk or throws. */
  #flush(): void {
    appendFileSync(this.#temporary.handle, this.#chunk, this.#encoding);
    this.#chunk = "";
  }

  #setMode(mode: number): void {
    try {
      fchmodSync(this.#temporary.handle, mode);
    } catch {
      // Some shares refuse modes, as they know none. The new file stays readable by its owner alone.
    }
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
