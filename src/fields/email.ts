import type { Explain, TextField } from "./field.ts";
import { text } from "./text.ts";
import { format } from "./format.ts";

/** The message for what is not an e-mail address. */
export const emailRule = "must be an e-mail address: a text, an @ and a text, without spaces";

// The rule of isEmail as a pattern. Not run: on texts of many megabytes its backtracking overflows.
const shown = { format: "email", pattern: "^\\S[^\\s@]*@\\S+$" };

/** A text, an `@` and a text, without white space. Linear in the length, whatever the text holds. */
export function isEmail(address: string): boolean {
  const at = address.indexOf("@", 1);
  return at !== -1 && at < address.length - 1 && !/\s/.test(address);
}

/** An e-mail address; the document asks for no more of it than that it is one ("v1 contact"). */
/*! @__NO_SIDE_EFFECTS__ */
export function email(explain?: Explain): TextField {
  return text([format({ name: "email", shown, isValid: isEmail, message: emailRule })], explain);
}
