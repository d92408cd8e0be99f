import { appendFileSync, closeSync, constants, existsSync, ftruncateSync, rmSync } from "node:fs";
import { ConfigurationError } from "../errors.ts";
import { longestLineBytes, readLines } from "../files/lines.ts";
import type { AcquiredLock } from "../files/lock.ts";
import { openRegular } from "../files/regular-file.ts";
import { replaceFileBy } from "../files/replacement.ts";
import type { ListPage } from "../pagination/page.ts";
import type { Profile } from "../v1/schemas/profile.ts";
import { contactOf, type ReadContact, withStricterConsent } from "./contact.ts";
import { type BegunRead, pageSchema, readBegun, ReadState } from "./read-state.ts";
import { type FinishedHeading, type Heading, parseContact } from "./snapshot-file.ts";

/** The file beside the snapshot that is written while it is read. */
function workPath(file: string): string {
  return `${file}.part`;
}

/** The read that was begun for this file, if there is one. */
export async function begunRead(file: string): Promise<BegunRead | undefined> {
  if (!existsSync(workPath(file))) return undefined;
  const handle = openRegular(workPath(file), constants.O_RDONLY);
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
  readonly #lock: AcquiredLock;
  readonly #handle: number;
  #length: number;

  /** Goes on with a read, or begins a new one. */
  constructor(
    file: string,
    { lock, heading, begun }: { lock: AcquiredLock; heading: Heading; begun?: BegunRead | undefined },
  ) {
    this.#file = file;
    this.#heading = heading;
    this.#lock = lock;
    this.state = begun?.state ?? new ReadState();
    this.#length = begun?.length ?? 0;
    this.#handle = openRegular(workPath(file), constants.O_RDWR | constants.O_CREAT | constants.O_APPEND);
    ftruncateSync(this.#handle, this.#length);
    if (!begun) this.#append(`${JSON.stringify(heading)}\n`);
  }

  /** Writes a page that was asked for at `readAt`. Of a contact that had come before the stricter consent counts. */
  async add({ page, totalItems: total, next, received }: ListPage<Profile>, readAt: string): Promise<void> {
    const contacts = new Map<string, ReadContact>();
    for (const profile of received) {
      const last = { ...contactOf(profile, this.#heading.fields), readAt };
      const before = contacts.get(last.id) ?? (await this.#written(last.id));
      contacts.set(last.id, before ? withStricterConsent(last, before) : last);
    }
    const lines: string[] = [];
    let length = this.#length;
    const starts = Array.from(contacts.values(), (contact) => {
      const start = length;
      const line = `${JSON.stringify(contact)}\n`;
      const bytes = Buffer.byteLength(line);
      if (bytes > longestLineBytes) throw tooLong(contact.id);
      lines.push(line);
      length += bytes;
      return [contact.id, start] as const;
    });
    this.#checkLock();
    const end = pageSchema.parse({ page, total, next: next?.cursor });
    this.#append(`${lines.join("")}${JSON.stringify(end)}\n`);
    this.state.add(end, starts);
  }

  /** The contact as an earlier page had it. */
  async #written(id: string): Promise<ReadContact | undefined> {
    const from = this.state.latest.get(id);
    if (from === undefined) return undefined;
    for await (const { text } of readLines(this.#handle, { from })) return parseContact(text, this.#file);
    return undefined;
  }

  /** Writes the snapshot beside the older one, and replaces it in one step. */
  async finish(): Promise<void> {
    this.#checkLock();
    await replaceFileBy(this.#file, this.#finished());
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

  /** The text of the snapshot. It ends with the question whether the older one may be replaced. */
  async *#finished(): AsyncGenerator<string, void, undefined> {
    const { latest, isComplete: complete } = this.state;
    const heading: FinishedHeading = { ...this.#heading, size: latest.size, complete };
    const starts = Float64Array.from(latest.values()).sort();
    let copied = 0;
    yield `${JSON.stringify(heading)}\n`;
    for await (const { text, start } of readLines(this.#handle)) {
      if (start !== starts[copied]) continue;
      copied += 1;
      yield `${text}\n`;
    }
    this.#checkLock();
  }

  #checkLock(): void {
    if (this.#lock.isOurs()) return;
    throw new ConfigurationError(
      `The snapshot ${this.#file} is no longer this read's: its lock was taken over by another one, or deleted. ` +
        "It stops before it writes. Run this again: it goes on from what is there.",
    );
  }
}

function tooLong(id: string): ConfigurationError {
  return new ConfigurationError(
    `The contact ${id} takes more than 1 MB, which no line of a snapshot may have. Read it with \`fields: "consent"\`.`,
  );
}
