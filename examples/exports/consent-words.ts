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
  yes: "yes, y, true, t, 1, on, x, ✓, ✔, ✅, ☑, checked, ja, j, oui, o, si, s, sim, да, 是, wahr, vrai, verdadero, vero, waar",
  no: "no, n, false, f, 0, off, ✗, ✘, ❌, ☐, unchecked, nein, non, nee, nej, nei, nao, нет, 否, falsch, faux, falso, onwaar",
  subscribed:
    "subscribed, subscribe, subscriber, opted in, opt in, optin, optedin, single opt in, double opt in, " +
    "confirmed opt in, confirmed, consented, granted, agreed, accepted, abonniert, angemeldet, abonne, abonnee, inscrit, inscrite, " +
    "suscrito, suscrita, alta, iscritto, iscritta, tilmeldt, pameldt, aangemeld",
  "not subscribed":
    "not subscribed, non subscribed, nonsubscribed, non subscriber, never subscribed, neversubscribed, not opted in, not yet opted in, " +
    "never opted in, not confirmed, unconfirmed, pending, double opt in pending, awaiting confirmation, transactional, invited, " +
    "archived, nicht abonniert, nicht angemeldet, non abonne, non abonnee, non inscrit, non inscrite, no suscrito, no suscrita, " +
    "non iscritto, non iscritta",
  unsubscribed:
    "opt out, optout, optedout, unsub, left, cancelled, canceled, declined, denied, refused, rejected, revoked, withdrawn, " +
    "removed, blacklisted, blocklisted, blocked, do not contact, do not email, do not mail, do not send, do not call, do not text, " +
    "no consent, no marketing, no email, no emails, no e mail, no e mails, complained, complaint, complainer, spam, spam complaint, spam report, marked as spam, " +
    "reported spam, reported as spam, abuse, abgemeldet, nicht kontaktieren, desabonne, desabonnee, desinscrit, desinscrite, " +
    "resilie, resiliee, ne plus contacter, ne pas contacter, desinscrito, desinscrita, desuscrito, desuscrita, baja, " +
    "dado de baja, dada de baja, cancelado, cancelada, no contactar, disiscritto, disiscritta, cancellato, cancellata, " +
    "non contattare, " +
    "afgemeld, uitgeschreven, opgezegd, afmeldt, frameldt, avmeldt, avregistrerad, abbestellt, ausgetragen, widerrufen, gesperrt, geblokkeerd",
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
  const normalized = cell
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/^([01])[.,]0+$/, "$1")
    .replace(/[\s_\-‐-―.'"’[\](){}]+/gu, " ")
    .trim();
  return words.get(normalized) ?? beginnings.find(([pattern]) => pattern.test(normalized))?.[1];
}
