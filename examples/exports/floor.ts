import type { Channel, OptIn } from "./contact.ts";
import { inLowerCase } from "./words.ts";

/** What a plain English refusal says, whatever the column is. */
export interface Refusal {
  readonly optIn: OptIn;
  readonly channels: readonly Channel[];
}

const both = ["email", "phone"] as const;

// The words that may stand around a refusal and do not change it: please, who, which channel, how and when.
const please = "((please|pls|kindly) )?";
const channel = "(e ?mails?|mails?|mailings?|newsletters?|sms|texts?|calls?|phone|mobile|marketing)";
const person = "(user|customer|contact|person|subscriber|recipient|client|member|he|she|they)";
const before = `${please}((the|this|our|${person}|${channel}|address|status|has|have|was|is|been|already|now|globally|global|manually) )*`;
const object = `(me|us|him|her|them|any|all|more|anymore|again|ever|at all|please|thanks|the|our|your|this|promotional|messages?|communications?|${person}|${channel})`;
const toWhom = `( ${object}| (by|via) ${channel})*`;
const after = String.raw`( (${object}|from|of|for|lists?|everything|by|via|through|admin|self|link|form|request|on|since|at|\d+))*`;
const verb = "(contact|e ?mail|mail|call|phone|text|sms|message|write|market( to)?|send(?! by| via))";
const noun = "(contact|consent|e ?mails?|mails?|mailings?|sms|marketing|newsletters?)";
const doesNot = `(${person} )?(do not|dont|does not|doesnt|no longer)`;

const whole = (...forms: readonly string[]) => new RegExp(`^(${forms.join("|")})$`);

/** The whole cells that nobody can read as a permission. */
const ofLeaving = whole(
  `${before}(un ?subscribed?|unsub|opt(ed)? ?out|suppressed|black ?listed|block ?listed)${after}`,
  `${please}(do ?not|dont|never|no longer) ?${verb}( (or|and|nor) ${verb})*${toWhom}`,
  `${please}stop (contact|e ?mail|mail|call|phon|text|messag|send)ing${toWhom}`,
  `${doesNot} wants?( to receive)?( (any|more|our|your|the|promotional))* (${noun}|calls|texts)${toWhom}`,
  `(${doesNot} wants? to|${before}(must not|should not|not to)) be (contacted|e ?mailed|called|texted)${toWhom}`,
  `${please}no ((more|further|promotional|e ?mail|marketing) )*${noun}( (please|thanks|anymore|ever))*`,
  `${before}consent ((has|was|been) )*(withdrawn|revoked)${after}`,
  `${before}(withdrew|revoked) ((the|his|her|their) )?consent`,
  `${please}remove me( from( (the|your|our|all|${channel}))*( lists?)?)?`,
  "please remove|dnc|on (suppression|do not (contact|call|e ?mail)) list|gdpr erasure|right to be forgotten",
);
const ofComplaint = whole(
  "((user|recipient) )?(has )?((e ?mail|spam|abuse) )?(complained|complaint)",
  `${before}(spam ?report|(reported|marked|flagged)( us)?( as)? spam)${after}`,
);
const ofDelivery = whole(
  `${before}((hard|permanent(ly)?) ?)?bounced?( back)?${after}`,
  `${before}undeliverable`,
  "cleaned",
);

const mayRefuse =
  /sub|opt|contact|mail|call|phon|text|sms|send|messag|write|dnc|market|newsletter|consent|complain|spam|list|suppress|bounc|deliver|clean|remov|gdpr|forgot/i;
const longest = 60;
const ofEmail = /\be ?mail|newsletter|\bmail/;
const ofPhone = /\b(sms|phon|call|text|mobile)/;
// "Free text" and "Last call result" name no channel.
const headingOfEmail = /\be ?mails?\b|\bnewsletters?\b/;
const headingOfPhone = /\b(sms|(tele)?phone|text messages?)\b/;

/**
 * The refusal that a cell is as a whole, in plain English. Bounces and complaints concern the e-mail; the others the
 * channel that they or their heading name, or else every channel.
 */
export function refusalIn(cell: string, heading: string): Refusal | undefined {
  // Most cells are none; this is asked of each cell of a file.
  const isInOtherSigns = /[^ -~]/.test(cell);
  if (cell.length > longest || !(isInOtherSigns ? /\p{Script=Latin}/u : mayRefuse).test(cell))
    return undefined;
  const words = plain(cell);
  if (ofDelivery.test(words)) return { optIn: "NON_SUBSCRIBED", channels: ["email"] };
  if (ofComplaint.test(words)) return { optIn: "UNSUBSCRIBED", channels: ["email"] };
  if (!ofLeaving.test(words)) return undefined;
  // Who has opted out by e-mail has not opted out of it alone.
  const what = words.replace(/(?<!contact(ed)?( me| us)?) (by|via|through) .*$/, "");
  const named =
    onlyOne(ofEmail.test(what), ofPhone.test(what)) ??
    onlyOne(headingOfEmail.test(plain(heading)), headingOfPhone.test(plain(heading)));
  return { optIn: "UNSUBSCRIBED", channels: named ?? both };
}

function onlyOne(isEmail: boolean, isPhone: boolean): readonly Channel[] | undefined {
  if (isEmail === isPhone) return undefined;
  return [isEmail ? "email" : "phone"];
}

/** `OptedOut_of-Email` as the words "opted out of email", in any typography: without quotes, dashes and invisible signs. */
function plain(text: string): string {
  const seen = text.replace(/['’‘ʼ`´＇]|\p{Cf}/gu, "").normalize("NFKC");
  return inLowerCase(seen.replace(/(?<=\p{Ll})(?=\p{Lu})/gu, " "))
    .replace(/[\s\p{P}]+/gu, (signs) => (/[?/\\&%#@]/.test(signs) ? signs : " "))
    .trim();
}

/** Whether the name of a file says that it is a list of people who refused: `unsubscribed_2026-11.csv`. */
export function isNamedAsRefusal(name: string): boolean {
  const words = plain(name.replace(/\.[a-z]+$/i, ""))
    .replace(/\b(\d+|contacts?|people|subscribers?|members?|customers?|users?|list|export|csv)\b/g, "")
    .replace(/\s+/g, " ")
    .trim();
  return (
    [words, words.replace(/s$/, "")].some((one) => refusalIn(one, "") !== undefined) ||
    /^(suppression|suppressed)s?$/.test(words)
  );
}
