import { basename } from "node:path";
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
const anyOf = (parts: string) => new RegExp(`\\b(${parts.trim().split(/\s+/).join("|")})`, "g");

const thoseWhoLeft = anyOf(String.raw`
  \w*unsub \w*opt(ed)?\s?outs?\b \w*suppress \w*bounce \w*(black|block|stop|deny)\s?list blocked\b
  do\s?not\s?(contact|call|e?\s?mail|send|text) dnc\b complain spam(reports?|complaints?)?\b abuse\b ^cleaned ^invalids?\b invalid\s?e?\s?mails? undeliver quarantine
  abgemeldet abmeld abbestell austragung(en)?\b ausgetragen gesperrt sperrliste robinson\s?list widerspr widerruf
  \w*(kontakt|mail|newsletter|versand|werbe)sperren?\b unzustellbar desinscri desabonn resili bajas\b dad[oa]s?\sde\sbaja ^cancelad[oa]s ^cancellat[ie]
  (contactos|suscriptores|contatti|iscritti)\scancel desuscri disiscri descadastr afgemeld afmeld uitgeschreven
  uitschrijv frameld avmeld avregistr avprenumer avanmal wypisan rezygnac odhlas отпис exclusions?\b ausschluss(liste)?\b
  rucklaufer sperrdatei ^baja(\s\d+)*\scsv no\s?(newsletter|marketing|mailings?)\b
  (keine?|geen|ingen|inga)\s(werbung|newsletter|mails|e?\s?mails|mailings?|nieuwsbrief|reclame|reklame?|utskick)\b
  ^(deleted|removed|geloschte|entfernte)\s(contacts|subscribers|profiles|members|people|kontakte|abonnenten)\b`);
const notSubscribed = anyOf(String.raw`non?\s?subscri not\ssubscri never\ssubscri unconfirmed ^archived
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

/** The section that the file's name states; "unclear" if the name may also mean those who stayed. */
export function sectionByName(path: string): FileSection | "unclear" | undefined {
  const name = headingWords(basename(path)).join(" ");
  const rest = name.replace(thoseWhoLeft, "").replace(notSubscribed, "");
  if (rest === name) return undefined;
  if (rest.search(theOthers) !== -1 || takenOut.test(rest)) return "unclear";
  return { optIn: name.search(thoseWhoLeft) === -1 ? "NON_SUBSCRIBED" : "UNSUBSCRIBED" };
}
