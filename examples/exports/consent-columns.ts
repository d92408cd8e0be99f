import type { Channel } from "./contact.ts";
import { compactHeading, headingWords, wordsWithoutAnswers } from "./heading.ts";
import type { Layout } from "./layouts.ts";
import { refusalStems } from "./refusal-stems.ts";

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

// Parts of a heading without its spaces and punctuation.
const anyOf = (parts: string, flags = "") => new RegExp(parts.trim().split(/\s+/).join("|"), flags);
const refusals = refusalStems.replaceAll("_", "");

const looksLikeConsent = anyOf(`
  ${refusals}
  consent opt(ed)?in opt(ed)?out opted subscri suppress permission bounc complain spam donot
  gdpr dsgvo rgpd lgpd accepts newsletter mailinglist quarantine einwilligung angemeldet abonn
  ^(un)?cleaned$ ^clean(time|date)$ ^marketing$ (e?mail|sms)marketing(status)?$ marketing(emails?|sms|communications?)$
  promotional(e?mails?|sms|messages|offers)$ confirmationstatus$ invalide?mail ineligible contactable mailable
  austrag gekundigt keinewerbung excluded (^|de)baja$ cancellazione publicidad pubblicita publicite$
  nyhedsbrev nyhetsbrev nieuwsbrief infolettre boletin samtykke samtycke toestemming consenso
  prenumer undeliver unreachable unzustellbar ^removed ^removid[oa] ^gesperrt
  werbeerlaubnis ^(e?mail)?werbung(erlaubt|erwunscht|ok)?$ (nicht|ikke|inte)kontakt ne(pas|plus)contact
  ^(inscrite?|iscritt[oa]|suscrit[oa]|abbonat[oa]|tilmeldt|pameldt|aangemeld)$
  ^(stop|no)(e?mails?|sms|marketing|contact)$ ^(e?mail|sms|marketing)stop$
  ^(is)?(e?mail|optin|subscription|newsletter)?(confirmed|bestatigt|confirmee?)$
  robinson ^geblokkeerd ^blockerad ^blokeret ^bloccat[oa]$ ^(e?mails?|sms)?bloqu(e|es|ee|ees|eado|eada)$
  ^revoked ^(objection|opposition)(at|on|date)?$ ^left(the)?(e?mail|mailing|newsletter)?list
  okto(e?mail|contact|sms|call|text) (e?mail|sms|marketing|contact)ok$ ^(can|may)(be|we|i)?(contact|e?mail|call|text|sms)
  ^(is)?(e?mail|sms)?blocked(at|on|date|reason)?$ ^block(e?mails?|sms|marketing|contact)$
  ^(is)?(e?mail|sms|marketing|contact)?onhold$ ^(e?mail|newsletter)inactive$ tobeforgotten
  ^(is)?marketable$ ^directmarketing$ ^e?mail(list|updates)$ ^(keepmeupdated|signmeup)$
  ^mailing$ marketingpreferences?$ ^exclude$ excludefrom ^dea[kc]tiv(iert|ated)(am|seit|at|on)?$ ^sperre$ zustimmung
  einverstand rundbrief infobrief rundmail infomail ^(newsletter|e?mail)?doi(status)?$ lettres?dinfo suscri
  ne(souhaite|veut|desire)(pas|plus) (fecha|motivo|razon)baja$ inscricao(?!estadual|municipal) iscrizione$
  iscrizione(alla|da|news|e?mail) (e?mails?|sms|newsletter|marketing)(disabled|suspended)$ e?mailinvalid rebotad
  ^abuse abuse(report|complain) ^(e?mail|contact|subscriber|optin)?unconfirmed$ ^awaitingconfirmation$
  ^refus(al|ed)(at|on|date)?$ e?mailungultig ungultigee?mail ^(e?mail)?rucklaufer$ ^plusde(e?mails?|newsletters?|sms|publicite)$
  zgod subskryp ^(data|powod)?sprzeciw souhlas hozzajarul подписк
  sperrkennzeichen kontakterlaubnis mailempfang mailversand ^bulke?mails?$ ^oppositionau ^pasde(pub|newsletter|e?mails?)
  ^desactivee?s?$ ^cancellat[oa]$ ^(privacymarketing|marketingprivacy)$ reserver(t|ad|et)mot
  nichterwunscht unerwunscht unwanted(e?mail|marketing) (contact|kontakt)(prohibited|forbidden|verboten)$ marketingrestrict
  ^e?mails?(paused|off)$ prohibidocontact vietatocontatt sparradfor(utskick|reklam|mail)`);
// Not "Contact status", "Lead status", "Marketing contact status": those are of sales and billing.
// "Iscrizione" and "inscrição" may also be an enrolment.
const status = anyOf(`
  ^(e?mail|sms|phone|mobile|marketing|emailmarketing|smsmarketing|personmarketing|marketingemail|member|list|global|mailpoet)?(status|statut)$
  ^(stato|status|estado|situacao)?(d[aei])?(iscrizione|inscricao)$ ^statussubskrypcji$`);
const otherMatters = anyOf(`
  cookie privacypolicy terms transactional agb$ thirdparty profiling analytics tracking totrack`);
const otherChannels = anyOf("webpush pushnotif mobilepush browserpush ^push directmail postal fax");
// "Allow e-mails", "Agrees to receive news", "Contact refused".
const allows =
  /^(allow|agree|permit|declin|refus|object|revok|withdr)(e|e?s|e?d|al|ing|awn|awal|ew|ted|ion)?$|^(opposition|exclue?s?|receives?|wants?|accepte?|acepta|accetta|aceita|autori[sz]+[ae]|rechaz[ao]|rifiut[ao]|erlaubt|darf|durfen|mag|mogen|toegestaan)$/;
const messages = anyOf(
  "mail sms marketing contact kontakt contat phone text call news promo correo campagn mejl epost utskick anschreib " +
    "angeschrieben anrufen benader gebeld sollicit wysy prospec demarch envoyer enviar comunicac commercial",
);

const negatives = anyOf(
  `${refusals}
  unsuscri ^desuscri optout optedout outof donot dnc nomarketing noemail nosms deabonn declin refus object revok withdr
  blocked ^block(e?mail|sms|marketing|contact) onhold inactive austrag gekundigt gesperrt sperre keinewerbung exclu(?!siv)
  dea[kc]tiv baja denied denial anul(o|ar|ad) annullat ne(souhaite|veut|desire)?(pas|plus) rechaz rifiut opposition
  reject cancel entzogen verweigert abgelehnt ^remov(ed|ido|ida) tobeforgotten robinson ^geblokkeerd ^blockerad ^blokeret
  bloqu(e|es|ee|ees|eado|eada)$ ^bloccat ^left loschung geloscht erasure delet(e|ion) ^plusde sprzeciw brakzgod wycofan
  verbot sperrkennzeichen desactiv reserver(t|ad|et) unerwunscht unwanted prohibit forbidden
  restrict paused mailsoff emailoff mailoff prohibid vietat sparrad suspended disabled revoc retrait(?!e) retirad intrek
  ingetrokken kundigung`,
  "g",
);
/** A heading of these words alone asks for an opt-in. Any other word may turn its yes into another answer. */
const optInWords = new Set(
  `accept accepts accepted agree agrees agreed allow allows allowed permit permits permitted permission receive receives
  want wants wanted consent consents consented einwilligung marketing promo promotional promotion promotions news
  newsletter newsletters email emails e mail mails mailing list mailinglist sms mms text texts texting phone mobile cell
  call calls calling telefon handy contact contactable mailable message messages opt opted in optin optedin single
  subscribe subscribed subscriber subscription subscriptions abonniert abonnent abonne abonnement angemeldet inscrit
  suscrito iscritto ok okay can be may is has have are was you your our us we i me my to by for via from of the a and or
  on per all gdpr dsgvo rgpd lgpd global general customer person member user web website online status state
  nyhedsbrev nyhetsbrev nieuwsbrief infolettre boletin samtykke samtycke toestemming consentement consentimiento
  consentimento consenso inscrite iscritta suscrita abbonato abbonata tilmeldt pameldt aangemeld abonnee erwunscht
  werbung werbeerlaubnis erlaubt acepta accetta accepte publicidad pubblicita publicite
  zustimmung einverstandnis einverstandniserklarung rundbrief infobrief rundmail infomail anmeldung accept permissions
  emailable given currently lettre lettres d info information suscripcion suscripciones suscriptor estado stato
  inscricao inscrito inscrita iscrizione aceita autoriza autorise autorizza receber da do
  kontakt kontaktaufnahme kontaktiert angeschrieben angerufen werden darf durfen wir sie mich mag mogen gemaild gebeld
  benaderd worden toegestaan zgoda marketingowa na subskrypcja subskrypcji souhlas hozzajarulas подписка
  communication communications updates offers
  la le les l il el au aux du de des di al til voor zum zur den der die das fur mobil`.split(/\s+/),
);
const optIn = /optin|optedin|subscribe(?!r)/;
const undeliverable = anyOf(
  "suppress bounc quarantine clean invalide?mail e?mailinvalid ineligible undeliver unreachable unzustellbar ungultig rucklaufer rebotad",
);
const complaint = anyOf("complain spam abuse");

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

// "No emails", "Bitte keine Mails", "Ne pas envoyer"; "Phone no" and "No. of calls" are numbers.
function isDenial(words: readonly string[]): boolean {
  const [first = "", second = ""] = words.filter((word) => !/^(bitte|please)$/.test(word));
  return (
    (/^(no|non|not|never|nicht|niet|ikke|inte|nao|nie|stop)$/.test(first) && second !== "of") ||
    /^(inte|ikke|ej)$/.test(second) ||
    (first === "ne" && /^(pas|plus|jamais)$/.test(second)) ||
    words.slice(0, 3).some((word) => /^(kein|keine|keinen|ingen|inga|geen|zadnych)$/.test(word)) ||
    /\b(no|not to be) (e )?(mail|contact|marketing|newsletter)/.test(words.join(" "))
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
