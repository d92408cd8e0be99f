import type { ColumnRule, Meaning } from "./column-map.ts";
import type { OptIn } from "./contact.ts";

/** The layout of a vendor's export: its exact headings, and the exact words of its columns of consent. */
export interface Vendor {
  readonly name: string;
  /** The contacts' `source`, and the prefix of their custom properties. */
  readonly source: string;
  /** The headings that mark the layout: all of one of these lists. */
  readonly marks: readonly (readonly string[])[];
  readonly columns: Readonly<Record<string, ColumnRule>>;
  /** Columns of data, whatever is in their cells. */
  readonly properties: readonly string[];
  /** The beginning of headings of the same meaning. */
  readonly beginnings?: Readonly<Record<string, ColumnRule>>;
  /** What a file means as a whole, by the beginning of its name; the first one counts. */
  readonly sections?: readonly { readonly begins: RegExp; readonly optIn: OptIn; readonly name: string }[];
}

export const email = (words: Record<string, Meaning>): ColumnRule => ({ consent: "email", words });
export const phone = (words: Record<string, Meaning>): ColumnRule => ({ consent: "phone", words });

// An export writes a flag in one of these ways. A no is read as the stricter of its meanings.
export const optedIn = (): Record<string, Meaning> => ({
  true: "SUBSCRIBED",
  yes: "SUBSCRIBED",
  1: "SUBSCRIBED",
  false: "UNSUBSCRIBED",
  no: "UNSUBSCRIBED",
  0: "UNSUBSCRIBED",
  "": "none",
});
export const refused = (): Record<string, Meaning> => ({
  true: "UNSUBSCRIBED",
  yes: "UNSUBSCRIBED",
  1: "UNSUBSCRIBED",
  false: "none",
  no: "none",
  0: "none",
  "": "none",
});
export const threeStates = (): Record<string, Meaning> => ({
  subscribed: "SUBSCRIBED",
  unsubscribed: "UNSUBSCRIBED",
  "": "none",
  "non-subscribed": "NON_SUBSCRIBED",
  nonsubscribed: "NON_SUBSCRIBED",
  "never subscribed": "NON_SUBSCRIBED",
  never_subscribed: "NON_SUBSCRIBED",
  "not subscribed": "NON_SUBSCRIBED",
  pending: "NON_SUBSCRIBED",
});
export const left = (optIn: Meaning): Record<string, Meaning> => ({ "<date>": optIn, "": "none" });

export const listed = (headings: string) => headings.split("|");
