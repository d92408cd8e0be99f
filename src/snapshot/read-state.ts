import * as z from "zod";
import { LineTooLong, readLines } from "../files/lines.ts";
import type { Cursor } from "../pagination/cursor.ts";
import { type Heading, headingSchema, parseLine } from "./snapshot-file.ts";

/** The line after the contacts of a page: without it a page counts as not read. */
export const pageSchema = z.object({
  page: z.int().min(1),
  /** The number of all contacts, as the page told it. */
  total: z.int().min(0).optional(),
  /** Where the list goes on; absent after the last page. The ids of the page are its contacts'. */
  next: z
    .object({
      itemsBefore: z.int().min(0).optional(),
      pagesWithoutNew: z.int().min(0).exactOptional(),
      mayBeMissing: z.boolean().optional(),
    })
    .optional(),
});

export type PageLine = z.infer<typeof pageSchema>;

const contactSchema = z.object({ id: z.string() });

/** The id of a contact, and where its line begins. */
export type ContactStart = readonly [id: string, start: number];

/** What the pages of a read have come to. */
export class ReadState {
  /** Where the list is read next; undefined after the last page. */
  cursor: Cursor | undefined = { page: 1 };
  /** The total that the last page told. */
  total: number | undefined;
  /** The start of the last line of each contact. */
  readonly latest = new Map<string, number>();
  #isTotalSteady = true;

  /** Whether a page has come, and the last one brought somebody new: else the list had no end, or has shifted by far. */
  get goesOn(): boolean {
    return this.#hasPages && !this.cursor?.pagesWithoutNew;
  }

  /** Whether every page told the same total, and as many contacts came. */
  get isComplete(): boolean {
    return this.#isTotalSteady && this.total === this.latest.size;
  }

  get #hasPages(): boolean {
    return this.cursor?.page !== 1;
  }

  add({ page, total, next }: PageLine, contacts: readonly ContactStart[]): void {
    for (const [id, start] of contacts) this.latest.set(id, start);
    if (this.#hasPages && total !== this.total) this.#isTotalSteady = false;
    this.total = total;
    this.cursor = next && { ...next, page: page + 1, idsBefore: contacts.map(([id]) => id) };
  }
}

/** A read that was begun. */
export interface BegunRead {
  readonly heading: Heading;
  readonly state: ReadState;
  /** The end of its last whole page, in bytes. */
  readonly length: number;
}

/** Reads what is there of a read. A kill or a loss of power may have damaged its end: that is read again. */
export async function readBegun(handle: number): Promise<BegunRead | undefined> {
  const state = new ReadState();
  let heading: Heading | undefined;
  let length = 0;
  let contacts: ContactStart[] = [];
  try {
    for await (const { text, start, end } of readLines(handle)) {
      if (!heading) {
        heading = parseLine(headingSchema, text);
        if (!heading) return undefined;
        length = end;
        continue;
      }
      const page = parseLine(pageSchema, text);
      const contact = page ? undefined : parseLine(contactSchema, text);
      if (contact) contacts.push([contact.id, start]);
      else if (!page) break;
      else {
        state.add(page, contacts);
        contacts = [];
        length = end;
      }
    }
  } catch (error) {
    if (!(error instanceof LineTooLong)) throw error;
  }
  return heading && { heading, state, length };
}
