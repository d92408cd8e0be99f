import {
  appendFileSync,
  closeSync,
  fchmodSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import type { HeldLock } from "../checkpoint/lock-file.ts";
import { ConfigurationError } from "../errors.ts";
import type { Profile } from "../v1/schemas/profile.ts";
import { contactLine } from "./contact.ts";
import { type BegunRead, type PageLine, readBegun, ReadState } from "./read-state.ts";
import { type FinishedHeading, type Heading, openIfExists, readLines } from "./snapshot-file.ts";

const chunkLength = 65_536;

/** The file beside the snapshot that is written while it is read. */
function workPath(file: string): string {
  return `${file}.part`;
}

/** The read that was begun for this file, if there is one. */
export async function begunRead(file: string): Promise<BegunRead | undefined> {
  const handle = openIfExists(workPath(file));
  if (handle === undefined) return undefined;
  try {
    return await readBegun(handle);
  } finally {
    closeSync(handle);
  }
}

/** The read of one snapshot, as it is written. */
export class WorkFile {
  readonly state: ReadState;
  readonly #file: string;
  readonly #heading: Heading;
  readonly #lock: HeldLock;
  readonly #handle: number;
  #length: number;

  /** Goes on with a read, or begins a new one. */
  constructor(
    file: string,
    { lock, heading, begun }: { lock: HeldLock; heading: Heading; begun?: BegunRead | undefined },
  ) {
    this.#file = file;
    this.#heading = heading;
    this.#lock = lock;
    this.state = begun?.state ?? new ReadState();
    this.#length = begun?.length ?? 0;
    this.#handle = openSync(workPath(file), "a+", 0o600);
    fchmodSync(this.#handle, 0o600);
    ftruncateSync(this.#handle, this.#length);
    if (!begun) this.#append(`${JSON.stringify(heading)}\n`);
  }

  /** Writes a page. Returns how many of its contacts are new. */
  add(page: PageLine, contacts: readonly Profile[]): number {
    this.#checkLock();
    const lines: string[] = [];
    let end = this.#length;
    const starts = contacts.map((contact) => {
      const start = end;
      const line = `${contactLine(contact, this.#heading.fields)}\n`;
      lines.push(line);
      end += Buffer.byteLength(line);
      return { id: contact.id, start };
    });
    this.#append(`${lines.join("")}${JSON.stringify(page)}\n`);
    return this.state.add(page, starts);
  }

  /** Writes the snapshot beside the older one, and replaces it in one step. */
  async finish(): Promise<void> {
    this.#checkLock();
    const finished = `${this.#file}.new`;
    const handle = openSync(finished, "w", 0o600);
    try {
      fchmodSync(handle, 0o600);
      await this.#copyContacts(handle);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    this.#checkLock();
    renameSync(finished, this.#file);
    rmSync(workPath(this.#file), { force: true });
  }

  close(): void {
    closeSync(this.#handle);
  }

  /** A killed process loses nothing that the kernel has. */
  #append(text: string): void {
    appendFileSync(this.#handle, text);
    this.#length += Buffer.byteLength(text);
  }

  async #copyContacts(handle: number): Promise<void> {
    const { latest, isComplete: complete } = this.state;
    const heading: FinishedHeading = { ...this.#heading, size: latest.size, complete };
    const starts = Float64Array.from(latest.values()).sort();
    let copied = 0;
    let chunk = `${JSON.stringify(heading)}\n`;
    for await (const { text, start } of readLines(this.#handle)) {
      if (start !== starts[copied]) continue;
      copied += 1;
      chunk += `${text}\n`;
      if (chunk.length < chunkLength) continue;
      writeSync(handle, chunk);
      chunk = "";
    }
    writeSync(handle, chunk);
  }

  #checkLock(): void {
    if (this.#lock.isHeld()) return;
    throw new ConfigurationError(
      `The snapshot ${this.#file} is no longer this read's: its lock was taken over by another one, or deleted. ` +
        "It stops before it writes. Run this again: it goes on from what is there.",
    );
  }
}
