import type { Channel, OptIn } from "./contact.ts";

/** What a plain English refusal says, whatever the column is. */
export interface Refusal {
  readonly optIn: OptIn;
  readonly channels: readonly Channel[];
}

const both = ["email", "phone"] as const;

/** The whole cells that nobody can read as a permission. */
const refusals = new Set(
  `unsubscribed, unsubscribe, unsub, un subscribed, un subscribe, unsubscribed from all, unsubscribed from all email, globally unsubscribed, global unsubscribe, global unsubscribed, has unsubscribed, opted out,
  opt out, optout, optedout, opted out of all, opted out of all email, opted out of all emails, do not contact, do not contact me, donotcontact, do not email, do not e mail, do not call,
  do not text, do not sms, do not send, do not market, dnc, dont contact, dont email, no contact, no email, no emails, no e mail, no e mails,
  no sms, no marketing, no newsletter, no consent, never contact, consent withdrawn, consent revoked, withdrew consent,
  complained, complaint, spam complaint, spam report, spamreport, marked as spam, reported spam, reported as spam, abuse complaint,
  blacklisted, blocklisted, suppressed, on suppression list, bounced, hard bounced, hard bounce, hardbounce, bounce,
  undeliverable, cleaned, email unsubscribed, email opt out, email opted out, sms unsubscribed, sms opt out,
  sms opted out, phone opt out, phone opted out, unsubscribed from email, unsubscribed from emails, unsubscribed from sms,
  unsubscribed from newsletter, opted out of email, opted out of emails, opted out of sms, opted out of marketing,
  remove me, please remove, please remove me, please unsubscribe, gdpr erasure, right to be forgotten`
    .split(",")
    .map((word) => word.trim().replace(/\s+/g, " ")),
);

const mayRefuse =
  /sub|opt|contact|mail|call|text|sms|send|dnc|market|newsletter|consent|complain|spam|abuse|list|suppress|bounc|deliver|clean|remov|gdpr|forgot/i;
const longest = 40;
const ofDelivery = /bounc|undeliverable|cleaned/;
const ofComplaint = /complain|complaint|spam|abuse/;
const ofEmail = /\be ?mails?\b|newsletter|\bmail\b/;
const ofPhone = /\b(sms|phone|call|text|mobile)\b/;
// "Free text" and "Last call result" name no channel.
const headingOfEmail = /\be ?mails?\b|\bnewsletters?\b/;
const headingOfPhone = /\b(sms|(tele)?phone|text messages?)\b/;

/**
 * The refusal that a cell is as a whole, in plain English. Bounces and complaints concern the e-mail; the others the
 * channel that they or their heading name, or else every channel.
 */
export function refusalIn(cell: string, heading: string): Refusal | undefined {
  // Most cells are none; this is asked of each cell of a file.
  if (cell.length > longest || !mayRefuse.test(cell)) return undefined;
  const words = plain(cell);
  if (!refusals.has(words)) return undefined;
  if (ofDelivery.test(words)) return { optIn: "NON_SUBSCRIBED", channels: ["email"] };
  if (ofComplaint.test(words)) return { optIn: "UNSUBSCRIBED", channels: ["email"] };
  const named =
    onlyOne(ofEmail.test(words), ofPhone.test(words)) ??
    onlyOne(headingOfEmail.test(plain(heading)), headingOfPhone.test(plain(heading)));
  return { optIn: "UNSUBSCRIBED", channels: named ?? both };
}

function onlyOne(isEmail: boolean, isPhone: boolean): readonly Channel[] | undefined {
  if (isEmail === isPhone) return undefined;
  return [isEmail ? "email" : "phone"];
}

/** `OptedOut_of-Email` as the words "opted out of email". */
function plain(text: string): string {
  return text
    .replace(/(?<=\p{Ll})(?=\p{Lu})/gu, " ")
    .toLowerCase()
    .replace(/['’]/g, "")
    .replace(/[\s_.!*[\]()"-]+/g, " ")
    .trim();
}

/** Whether the name of a file says that it is a list of people who refused: `unsubscribed_2026-11.csv`. */
export function isNamedAsRefusal(name: string): boolean {
  const words = plain(name.replace(/\.[a-z]+$/i, ""))
    .replace(/\b(\d+|contacts?|people|subscribers?|members?|customers?|users?|list|export|csv)\b/g, "")
    .replace(/\s+/g, " ")
    .trim();
  const one = words.replace(/s$/, "");
  return refusals.has(words) || refusals.has(one) || /^(suppression|suppressed)s?$/.test(words);
}
