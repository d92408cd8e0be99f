/** The meaning of a word, whatever its column. */
export type ConsentWord =
  | "yes"
  | "no"
  | "subscribed"
  | "not subscribed"
  | "unsubscribed"
  | "undeliverable"
  /** A blank cell, or a word for one. */
  | "nothing";

const wordLists: Readonly<Record<ConsentWord, string>> = {
  yes: "yes, y, true, t, 1, on, x, ✓, ✔, ✅, ☑, checked, ja, j, oui, si, s, sim, да, 是, wahr, vrai, verdadero, vero, waar, tak, ano, igen, kylla",
  no: "no, n, false, f, 0, off, ✗, ✘, ❌, ☐, unchecked, nein, non, nee, nej, nei, nao, нет, 否, falsch, faux, falso, onwaar, nie, ne, nem, ei",
  subscribed:
    "subscribed, subscribe, subscriber, opted in, opt in, optin, optedin, single opt in, double opt in, " +
    "confirmed opt in, confirmed, consented, granted, agreed, accepted, abonniert, angemeldet, abonne, abonnee, inscrit, inscrite, " +
    "suscrito, suscrita, alta, inscrito, inscrita, iscritto, iscritta, tilmeldt, pameldt, aangemeld",
  "not subscribed":
    "not subscribed, non subscribed, nonsubscribed, non subscriber, never subscribed, neversubscribed, not opted in, not yet opted in, " +
    "never opted in, not confirmed, unconfirmed, pending, double opt in pending, awaiting confirmation, transactional, invited, " +
    "archived, nicht abonniert, nicht angemeldet, non abonne, non abonnee, non inscrit, non inscrite, no suscrito, no suscrita, " +
    "nao inscrito, nao inscrita, non iscritto, non iscritta",
  unsubscribed:
    "opt out, optout, optedout, opt outs, optouts, unsub, unsubscribers, unsubscribes, suppression list, do not allow, not allowed, left, cancelled, canceled, declined, denied, refused, rejected, revoked, withdrawn, " +
    "removed, excluded, exclude, objected, objection, objections, blacklisted, blocklisted, blocked, do not contact, do not email, do not mail, do not send, do not call, do not text, " +
    "dnc, no consent, no marketing, no newsletter, no email, no emails, no e mail, no e mails, complained, complaint, complainer, spam, spam complaint, spam report, marked as spam, " +
    "reported spam, reported as spam, abuse, abgemeldet, nicht kontaktieren, desabonne, desabonnee, desinscrit, desinscrite, " +
    "resilie, resiliee, ne plus contacter, ne pas contacter, desinscrito, desinscrita, desuscrito, desuscrita, baja, " +
    "dado de baja, dada de baja, cancelado, cancelada, no contactar, disiscritto, disiscritta, cancellato, cancellata, descadastrado, descadastrada, " +
    "non contattare, " +
    "afgemeld, uitgeschreven, opgezegd, afmeldt, frameldt, avmeldt, avregistrerad, abbestellt, ausgetragen, widerrufen, widersprochen, gesperrt, geblokkeerd, " +
    "removido, removida, avanmald, wypisany, wypisana, wypisano, rezygnacja, sprzeciw, odhlasen, odhlasena, leiratkozott, отписан, отписана, dezabonat, dezabonata",
  undeliverable:
    "cleaned, suppressed, invalid, invalid email, undeliverable, quarantined, soft bounce, soft bounced",
  nothing:
    ", none, null, nil, na, n/a, nan, unknown, unspecified, not specified, not set, not applicable, not opted in or out, " +
    "not unsubscribed, not opted out, not blacklisted, not blocklisted, not blocked, not suppressed, not bounced",
};

const words = new Map(
  // Safe: the keys of the record are the words.
  (Object.keys(wordLists) as ConsentWord[]).flatMap((word) =>
    wordLists[word]
      .split(", ")
      .map((normalized): [string, ConsentWord] => [normalized.replace(/^,$/, ""), word]),
  ),
);

// "Unsubscribed from all", "Opted out (by an admin)", "Abgemeldet am 1. Mai": the other words do not weaken it.
const beginnings: readonly [RegExp, ConsentWord][] = [
  [
    /^(unsubscribed?|opted out|abgemeldet|abbestellt|desinscrite?|desabonnee?|disiscritt[oa]|dad[oa] de baja)\b/,
    "unsubscribed",
  ],
  // The date that MySQL writes for none.
  [/^0000 00 00\b/, "nothing"],
  [/^((hard|global|permanent) )?bounced?\b/, "undeliverable"],
];

/** The meaning of a cell; undefined for an unknown word, which is never guessed. */
export function consentWord(cell: string): ConsentWord | undefined {
  // -1 may be an opt-out.
  if (/^\s*[-‐-―−]\s*\d/.test(cell)) return undefined;
  const normalized = normalizedText(cell.trim().replace(/^([01])[.,]0+$/, "$1"));
  return words.get(normalized) ?? beginnings.find(([pattern]) => pattern.test(normalized))?.[1];
}

/** The months and days of the week, and what else stands beside a time. */
const ofMoment = new Set([
  ...["en", "de", "fr", "es", "it", "nl", "da", "sv", "nb"].flatMap((language) =>
    (["long", "short"] as const).flatMap((length) =>
      [{ month: length }, { weekday: length }].flatMap((part) => {
        const format = new Intl.DateTimeFormat(language, { ...part, timeZone: "UTC" });
        // In steps of 31 days each month comes, and each day of the week.
        return Array.from({ length: 12 }, (_, index) =>
          normalizedText(format.format(Date.UTC(2024, 0, 1 + 31 * index))),
        );
      }),
    ),
  ),
  ..."am pm uhr h utc gmt cet cest at on since the of seit vom den um le du a el de del il dal op".split(" "),
]);

/** The text of a cell without a day and time: "no" of "No (since 1 March 2024)". */
export function withoutMoment(cell: string): string {
  return normalizedText(cell)
    .replace(/(?!^0[ ,;])\d+(st|nd|rd|th|er|t(?=\d)|z\b)?|[:,;/+|]/g, " ")
    .split(/\s+/)
    .filter((word) => !ofMoment.has(word))
    .join(" ")
    .trim();
}

function normalizedText(text: string): string {
  // Most cells are in this form.
  const isPlain = /^[ -~]*$/.test(text);
  return (isPlain ? text : text.normalize("NFKD").replace(/\p{M}/gu, ""))
    .toLowerCase()
    .replace(/n['’]t\b/g, " not")
    .replace(/[\s_\-‐-―.'"’[\](){}]+/gu, " ")
    .trim();
}

// Words that mean a refusal as a whole cell, or a whole part of a list, in any column; "cancelled" may be the state of
// an order.
const namesRefusal =
  /subscribed|[inu]scri|abonn|meld|^opt|^unsub|listed$|uitgeschreven|avregistr|abbestellt|descadastr|de baja$|contact|contatt|kontakt|^dnc$|^gesperrt$|^do not (e ?mail|mail|send|call|text)|^no (consent|marketing|newsletter|e ?mails?)$|^suppression list$|^(hard )?bounced$/;

// Phrases that mean a refusal anywhere in a text. "No email" may be the lack of an address.
const phrases: readonly [RegExp, ConsentWord][] = [
  [
    anywhere(
      "unsub(scribed)?|(wants? to|wanted to|asked to|requested( to)?|please) unsubscribe|opt(ed)? ?out|do not (contact|e ?mail)|dnc|" +
        "(no|no more|stop) (newsletters?|marketing|e ?mails)|consent (was |is )?(withdrawn|revoked)|einwilligung (wurde )?widerrufen|" +
        "spam (complaints?|reports?)|(marked|reported) as spam|blacklisted|blocklisted|abgemeldet|abbestellt|" +
        "nicht (mehr )?kontaktieren|desabonnee?|desinscrite?|ne (pas|plus) contacter|desinscrit[oa]|desuscrit[oa]|" +
        "(dad[oa]|dio) de baja|no contactar|disiscritt[oa]|non contattare|descadastrad[oa]|afgemeld|uitgeschreven|" +
        "afmeldt|frameldt|avmeldt|avregistrera[dt]|avanmald|wypisan[aoy]|wypisała? sie|" +
        "(werbe|mail|newsletter|kontakt|versand)sperre|keine?n? (werbung|newsletter|e ?mails|mails|mailings?)|" +
        "geen (mailings?|nieuwsbrief|nieuwsbrieven|reclame|e ?mails|e ?mail sturen)|afmelding ontvangen|" +
        "sin (publicidad|newsletter|boletin)|sem (publicidade|newsletter)|niente (pubblicita|newsletter)|" +
        "pas de (newsletter|publicite|pub|prospection|mailing|e ?mails|mails)|ingen (reklame?|nyhedsbreve?|nyhetsbrev)|" +
        "inga (mejl|utskick|nyhetsbrev)",
    ),
    "unsubscribed",
  ],
  [anywhere("(never|not) (yet )?(subscribed|opted in)|non ?subscribed"), "not subscribed"],
  [anywhere("hard bounced?"), "undeliverable"],
];

/** Whole words, unless the word before them denies them: "not unsubscribed", "you can opt out". */
function anywhere(parts: string): RegExp {
  const denials = "not|never|no|nicht|nie|non|pas|jamais|nunca|nao|mai|ikke|inte|niet|nooit|can|may|could";
  return new RegExp(`(?<!\\b(${denials}) )\\b(${parts})\\b`);
}

const separators = /[,;|"[\]\n\r]/;
// The "no" of "No. Unsubscribed" does not deny it.
const endOfSentence = /[.!?]\s|\s[-–—]\s/g;
// A link may be about a refusal of anybody.
const addressOrLink = /\S+@\S+\.\p{L}{2,}|\S+:\/\/\S+|www\.\S+/gu;

/** A part of a text that says that the person has not subscribed, whatever else is in the text. */
export interface Refusal {
  readonly part: string;
  readonly word: ConsentWord;
}

/** The refusals in a cell of any column, which may be a list, as of tags. */
export function refusalsIn(cell: string): Refusal[] {
  return cell.split(separators).flatMap((written) => {
    const hasLink = /@|:\/\/|www/.test(written);
    const text = hasLink ? written.replace(addressOrLink, " ") : written;
    const part = normalizedText(text.replace(endOfSentence, " : "));
    const whole = namesRefusal.test(part) ? consentWord(part) : undefined;
    const word = refusing.find((one) => one === whole) ?? phrases.find(([found]) => found.test(part))?.[1];
    return word === undefined ? [] : [{ part, word }];
  });
}

const refusing: readonly ConsentWord[] = ["unsubscribed", "not subscribed", "undeliverable"];
