/**
 * The beginnings of words that mean a refusal of messages, and nothing else, in a heading as in the name of a file: without
 * accents, in lower case, and with _ where a space may stand.
 */
export const refusalStems = `
  unsub(scri(bed?|ption))? (black|block|deny|stop)_list
  abgemeldet abbestell abmeld ausgetragen widerruf widerspr sperrliste sperrdatei sperrvermerk werbeverweiger
  (kontakt|mail|mailing|newsletter|versand|werbe|werbung)_(sperre|verbot|gesperrt)
  desinscri desabonn dezabon liste_noire lista_neg?ra disiscri descadastr
  afgemeld afmeld uitgeschreven uitschr frameld avmeld avregistr avprenumer avanmal reklam_(blok|sparr)
  markkinointikielto wypisan rezygnac odhlas leiratkoz отпис`
  .trim()
  .split(/\s+/)
  .join("|");

// Below are parts of a heading without its spaces and punctuation.
const anyOf = (parts: string, flags = "") => new RegExp(parts.trim().split(/\s+/).join("|"), flags);
const refusals = refusalStems.replaceAll("_", "");

/** A heading that may be about consent. */
export const looksLikeConsent = anyOf(`
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
export const status = anyOf(`
  ^(e?mail|sms|phone|mobile|marketing|emailmarketing|smsmarketing|personmarketing|marketingemail|member|list|global|mailpoet)?(status|statut)$
  ^(stato|status|estado|situacao)?(d[aei])?(iscrizione|inscricao)$ ^statussubskrypcji$`);
export const otherMatters = anyOf(`
  cookie privacypolicy terms transactional agb$ thirdparty profiling analytics tracking totrack`);
export const otherChannels = anyOf("webpush pushnotif mobilepush browserpush ^push directmail postal fax");
// "Allow e-mails", "Agrees to receive news", "Contact refused".
export const allows =
  /^(allow|agree|permit|declin|refus|object|revok|withdr)(e|e?s|e?d|al|ing|awn|awal|ew|ted|ion)?$|^(opposition|exclue?s?|receives?|wants?|accepte?|acepta|accetta|aceita|autori[sz]+[ae]|rechaz[ao]|rifiut[ao]|erlaubt|darf|durfen|mag|mogen|toegestaan)$/;
export const messages = anyOf(
  "mail sms marketing contact kontakt contat phone text call news promo correo campagn mejl epost utskick anschreib " +
    "angeschrieben anrufen benader gebeld sollicit wysy prospec demarch envoyer enviar comunicac commercial",
);

/** What turns the yes of a heading into a refusal. */
export const negatives = anyOf(
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
export const optInWords = new Set(
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
export const optIn = /optin|optedin|subscribe(?!r)/;
export const undeliverable = anyOf(
  "suppress bounc quarantine clean invalide?mail e?mailinvalid ineligible undeliver unreachable unzustellbar ungultig rucklaufer rebotad",
);
export const complaint = anyOf("complain spam abuse");
