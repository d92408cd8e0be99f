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

type Words = Readonly<Record<string, Meaning>>;

export const email = (words: Words): ColumnRule => ({ consent: "email", words });
export const phone = (words: Words): ColumnRule => ({ consent: "phone", words });

/** The meanings of words, each with its words separated by `|`; a blank says nothing. */
export function meaning(own: Partial<Record<Meaning, string>>): Words {
  const entries = Object.entries(own).flatMap(([each, list]) =>
    // Safe: the keys of the record are meanings.
    list.split("|").map((word) => [word, each as Meaning] as const),
  );
  return Object.fromEntries([...entries, ["", "none"]]);
}

// An export writes a flag in one of these ways. A no is read as the stricter of its meanings.
const flag = (yes: Meaning, no: Meaning) => meaning({ [yes]: "true|yes|1", [no]: "false|no|0" });
export const optedIn = flag("SUBSCRIBED", "UNSUBSCRIBED");
export const refused = flag("UNSUBSCRIBED", "none");
export const invalid = flag("NON_SUBSCRIBED", "none");
export const leftAt: Words = { "<date>": "UNSUBSCRIBED", "": "none" };

export const threeStates = meaning({
  SUBSCRIBED: "subscribed",
  UNSUBSCRIBED: "unsubscribed",
  NON_SUBSCRIBED: "non-subscribed|nonsubscribed|never subscribed|never_subscribed|not subscribed|pending",
});
