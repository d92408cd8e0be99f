import {
  looksLikeConsent,
  status,
  otherMatters,
  otherChannels,
  allows,
  messages,
  negatives,
  optInWords,
  optIn,
  undeliverable,
  complaint,
} from "./consent-stems.ts";
import type { Channel } from "./contact.ts";
import { compactHeading, headingWords, wordsWithoutAnswers } from "./heading.ts";
import type { Layout } from "./layouts.ts";

/** The question of a column, which decides the meaning of its yes and no. */
export type ConsentQuestion =
  /** "Accepts marketing?", "Status": yes is an opt-in, no is read as the stricter of its meanings, an opt-out. */
  | "opt-in"
  /** "Unsubscribed?": yes is an opt-out; no is no opt-in, and is ignored. */
  | "opt-out"
  /** The time or reason of an opt-out: any text is an opt-out. */
  | "left"
  /** "Never subscribed?": yes is no opt-in; no is ignored. */
  | "not subscribed"
  /** "Suppressed", "Bounced": any text but a no. */
  | "undeliverable"
  /** "Spam complaint": any text but a no is an opt-out. */
  | "complaint"
  /** "GDPR consent", "WhatsApp", "Marketable": a no is an opt-out, a yes is no opt-in to marketing by this channel. */
  | "refusal only"
  /** "Double opt-in": a no is no opt-in, a yes may only mean that a confirmation was requested. */
  | "confirmation"
  /** Brevo's "DOUBLE_OPT-IN", which means that it was confirmed. */
  | "confirmed"
  /** "Status": words that name a state are understood, and a no is an opt-out; a yes may be the state of an order. */
  | "status"
  /** "Email permission status", where I is an opt-in, and O an opt-out. */
  | "permission status"
  /** It asks both ("Opt-in/opt-out"): only words that name a state are understood. */
  | "state"
  /** "Photo consent", "Post opt-in": a refusal counts; any other word may be about another matter. */
  | "other";

/** A column about consent. */
export interface ConsentColumn {
  readonly question: ConsentQuestion;
  readonly channels: readonly Channel[];
  /** Whether the heading names neither a channel nor all channels. */
  readonly isGeneral: boolean;
}

// Words of a heading: "Opt-in date", "Date of consent", "Unsubscribe link".
const firstBeside =
  /^(time|date|timestamp|datetime|day|year|when|last|total|number|datum|zeitpunkt|jahr|fecha|ano|anno|annee|numero|anzahl|reason|grund|motivo?|motif|raison|razon|powod|plan|tipo|type|precio|preco|prezzo|prix)$/;
const lastBeside =
  /^(time|date|timestamp|datetime|day|at|on|since|reason|reasons|other|zeitpunkt)$|(grund|datum)$/;
// "Data" is also English, and no date then.
const romanceDate =
  /^data (d[aieo] |dell|iscri|inscri|consenso|consentimento|adesao|descadastr|cancela|disiscri|annull|zgody|wypisan|rezygnac|sprzeciw)/;
const beside = new Set(
  `ip address source method url uri link links id ids form version language campaign title name by agent token hash key
  score rate page location country device browser platform website site domain type plan tier level price amount
  interval renewal count total history wording basis channel channels comment note notes description details proof
  frequency format`.split(/\s+/),
);
const endOfConsent = /(consent|einwilligung|toestemming|samty[kc]).*(end|expir|ablauf)/;
const neverAboutThePerson = /^(url|uri|link|links|token|hash|key|score|rate|page|id|ids|wording|version)$/;

/** The question of the column, if its heading looks like a consent; otherwise `undefined`. */
export function consentColumn(heading: string, provider?: Layout["provider"]): ConsentColumn | undefined {
  const words = wordsWithoutAnswers(heading);
  const compact = words.join("");
  if (!isConsent(words, compact)) return undefined;
  const question = questionOf(words, compact, provider);
  if (question === undefined) return undefined;
  const named = namedChannels(heading);
  if (named.length > 0) return { question, channels: named, isGeneral: false };
  if (ofAllChannels.test(compact))
    return question === "opt-in" || question === "status"
      ? { question, channels: ["email"], isGeneral: true }
      : { question, channels: ["email", "phone"], isGeneral: false };
  const isOfAll = ["opt-out", "left", "refusal only"].includes(question) && provider !== "mailchimp";
  return { question, channels: isOfAll ? ["email", "phone"] : ["email"], isGeneral: true };
}

/** The channels of a refusal in a text; "unsubscribed by phone" may be about e-mail. */
export function refusedChannels(text: string): Omit<ConsentColumn, "question"> {
  if (ofPhoneAlone.test(headingWords(text).join(" "))) return { channels: ["phone"], isGeneral: false };
  const named = namedChannels(text);
  if (ofAllChannels.test(compactHeading(text))) return { channels: ["email", "phone"], isGeneral: false };
  return {
    channels: ["email", ...named.filter((channel) => channel === "phone")],
    isGeneral: !named.includes("email"),
  };
}

const ofPhoneAlone =
  /^((sms|mms|texts?|phone|calls?|whatsapp)( marketing| messages?)? (opt(ed)? ?out|unsub\w*)|(opt(ed)? ?out|unsub\w*)( of| from)?( all)? (sms|mms|texts?|phone|calls?|whatsapp)( marketing| messages?)?|do not (call|text))$/;
const ofAllChannels = /donotcontact|blacklist|blocklist|gdpr|dsgvo|rgpd|lgpd|dnd|dnc|global|all$/;

function namedChannels(text: string): Channel[] {
  const words = headingWords(text);
  const compact = words.join("");
  const isPhone = /sms|mms|phone|mobil|whatsapp|telefon|handy/.test(compact) || words.some(isPhoneWord);
  const isEmail =
    /mail|mejl|correo|epost|newsletter|nyhedsbrev|nyhetsbrev|nieuwsbrief|infolettre|boletin/.test(compact);
  return [...(isEmail ? (["email"] as const) : []), ...(isPhone ? (["phone"] as const) : [])];
}

const isPhoneWord = (word: string) =>
  /^(text|texts|texting|call|calls|calling|cell|voice|anrufen?|anrufe|angerufen|gebeld)$/.test(word);

function isConsent(words: readonly string[], compact: string): boolean {
  if (otherMatters.test(compact) || /softbounc|emailsbounced/.test(compact)) return false;
  const isRefusal = compact.search(negatives) !== -1 || isDenial(words);
  if (otherChannels.test(compact) && !(isRefusal && /email|newsletter/.test(compact))) return false;
  const isOpt = words.some((word) => /^(opt|dnd|dnc)$/.test(word));
  return (
    looksLikeConsent.test(compact) ||
    isOpt ||
    status.test(compact) ||
    ((words.some((word) => allows.test(word)) || isDenial(words)) && messages.test(compact))
  );
}

// "No emails", "Bitte keine Mails", "Prefers no contact"; "Phone no" and "No. of calls" are numbers.
function isDenial(words: readonly string[]): boolean {
  const [first = "", second = ""] = words.filter((word) => !/^(bitte|please)$/.test(word));
  return (
    (/^(no|non|not|never|nicht|niet|ikke|inte|nao|nie|stop)$/.test(first) && second !== "of") ||
    /^(inte|ikke|ej)$/.test(second) ||
    (first === "ne" && /^(pas|plus|jamais)$/.test(second)) ||
    words.slice(0, 3).some((word) => /^(kein|keine|keinen|ingen|inga|geen|zadnych)$/.test(word)) ||
    /\b(no|not to be) (e ?)?(mail|contact|marketing|newsletter)(s|ed)?$/.test(words.join(" "))
  );
}

function questionOf(
  words: readonly string[],
  compact: string,
  provider: Layout["provider"],
): ConsentQuestion | undefined {
  const [first = "", last = ""] = [words[0], words.at(-1)];
  const isBeside =
    !/(any|all|every)channels?$/.test(compact) &&
    (firstBeside.test(first) ||
      romanceDate.test(words.join(" ")) ||
      lastBeside.test(last) ||
      beside.has(last));
  const isOfMarketing = words.every(
    (word) => optInWords.has(word) || word === "out" || word.search(negatives) === 0 || isDenying(word),
  );
  const isRefusal = compact.search(negatives) !== -1 || words.includes("dnd");
  if (isRefusal || undeliverable.test(compact) || complaint.test(compact)) {
    if (neverAboutThePerson.test(last)) return undefined;
    if (complaint.test(compact)) return "complaint";
    if (undeliverable.test(compact)) return "undeliverable";
    const isTwiceDenied = words.includes("not") && !compact.includes("donot");
    if (isTwiceDenied || optIn.test(compact.replaceAll(negatives, "")))
      return isOfMarketing ? "state" : "other";
    return isBeside || /^(am|seit|le|depuis|el|desde|il|dal|op|sinds)$/.test(last) ? "left" : "opt-out";
  }
  // The time of an expiry may lie ahead.
  if (isBeside) return endOfConsent.test(compact) ? "other" : undefined;
  if (/unconfirmed|awaiting/.test(compact)) return "not subscribed";
  const isDenied = words.some(isDenying);
  if (isDenied && /subscri|opt/.test(compact)) return "not subscribed";
  if (isDenied || words.includes("no")) return "opt-out";
  if (/whatsapp|marketable|directmarketing|^keepme|^signme/.test(compact)) return "refusal only";
  if (/double(opt|confirm)/.test(compact)) return provider === "brevo" ? "confirmed" : "confirmation";
  if (words.includes("doi") || /confirmationstatus|confirmed$|bestatigt$|confirmee?$/.test(compact))
    return "confirmation";
  const isOfData = /gdpr|dsgvo|rgpd|lgpd|privacy|datenschutz|process/.test(compact);
  if (isOfData && !/mail|sms|opt|subscri|marketing|newsletter/.test(compact)) return "refusal only";
  if (status.test(compact)) return "status";
  // "Opt" may hold I and O, for in and out.
  if (words.includes("opt") && !compact.includes("optin")) return isOfMarketing ? "state" : "other";
  if (compact.endsWith("permissionstatus")) return isOfMarketing ? "permission status" : "other";
  if (words.every((word) => optInWords.has(word))) return "opt-in";
  return isOfMarketing ? "state" : "other";
}

const isDenying = (word: string) =>
  /^(not|never|non|kein|keine|keinen|nicht|ohne|without|sans|pas|sin|ikke|inte|ej|ingen|inga|niet|geen|nao|nie|zadnych|stop)$/.test(
    word,
  );
