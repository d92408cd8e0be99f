import { appendFileSync, constants, fstatSync, ftruncateSync, rmSync } from "node:fs";
import * as z from "zod";
import { ConfigurationError } from "../errors.ts";
import type { Lock } from "../files/lock.ts";
import { longestLineBytes, openRegular, type RegularFile } from "../files/regular-file.ts";
import { replaceFileBy } from "../files/replacement.ts";
import type { Cursor } from "../pagination/end-of-list.ts";
import type { ListPage } from "../pagination/page.ts";
import type { Profile } from "../v1/profile.ts";
import { snapshotContactOf, withStricterConsent } from "./snapshot-contact.ts";
import {
  contactLine,
  type FinishedHeading,
  type Heading,
  headingSchema,
  parseContact,
  parseLine,
} from "./snapshot-file.ts";

/** The line after the contacts of a page: without it a page counts as not read. */
const pageLineSchema = z.object({
  page: z.int().min(1),
  /** The number of all contacts, as the page told it. */
  total: z.int().min(0).optional(),
  /** Where the list of contacts goes on; absent after the last page. The ids of the page are its contacts'. */
  next: z
    .object({
      itemsBefore: z.int().min(0).optional(),
      pagesWithoutNew: z.int().min(0).exactOptional(),
      endsBy404: z.boolean(),
    })
    .optional(),
});

/** A line of the part file: a contact, the end of its page, or the heading. */
const partLineSchema = z.union([z.object({ id: z.string() }), pageLineSchema, headingSchema]);

/** The state of a read: what its pages have come to. */
class ReadState {
  /** Where the list is read next; undefined after the last page. */
  cursor: Cursor | undefined = { page: 1 };
  /** Where the last line of each contact starts, by its id. */
  readonly lineStarts = new Map<string, number>();
  total: number | undefined;
  isTotalSteady = true;

  get hasPages(): boolean {
    return this.cursor?.page !== 1;
  }

  add({ page, total, next }: z.infer<typeof pageLineSchema>, lineStarts: ReadonlyMap<string, number>): void {
    for (const [id, start] of lineStarts) this.lineStarts.set(id, start);
    if (this.hasPages && total !== this.total) this.isTotalSteady = false;
    this.total = total;
    this.cursor = next && { ...next, page: page + 1, idsBefore: [...lineStarts.keys()] };
  }
}

/** The part file, beside the snapshot (`.part`): it holds the pages of a read that is under way. */
export class PartFile {
  readonly #file: string;
  readonly #lock: Lock;
  readonly #part: RegularFile;
  state = new ReadState();
  #heading: Heading | undefined;
  /** The end of the last whole page, in bytes. */
  #pagesEnd = 0;

  constructor(file: string, lock: Lock) {
    this.#file = file;
    this.#lock = lock;
    this.#part = openRegular(`${file}.part`, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND);
  }

  /**
   * Reads what was written since the last whole page that was read, and gives the heading of a read that can go on: a page of it
   * has come, and its last page brought somebody new, else the list had no end, or has shifted by far. A kill or a loss of power
   * may have damaged the end of the part file: that is read again.
   */
  async read(): Promise<Heading | undefined> {
    let lineStarts = new Map<string, number>();
    for await (const { text, start, end } of this.#part.lines(this.#pagesEnd)) {
      const line = parseLine(partLineSchema, text);
      if (!line) break;
      if ("id" in line) {
        lineStarts.set(line.id, start);
        continue;
      }
      if ("page" in line) this.state.add(line, lineStarts);
      else this.#heading = line;
      lineStarts = new Map();
      this.#pagesEnd = end;
    }
    return this.state.hasPages && !this.state.cursor?.pagesWithoutNew ? this.#heading : undefined;
  }

  async begin(heading: Heading): Promise<void> {
    this.state = new ReadState();
    this.#pagesEnd = 0;
    await this.#append(`${JSON.stringify(heading)}\n`);
  }

  /** Writes a page that was asked for at `readAt`. If a contact had come before, the stricter consent counts. */
  async add({ page, totalItems: total, next, received }: ListPage<Profile>, readAt: string): Promise<void> {
    const lines = new Map<string, string>();
    for (const profile of received) {
      const { id } = profile;
      const lastRead = { contact: snapshotContactOf(profile, this.#heading!.fields), readAt };
      const earlierLine = lines.get(id) ?? (await this.#writtenLine(id));
      const earlierRead = earlierLine && parseContact(earlierLine, this.#file);
      const line = contactLine(earlierRead ? withStricterConsent(lastRead, earlierRead) : lastRead);
      if (Buffer.byteLength(line) > longestLineBytes)
        throw new ConfigurationError(
          `The contact ${id} takes more than 1 MB, which no line of a snapshot may have. Read it with \`fields: "consent"\`.`,
        );
      lines.set(id, line);
    }
    const pageLine = pageLineSchema.parse({ page, total, next: next?.cursor });
    await this.#append(`${[...lines.values()].join("")}${JSON.stringify(pageLine)}\n`);
  }

  async #writtenLine(id: string): Promise<string | undefined> {
    const from = this.state.lineStarts.get(id);
    return from === undefined ? undefined : (await this.#part.lines(from).next()).value?.text;
  }

  /** Writes the finished snapshot beside the older one, and replaces that one in one step. */
  async finish(): Promise<void> {
    await replaceFileBy(this.#file, this.#snapshotText());
    rmSync(this.#part.path, { force: true });
  }

  [Symbol.dispose](): void {
    this.#part.close();
  }

  /** Writes behind the last whole page, and reads that. A killed process loses nothing that the kernel has. */
  async #append(text: string): Promise<void> {
    this.#checkOurs();
    ftruncateSync(this.#part.handle, this.#pagesEnd);
    appendFileSync(this.#part.handle, text);
    await this.read();
  }

  /** The text of the snapshot. It ends with the question whether the older snapshot may be replaced. */
  async *#snapshotText(): AsyncGenerator<string, void, undefined> {
    const { lineStarts, total, isTotalSteady } = this.state;
    const complete = isTotalSteady && total === lineStarts.size;
    const heading: FinishedHeading = { ...this.#heading!, size: lineStarts.size, complete };
    yield `${JSON.stringify(heading)}\n`;
    const lastLines = new Set(lineStarts.values());
    for await (const { text, start } of this.#part.lines()) if (lastLines.has(start)) yield `${text}\n`;
    this.#checkOurs();
  }

  /** Throws if the part file is not ours as it was: nothing of another read, and no older snapshot, is written over. */
  #checkOurs(): void {
    const isCutOff = fstatSync(this.#part.handle).size < this.#pagesEnd;
    if (!isCutOff && this.#lock.isOurs()) return;
    const reason = isCutOff ? "its part file was cut off" : "its lock was taken over, deleted or replaced";
    throw new ConfigurationError(
      `The snapshot ${this.#file} is no longer this read's: ${reason}. It stops before it writes. Run this again: it goes ` +
        "on from what is there.",
    );
  }
}
