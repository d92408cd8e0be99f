import { basename } from "node:path";
import { refusalStems } from "./consent-stems.ts";
import { consentWord } from "./consent-words.ts";
import type { Channel, OptIn } from "./contact.ts";
import { headingWords } from "./heading.ts";

/** The consent of everybody in a file, by its name. */
export interface FileSection {
  readonly optIn: OptIn;
  readonly isSuppressed?: true;
  /** The channels that a provider's section is about. */
  readonly channels?: readonly Channel[];
}

// In the words of a name, without accents and in lower case.
const anyOf = (parts: string) =>
  new RegExp(String.raw`(?<![\p{L}\p{N}])(${parts.trim().split(/\s+/).join("|")})`, "gu");

const thoseWhoLeft = anyOf(String.raw`
  [\p{L}\p{N}]*(${refusalStems.replaceAll("_", String.raw`\s?`)})
  \w*opt(ed)?\s?outs?\b \w*suppress \w*bounce blocked\b
  do\s?not\s?(contact|call|e?\s?mail|send|text) dnc\b complain spam(reports?|complaints?)?\b abuse\b ^cleaned ^invalids?\b invalid\s?e?\s?mails? undeliver quarantine
  austragung(en)?\b gesperrt blockierte?n?\b robinson\s?list unzustellbar resili bajas\b dad[oa]s?\sde\sbaja ^cancelad[oa]s ^cancellat[ie]
  bloqu(e|ee|eado|eada)s?\b bloccat[aeio]\b geblokkeerde?\b blockerade?\b blokerede?\b
  (contactos|suscriptores|contatti|iscritti)\scancel desuscri exclusions?\b ausschluss(liste)?\b
  rucklaufer ^baja(\s\d+)*\scsv no\s?(newsletter|marketing|mailings?)\b stop\s?(sms|e?\s?mails?|marketing)\b
  (keine?|geen|ingen|inga)\s(werbung|newsletter|mails|e?\s?mails|mailings?|nieuwsbrief|reclame|reklame?|utskick)\b
  ^(deleted|removed|geloschte|entfernte)\s(contacts|subscribers|profiles|members|people|kontakte|abonnenten)\b
  gdpr\s?(delet|eras|forg)`);
const notSubscribed = anyOf(String.raw`non?\s?subscri (not|never)\s(subscri|opted\sin) unconfirmed ^archived
  (nicht|niet|non|ikke|inte|no|nao)\s?(abonn|inscri|iscri|suscri|angemeld|aangemeld|tilmeld|pameld)`);
// "Subscribed and unsubscribed", "without bounces"; not "unsubscribed subscribers".
const theOthers = anyOf(String.raw`
  subscribed opt(ed)?\s?ins?\b actives?\b angemeldet incl
  (subscri|abonn|inscri|suscri|iscri)\w*\s(and|und|et|y|e|en|och|og|plus)\b
  (and|und|et|y|e|en|och|og|plus)\s(subscri|abonn|inscri|suscri|iscri)
  (without|excl\w*|except|minus|free|no|non|not|ohne|sans|sin|senza|sem|zonder|uden|uten|utan)\b`);
// "Bounces removed"; not "bounced and removed".
const together = "(and|or|und|oder|et|ou|of|og|och)";
const takenOut = new RegExp(
  String.raw`(?<!\b${together}\s)\b(removed|deleted|cleaned|clean\s?up|scrubbed|purged|filtered|checked|entfernt|` +
    String.raw`geloscht|bereinigt|gepruft|supprim|elimin|rimoss|verwijderd|fjernet|borttag)(?!\w*\s${together}\b)`,
);

// "Removed contacts (2)", "revoked 2024"
const besideWord = /( (contacts?|subscribers?|profiles?|members?|people|users?|e?mails?|lists?|\d+|csv))+$/;

/** The section that the file's name states; "unclear" if the name may also mean those who stayed. */
export function sectionByName(path: string): FileSection | "unclear" | undefined {
  const name = headingWords(basename(path)).join(" ");
  const rest = name.replace(thoseWhoLeft, "").replace(notSubscribed, "");
  if (rest === name)
    return consentWord(name.replace(besideWord, "")) === "unsubscribed"
      ? { optIn: "UNSUBSCRIBED" }
      : undefined;
  if (rest.search(theOthers) !== -1 || takenOut.test(rest)) return "unclear";
  return { optIn: name.search(thoseWhoLeft) === -1 ? "NON_SUBSCRIBED" : "UNSUBSCRIBED" };
}
