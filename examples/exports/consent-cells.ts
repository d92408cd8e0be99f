import type { ConsentColumn } from "./consent-columns.ts";
import { consentWord, type ConsentWord, refusalsIn, withoutMoment } from "./consent-words.ts";
import type { OptIn } from "./contact.ts";

/** The consent in a cell: a state, nothing, the time of an opt-in (which is none itself), or an unknown word. */
export type ConsentSaid =
  | { readonly optIn?: OptIn; readonly isSuppressed?: true; readonly isTime?: true }
  | "not understood";

// Every format of a day or time has four consecutive digits.
const isMoment = (cell: string) => /\d{4}/.test(cell);

// A number without any other may be a code.
const isTimeAlone = (cell: string) =>
  isMoment(cell) && /\d\D+\d|^\d{10,13}$/.test(cell) && withoutMoment(cell) === "";

const namesSubscription = /subscri|opt|consent|abonn|angemeldet|inscri|suscri|iscri|^alta$/i;

// As Responsys writes them.
const inOrOut: ReadonlyMap<string, ConsentWord> = new Map([
  ["i", "yes"],
  ["o", "no"],
]);

/** Parses a cell of the column. */
export function parseConsent({ question }: Pick<ConsentColumn, "question">, cell: string): ConsentSaid {
  const word = consentWord(cell) ?? refusalIn(cell);
  if (word === "nothing") return {};
  switch (question) {
    case "left":
      return word === "no" ? {} : { optIn: "UNSUBSCRIBED" };
    case "undeliverable":
      if (word === "no") return {};
      return /unsub|opt.?out|complain|spam|abuse/i.test(cell)
        ? { optIn: "UNSUBSCRIBED", isSuppressed: true }
        : { optIn: "NON_SUBSCRIBED", isSuppressed: true };
    case "complaint":
      return word === "no" ? {} : { optIn: "UNSUBSCRIBED", isSuppressed: true };
    case "opt-out":
      if (isMoment(cell)) return { optIn: "UNSUBSCRIBED" };
      return stateOf(word, { yes: "UNSUBSCRIBED", no: "nothing", isOptIn: false });
    case "opt-in":
      if (word === undefined && isTimeAlone(cell)) return { isTime: true };
      return stateOf(word, { yes: "SUBSCRIBED", no: "UNSUBSCRIBED", isOptIn: true });
    case "not subscribed":
      return stateOf(word, { yes: "NON_SUBSCRIBED", no: "nothing", isOptIn: false });
    case "refusal only":
      return stateOf(ofDated(cell, word), { yes: "nothing", no: "UNSUBSCRIBED", isOptIn: false });
    case "confirmation":
      return stateOf(ofDated(cell, word), { yes: "nothing", no: "NON_SUBSCRIBED", isOptIn: false });
    case "permission status":
      return stateOf(inOrOut.get(cell.trim().toLowerCase()) ?? word, {
        yes: "SUBSCRIBED",
        no: "UNSUBSCRIBED",
        isOptIn: true,
      });
    case "confirmed":
      // Brevo numbers them: 1 is yes, 2 is no.
      return stateOf(cell.trim() === "2" ? "no" : word, {
        yes: "SUBSCRIBED",
        no: "NON_SUBSCRIBED",
        isOptIn: true,
      });
    case "other":
      if (word === "subscribed") return "not understood";
      return stateOf(word, { yes: undefined, no: undefined, isOptIn: false });
    case "status":
    case "state":
      // "Confirmed" and "accepted" may be the state of an order.
      if (word === "subscribed" && !namesSubscription.test(cell)) return "not understood";
      return stateOf(word, {
        yes: undefined,
        no: question === "status" ? "UNSUBSCRIBED" : undefined,
        isOptIn: true,
      });
    default:
      return question satisfies never;
  }
}

/** The strictest refusal in a cell with other text: "VIP, unsubscribed". */
function refusalIn(cell: string): ConsentWord | undefined {
  const words = refusalsIn(cell).map(({ word }) => word);
  return words.find((word) => word === "unsubscribed") ?? words[0];
}

/** The word in a cell that may hold a date too, which alone is a yes. */
function ofDated(cell: string, word: ConsentWord | undefined): ConsentWord | undefined {
  if (word !== undefined || !isMoment(cell)) return word;
  const rest = withoutMoment(cell);
  return rest === "" ? "yes" : consentWord(rest);
}

function stateOf(
  word: ConsentWord | undefined,
  meanings: { yes: OptIn | "nothing" | undefined; no: OptIn | "nothing" | undefined; isOptIn: boolean },
): ConsentSaid {
  switch (word) {
    case "unsubscribed":
      return { optIn: "UNSUBSCRIBED" };
    case "not subscribed":
      return { optIn: "NON_SUBSCRIBED" };
    case "undeliverable":
      return { optIn: "NON_SUBSCRIBED", isSuppressed: true };
    case "subscribed":
      return meanings.isOptIn ? { optIn: "SUBSCRIBED" } : {};
    case "yes":
    case "no": {
      const meaning = meanings[word];
      if (meaning === undefined) return "not understood";
      return meaning === "nothing" ? {} : { optIn: meaning };
    }
    default:
      return "not understood";
  }
}
