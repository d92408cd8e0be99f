import { describe, expect, it } from "vitest";
import { csv, run, sentBodies, service, temporaryFolder } from "./importer-fixture.ts";

// S subscribed, N non-subscribed, U unsubscribed; "·" no statement; "stopped": nothing about the person is sent.
const states = { S: "SUBSCRIBED", N: "NON_SUBSCRIBED", U: "UNSUBSCRIBED", "·": undefined } as const;
type State = keyof typeof states;

/** A line behind its address and its "yes" under "Newsletter", and the consent that is sent. */
type Line = readonly [cells: string, email: State | "stopped", phone?: State];

interface Table {
  readonly rule: string;
  /** Behind "Email" and "Newsletter". */
  readonly headings: string;
  readonly lines: readonly Line[];
}

const each = (words: readonly string[], email: Line[1], phone: State = "·"): Line[] =>
  words.map((word) => [`"${word}"`, email, phone]);

const regions =
  "activo,,Baja California,Puebla,ON,CA,Texas,Jalisco,Colima,Oaxaca,Nuevo León,Sonora,Yucatán,Chiapas".split(
    ",",
  );

const tables: readonly Table[] = [
  ...["State", "Estado", "Stato", "État"].flatMap((headings) => [
    {
      rule: "A known word counts where a region may stand, in any row",
      headings,
      lines: [
        ...each(regions, "S"),
        ...each(["baja", "Cancelado", "complained", "unsubscribed"], "U"),
        ...each(["Unconfirmed", "Cleaned", "suppressed"], "N"),
      ],
    },
    {
      rule: "A known word in any row makes the column a status, if few other words are in it",
      headings,
      lines: [
        ...each(["Active", "deleted"], "stopped"),
        ...each(["subscribed", ""], "S"),
        ...each(["baja"], "U"),
        ...each(["Bounced"], "N"),
      ],
    },
  ]),
  {
    rule: "A known word counts as the reason of a suppression",
    headings: "Reason",
    lines: [...each(["COMPLAINT"], "U"), ...each(["BOUNCE"], "N"), ...each(["too far"], "S")],
  },
  {
    rule: "The free text of a reason is an opt-out",
    headings: "Grund der Abmeldung",
    lines: [...each(["zu viele Mails"], "U"), ...each(["", "nein"], "S")],
  },
  ...[",", "|", "\n"].map((separator) => ({
    rule: `A refusal in a list counts, with ${JSON.stringify(separator)} between its parts`,
    headings: "Tags",
    lines: each([`vip${separator}unsub`, `do not mail${separator} vip`], "U"),
  })),
  {
    rule: "A phrase that only means a refusal counts as whole words anywhere in a cell",
    headings: "Note",
    lines: [
      ...each(
        [
          "#unsubscribed",
          "vip / unsubscribed",
          "status:unsubscribed",
          "vip unsubscribed",
          "has unsubscribed",
          "was not amused; unsubscribed",
          "No. Unsubscribed",
          "No - unsubscribed",
          "unsubscribed by phone",
          "Email opt-out",
          "Opt-out email",
          "newsletter_opt_out",
          "No newsletter",
          "Spam complaint",
          "marked as spam in May",
          "Kunde hat sich abgemeldet",
          "vip, keine Werbung",
          "kein Newsletter",
          "bitte keine Mails mehr",
          "geen mailing",
          "pas de publicité",
          "ingen reklame",
          "inga utskick",
          "sin publicidad",
          "Werbesperre",
          "Gesperrt",
          "se ha dado de baja",
          "möchte keinen Newsletter mehr",
          "nicht mehr kontaktieren",
          "wants to unsubscribe",
          "no more emails",
          "consent withdrawn",
          "Einwilligung widerrufen am 3.5.",
          "se dio de baja",
          "har avregistrerat sig",
          "wypisał się",
          "niente newsletter",
          "sem newsletter",
          "geen e-mail sturen",
          "Opt-outs",
          "Unsubscribers",
          "Suppression list",
        ],
        "U",
      ),
      ...each(["DNC", "Do not contact (GDPR)", "please don't contact"], "U", "U"),
      ...each(["SMS opt-out", "opted out of text messages", "vip, do not call"], "S", "U"),
      ...each(["hard bounce", "bounced", "a hard-bounced address", "Customer never subscribed"], "N"),
      ...each(
        [
          "not unsubscribed",
          "has never unsubscribed",
          "hasn't opted out",
          "nicht abgemeldet",
          "may opt out",
          "unsubscribedness",
          "https://shop.example/unsubscribed?list=1",
          "unsubscribed@shop.example",
          "no email address in the CRM",
          "Order cancelled",
          "complaint about a parcel",
          "keine E-Mail-Adresse",
          "kein Kontakt erreicht",
          "Konto gesperrt",
          "nicht gesperrt",
        ],
        "S",
      ),
    ],
  },
  ...["Post opt-in", "App push opt-in", "Data sharing consent", "Photo consent", "Post opt-in/opt-out"].map(
    (headings) => ({
      rule: "A consent to something else is no opt-in",
      headings,
      lines: [...each(["Opted in", "consented", "yes"], "stopped"), ...each(["opted out"], "U")],
    }),
  ),
  {
    rule: "A yes instead of a telephone number is no opt-in, a no is an opt-out",
    headings: "Phone,Mobile",
    lines: [
      ["+493012345678,ja", "S"],
      ["+493012345679,nein", "S", "U"],
      [",no", "S", "U"],
    ],
  },
  {
    rule: "A word under a channel's name is a refusal or nothing",
    headings: "Mail,Phone,SMS",
    lines: [
      ["No,+442079460123,", "U"],
      ["Yes,+442079460124,No", "S", "U"],
      [",No,Yes", "S", "U"],
      [",+442079460125,0", "S", "U"],
    ],
  },
  {
    rule: "A digit instead of a telephone number is no refusal",
    headings: "Phone",
    lines: each(["0", "0.0", "1"], "S"),
  },
  {
    rule: "The confirmation of a plain table is no opt-in, and its number gets no country",
    headings: "firstname,sms,double_opt_in",
    lines: [["Ada,2025550123,true", "S"]],
  },
  ...[
    "Exclude from marketing",
    "Deaktiviert",
    "Descadastrado",
    "Cancelou a inscrição de todos os e-mails",
    "Anuló la suscripción a todos los correos electrónicos",
    "Annullata iscrizione",
    "Desuscrito",
    "Unsubscribed (yes/no)",
    "Opted_Out__c",
    "Marketing Suspended",
    "email_disabled",
    "Ne pas envoyer d'emails",
    "Ne plus envoyer d’emails",
    "Nicht per E-Mail kontaktieren",
    "Nicht mailen",
    "Möchte keine E-Mails",
    "Bitte keine Mails",
    "Ich wünsche keinen Newsletter",
    "Niet mailen",
    "Niet contacteren",
    "No enviar correos",
    "Not to be emailed",
    "Not to be contacted by email",
    "Not for mailing",
    "Stop mailing",
    "Stop emailing",
    "Marketing refusal",
    "Opposition marketing",
    "Refuse les emails",
    "Werbeverbot",
    "Kontaktverbot",
    "Mailsperre",
    "Lista Robinson",
    "Exclu des campagnes",
    "Opt out of email and direct mail",
    "Unsubscribed from email and push notifications",
    "No email or postal contact",
    "Não enviar e-mail",
    "Nie wysyłać e-maili",
    "Nie wysyłać",
    "Ikke send e-post",
    "Ingen e-post",
    "Inga mejl",
    "Inga utskick",
    "Skicka inte e-post",
    "Avanmäld",
    "Plus de mails",
    "Ne pas solliciter",
    "Não contatar",
    "Niet benaderen",
    "Nicht anschreiben",
    "E-Mail nicht erwünscht",
    "Werbung unerwünscht",
    "Werbesperrkennzeichen",
    "Contact forbidden",
    "Marketing restriction",
    "Opposition au démarchage",
    "Pas de pub",
    "Désactivé",
    "Lista negra",
    "Cancellato",
    "Prohibido contactar",
    "Vietato contattare",
    "Spärrad för utskick",
    "Reklamblokering",
    "Reservert mot reklame",
    "Wypisany",
    "Rezygnacja",
    "Sprzeciw",
  ].map((headings) => ({
    rule: "A yes is an opt-out, and a no nothing",
    headings,
    lines: [...each(["true", "sim", "ja", "oui"], "U"), ...each(["no", ""], "S")],
  })),
  ...[
    "Kontakterlaubnis",
    "Mailempfang",
    "Mailversand",
    "Bulk Email",
    "Accepte la prospection",
    "Privacy marketing",
  ].map((headings) => ({
    rule: "A refusal counts where a yes or no may be about more than the newsletter",
    headings,
    lines: [...each(["nein", "ja"], "stopped"), ...each(["Do Not Allow"], "U")],
  })),
  {
    rule: "A yes is an opt-out of calls",
    headings: "Nicht anrufen",
    lines: [...each(["ja"], "S", "U"), ...each(["nein", ""], "S")],
  },
  ...["Do not contact by email or phone or fax", "DSGVO-Löschung"].map((headings) => ({
    rule: "A yes is an opt-out of every channel that the heading names",
    headings,
    lines: [...each(["yes"], "U", "U"), ...each(["no", ""], "S")],
  })),
  ...["Unconfirmed", "Awaiting confirmation", "Email Invalid", "E-Mail ungültig", "Rückläufer"].map(
    (headings) => ({
      rule: "A yes is no opt-in, and a no nothing",
      headings,
      lines: [...each(["yes", "true"], "N"), ...each(["no", ""], "S")],
    }),
  ),
  ...["Consent end date", "Consent expiry date", "Einwilligung Ablaufdatum", "Ablauf der Einwilligung"].map(
    (headings) => ({
      rule: "The time of an expiry may lie ahead, and is not understood",
      headings,
      lines: [...each(["2024-03-01", "2099-03-01"], "stopped"), ...each([""], "S")],
    }),
  ),
  ...["Global status", "mailpoet_status"].map((headings) => ({
    rule: "The status of a person is understood as that of a list",
    headings,
    lines: [
      ...each(["unsubscribed"], "U"),
      ...each(["unconfirmed", "bounced"], "N"),
      ...each(["inactive"], "stopped"),
      ...each(["subscribed"], "S"),
    ],
  })),
  ...["Contact status", "Kundenstatus"].map((headings) => ({
    rule: "Each refusal counts under a heading of the contact's status, and other words are a property",
    headings,
    lines: [
      ...each(["complained", "Spam", "rejected", "gesperrt", "widerrufen"], "U"),
      ...each(["bounced", "pending"], "N"),
      ...each(["New", "no", "Open"], "S"),
    ],
  })),
  {
    rule: "A refusal makes the column a status, and without one it is a property",
    headings: "Situação",
    lines: [...each(["removido"], "U"), ...each(["Ativo"], "stopped"), ...each([""], "S")],
  },
  {
    rule: "The status of a subscription is understood",
    headings: "Status subskrypcji",
    lines: [...each(["wypisany"], "U"), ...each(["gone"], "stopped"), ...each([""], "S")],
  },
  {
    rule: "A word that is only of a person counts under a heading of any status",
    headings: "Delivery status",
    lines: [
      ...each(["bounced", "hard-bounced", "Suppressed"], "N"),
      ...each(["marked as spam"], "U"),
      ...each(["pending", "refused", "cancelled"], "S"),
    ],
  },
  ...[
    "Fecha baja",
    "Motivo baja",
    "Fecha de baja",
    "Consent revocation date",
    "Date de retrait du consentement",
    "Data di revoca del consenso",
    "Fecha de revocación del consentimiento",
    "Fecha de retirada del consentimiento",
    "Datum intrekking toestemming",
    "Newsletter Kündigungsdatum",
    "Refusal date",
    "Abuse report",
    "Data rezygnacji",
  ].map((headings) => ({
    rule: "Any text is an opt-out",
    headings,
    lines: [...each(["2024-03-01", "01/03/24", "demasiados correos"], "U"), ...each(["", "no"], "S")],
  })),
  ...[
    "Can we email you?",
    "May we contact you?",
    "Accept Marketing",
    "Mailing",
    "Zustimmung",
    "Einverständnis (E-Mail)",
    "Accepte les e-mails",
    "Lettre d'information",
    "Suscripción",
    "Estado de suscripción",
    "Aceita marketing",
    "Newsletter (ja/nein)",
    "Newsletter (yes/no)",
    "Opt-in [J/N]",
    "Newsletter__c",
    "Email_Opt_In__c",
    "Kontakt erlaubt",
    "Kontaktaufnahme erlaubt",
    "Darf angeschrieben werden",
    "Darf kontaktiert werden",
    "Mag gemaild worden",
    "Mailing toegestaan",
    "Zgoda marketingowa",
    "Souhlas",
    "Hozzájárulás",
    "Подписка",
  ].map((headings) => ({
    rule: "A no is an opt-out",
    headings,
    lines: [
      ...each(["no", "nein", "non", "nie", "Cancelada"], "U"),
      ...each(["yes", ""], "S"),
      ...each(["perhaps"], "stopped"),
    ],
  })),
  ...["Opt-in", "Email consent", "Status"].map((headings) => ({
    rule: "A letter O, and a number below zero, may be an opt-out, and are not understood",
    headings,
    lines: each(["O", "o", "-1", "−1", "- 1"], "stopped"),
  })),
  {
    rule: "An opt-out by I and O is known by a heading that names the state of a permission",
    headings: "Email permission status",
    lines: [
      ...each(["O", "no", "opted out"], "U"),
      ...each(["I", "yes", ""], "S"),
      ...each(["U"], "stopped"),
    ],
  },
  ...["GDPR consent", "DSGVO", "WhatsApp opt-in"].map((headings) => ({
    rule: "A refusal with a date counts, and any other text beside a date is not understood",
    headings,
    lines: [
      ...each(
        [
          "No (2024-03-01)",
          "no, 2024-03-01",
          "0, 2024-03-01",
          "Withdrawn 2024-03-01",
          "Declined on 2024-03-01",
          "widerrufen am 1. März 2024",
        ],
        headings === "WhatsApp opt-in" ? "S" : "U",
        "U",
      ),
      ...each(["No longer since 2024-03-01", "2024-03-01: nope"], "stopped"),
      ...each(
        [
          "2024-03-01",
          "2024-03-01T10:15:00.000Z",
          "2024-03-01 10:15:00 +0100",
          "01/03/2024 10:15 AM",
          "Mar 1st, 2024 10:15 pm UTC",
          "Friday, 1 March 2024",
          "Wed, 06 Mar 2024 10:15:00 GMT",
          "1. März 2024, 10:15 Uhr",
          "le 1er février 2024",
          "1 de marzo de 2024",
          "1709251200",
          "Yes (2024-03-01)",
          "ja, seit 01.03.2024",
          "subscribed since 2024-03-01",
        ],
        "S",
      ),
    ],
  })),
  {
    rule: "A confirmation that is missing with a date is no opt-in",
    headings: "Double opt-in",
    lines: [
      ...each(["Pending since 2024-03-01", "No (2024-03-01)"], "N"),
      ...each(["No, sent 2024-03-01"], "stopped"),
      ...each(["Yes, 2024-03-01"], "S"),
    ],
  },
  ...["Stato iscrizione", "Inscrição"].map((headings) => ({
    rule: "A no is an opt-out, and a yes may be an enrolment",
    headings,
    lines: [...each(["no", "Cancelada"], "U"), ...each([""], "S"), ...each(["yes"], "stopped")],
  })),
  {
    rule: "A confirmation that is missing is no opt-in",
    headings: "DOI",
    lines: [...each(["nein", "pending"], "N"), ...each(["ja", "", "2024-03-01"], "S")],
  },
  {
    rule: "Words of a preference are not understood",
    headings: "Marketing preference",
    lines: [...each(["none", ""], "S"), ...each(["weekly"], "stopped"), ...each(["unsubscribed"], "U")],
  },
  ...[
    "Order status",
    "Plan",
    "Shipping country",
    "Inscrição estadual",
    "Plan de suscripción",
    "Data iscrizione",
    "Zustimmung AGB",
    "Fecha de suscripción",
    "Phone no extension",
    "No. of calls",
    "Phone (not mobile)",
    "Exclusive newsletters page",
    "Fax opt-out",
    "Do not send direct mail",
    "Stop date",
    "Status__c",
    "Account status",
    "Disabled",
    "Kontakt",
    "Kontaktperson",
    "Bestellstatus",
    "Mag. nr.",
    "Nie wieder",
    "Versand erlaubt",
    "Data zgody",
    "Nicht erreicht (Anruf)",
    "Plus",
  ].map((headings) => ({
    rule: "An ordinary column is none about consent",
    headings,
    lines: each(["cancelled", "paused", "no", "Premium", "2024-03-01"], "S"),
  })),
];

const nameOf = (index: number) => `p${String(index).padStart(2, "0")}@example.com`;

describe("Beside an opt-in", () => {
  it.each(tables)("$rule: $headings", async ({ headings, lines }) => {
    const mock = await service();
    const path = await csv(
      await temporaryFolder(),
      "people.csv",
      `Email,Newsletter,${headings}`,
      ...lines.map(([cells], index) => `${nameOf(index)},yes,${cells}`),
      // Without a known word in a column nothing is sent.
      `z@example.com,yes,${headings.split(",").fill("unsubscribed").join(",")}`,
    );

    const { err } = await run([path]);

    expect(err).toBe("");
    const sent = sentBodies(mock).filter(({ email }) => email !== "z@example.com");
    expect(sent.map(({ email, email_opt_in, phone_opt_in }) => [email, email_opt_in, phone_opt_in])).toEqual(
      lines.flatMap(([, email, phone = "·"], index) =>
        email === "stopped" ? [] : [[nameOf(index), states[email], states[phone]]],
      ),
    );
  });
});
