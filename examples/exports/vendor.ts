import type { ColumnRule, Meaning } from "./column-map.ts";
import type { OptIn } from "./contact.ts";

/** The layout of a vendor's export: its exact headings, and the exact words of its columns of consent. */
export interface Vendor {
  readonly name: string;
  /** The headings that mark the layout: all of one of these lists, separated by `|`. */
  readonly marks: readonly string[];
  /** A heading that ends in `…` stands for all that begin so. */
  readonly columns: Readonly<Record<string, ColumnRule>>;
  /** Columns of data, whatever is in their cells, separated by `|`. */
  readonly properties: string;
  /** What a file means as a whole, by the beginning of its name; the first one counts. */
  readonly sections?: readonly { readonly begins: string; readonly optIn: OptIn }[];
}

/** The words of each meaning, separated by `|`. A blank says nothing. */
type WordsOf = Readonly<Partial<Record<Meaning, string>>>;

export const email = (own: WordsOf): ColumnRule => ({ consent: "email", words: meaningsOf(own) });
export const phone = (own: WordsOf): ColumnRule => ({ consent: "phone", words: meaningsOf(own) });

function meaningsOf(own: WordsOf): Record<string, Meaning> {
  const entries = Object.entries(own).flatMap(([each, list]) =>
    // Safe: the keys of the record are meanings.
    list.split("|").map((word) => [word, each as Meaning] as const),
  );
  return Object.fromEntries([...entries, ["", "none"]]);
}

// An export writes a flag in one of these ways. A no is read as the stricter of its meanings.
const [yes, no] = ["true|yes|1", "false|no|0"];
export const optedIn: WordsOf = { SUBSCRIBED: yes, UNSUBSCRIBED: no };
export const refused: WordsOf = { UNSUBSCRIBED: yes, none: no };
export const invalid: WordsOf = { NON_SUBSCRIBED: yes, none: no };
export const leftAt: WordsOf = { UNSUBSCRIBED: "<date>" };
export const threeStates: WordsOf = {
  SUBSCRIBED: "subscribed",
  UNSUBSCRIBED: "unsubscribed",
  NON_SUBSCRIBED: "non-subscribed|nonsubscribed|never subscribed|never_subscribed|not subscribed|pending",
};
