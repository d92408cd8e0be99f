import type { Channel } from "./contact.ts";
import { compactHeading, headingWords } from "./heading.ts";

/** The fields of a v1 contact that a column may hold. */
export const contactFields = [
  "email",
  "phone",
  "external_id",
  "first_name",
  "last_name",
  "dob",
  "gender",
  "country",
  "state",
  "city",
  "address1",
  "address2",
  "postal_code",
  "source",
] as const;

/** A field of a v1 contact that a column may hold. */
export type ContactField = (typeof contactFields)[number];

/** The known headings of each field, without case, accents, spaces and punctuation. */
const headings: Readonly<Record<ContactField, string>> = {
  email:
    "email, emailaddress, mail, mailaddress, primaryemail, contactemail, customeremail, useremail, subscriberemail, " +
    "emailadresse, mailadresse, emailadres, adressemail, adresseemail, courriel, correo, correoelectronico, epost, indirizzoemail",
  phone:
    "phone, phonenumber, mobile, mobilephone, mobilenumber, mobilephonenumber, cell, cellphone, cellnumber, tel, telephone, " +
    "telephonenumber, phoneno, mobileno, telno, telephoneno, contactno, primaryphone, contactphone, customerphone, contactnumber, smsphone, smsnumber, smsphonenumber, sms, msisdn, " +
    "telefon, telefonnummer, telefoon, telefono, handy, handynummer, mobil, mobilnummer, mobiltelefon, portable, telephoneportable",
  external_id: "externalid, extid",
  first_name:
    "firstname, first, fname, givenname, forename, vorname, prenom, nombre, voornaam, nome, fornavn, fornamn",
  last_name:
    "lastname, last, lname, surname, familyname, nachname, nom, nomdefamille, apellido, apellidos, achternaam, cognome, efternavn, etternavn, efternamn",
  dob: "dob, birthday, birthdate, dateofbirth, birth, geburtsdatum, geburtstag, datedenaissance, fechadenacimiento",
  gender: "gender, sex, geschlecht, sexe, genero",
  country: "country, countryname, countrycode, countryregion, land, pays, pais",
  state:
    "state, stateregion, stateprovince, stateprovinceregion, statecode, province, provincecode, region, bundesland",
  city: "city, town, citytown, ort, stadt, ville, ciudad, plaats",
  address1:
    "address1, address, addressline1, street, street1, streetaddress, strasse, straße, adresse, rue, direccion, adres",
  address2: "address2, addressline2, street2, apartment, apt, suite",
  postal_code:
    "postalcode, zip, zipcode, postcode, postal, zippostalcode, zippostcode, postalzipcode, plz, postleitzahl, codepostal, codigopostal, postnr, postnummer",
  source: "source",
};

const fieldOfHeading = new Map(
  // Safe: the keys of the record are the fields.
  (Object.keys(headings) as ContactField[]).flatMap((field) =>
    headings[field].split(", ").map((heading): [string, ContactField] => [heading, field]),
  ),
);

// A second address or number, used if the first column is blank.
const furtherEmail =
  /^(work|home|personal|business|private|company|other|alternate|alternative|secondary|second|additional)e?mail(address)?$|^email(address)?\d(value|address)?$/;
const furtherPhone =
  /^(work|home|personal|business|private|company|other|alternate|alternative|secondary|second|additional|landline|whatsapp)(tele)?(phone)?(number)?$|^(phone|mobile(phone)?)(number)?\d(value)?$/;

// "Adres e-mail", "Person - Email - Work": the word for an e-mail address, and nothing else but words for whose and which.
const emailWords =
  "(e?mail(adres(se)?|address)?|epost(adress(e|en)?)?|emailova|eposta|correo( electronico)?|correio( eletronico)?|" +
  "posta elettronica|courriel|(adresse|adresse de) messagerie|sahkoposti(osoite)?|электронная почта)";
const besideWords =
  "(address|adres|adresse|adress|adresa|adresi|endereco|direccion|indirizzo|адрес|cim|d|de|di|del|of|the|your|primary|main|" +
  "default|principal|preferred|contact|kontakt|customer|kunden?|user|subscriber|member|person|lead|value)";
const furtherWords =
  "(work|home|personal|business|private|privat|company|other|alternate|alternative|secondary|second|additional|\\d+)";
const isOfEmail = new RegExp(
  `^((${besideWords}|${furtherWords}) )*${emailWords}( (${besideWords}|${furtherWords}))*$`,
);
// "Person - Phone - Work", "Phone - mobile"
const isOfPhone = new RegExp(
  `^((${besideWords}|${furtherWords}) )*(tele|mobile |cell )?(phone|mobile)( number)?( (mobile|cell|${besideWords}|${furtherWords}))*$`,
);
const isFurtherOne = new RegExp(`\\b${furtherWords}\\b`);

/** The field of a heading, and whether it is a further address or number. */
export function fieldOf(heading: string): { field: ContactField; isFurther: boolean } | undefined {
  const compact = compactHeading(heading);
  const field = fieldOfHeading.get(compact);
  if (field !== undefined) return { field, isFurther: false };
  if (furtherEmail.test(compact)) return { field: "email", isFurther: true };
  const words = wordsOfEmail(heading);
  if (isOfEmail.test(words)) return { field: "email", isFurther: isFurtherOne.test(words) };
  const isPhone = furtherPhone.test(compact) && /phone|number|whatsapp|landline|mobile/.test(compact);
  if (isPhone) return { field: "phone", isFurther: true };
  return isOfPhone.test(words) ? { field: "phone", isFurther: isFurtherOne.test(words) } : undefined;
}

const wordsOfEmail = (heading: string) =>
  headingWords(heading)
    .join(" ")
    .replaceAll(/\be (?=mail|post)/g, "e");

const ofAddresses = /mail|courriel|correo|correio|e ?post|sahkoposti/;
const ofNumbers =
  /phone|mobil|movil|telef|handy|cellular|celular|landline|festnetz|whatsapp|msisdn|\b(sms|cell|tel|fon)\b/;
const ofAnother = /\b(owner|refer\w*|manager|assistant|spouse|emergency|rep|by)\b/;

/** Whether the column is about another person: "Contact owner". */
export function isOfAnother(heading: string): boolean {
  return ofAnother.test(headingWords(heading).join(" "));
}

/** Whether the column may hold further addresses or numbers of the person: "E-Mail (privat)", "Billing Phone". */
export function furtherIdentifiers(heading: string): readonly Channel[] {
  if (isOfAnother(heading)) return [];
  const words = headingWords(heading).join(" ");
  return [
    ...(ofAddresses.test(words) ? (["email"] as const) : []),
    ...(ofNumbers.test(words) ? (["phone"] as const) : []),
  ];
}
