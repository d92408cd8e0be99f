/** The plain names of each field in headings, without case, accents, spaces and punctuation. */
const headings = {
  email:
    "email, emailaddress, mail, mailaddress, emailadresse, mailadresse, emailadres, mailadres, adresemail, adressemail, " +
    "adresseemail, adressedemessagerie, courriel, correo, correoelectronico, direcciondecorreo, direcciondeemail, " +
    "enderecodeemail, epost, epostadress, eposta, indirizzoemail, postaelettronica, sahkoposti, emailадрес, электроннаяпочта, メール, メールアドレス, 邮箱, 电子邮件, 이메일",
  phone:
    "phone, phonenumber, phoneno, phonemobile, mobile, mobilephone, mobilenumber, mobilephonenumber, mobileno, cell, cellphone, " +
    "cellnumber, tel, telephone, telephonenumber, telephoneno, telno, contactno, contactnumber, smsphone, smsnumber, " +
    "smsphonenumber, sms, msisdn, telefon, telefonnummer, telefoon, telefono, telefone, celular, puhelin, puhelinnumero, телефон, 電話, 電話番号, 携帯電話, 电话, 手机, 전화번호, handy, handynummer, mobil, mobilnummer, " +
    "mobiltelefon, portable, telephoneportable",
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
} as const;

/** The plain names of data that has no field. */
const dataHeadings =
  "name, fullname, displayname, middlename, salutation, anrede, title, titel, company, companyname, organization, organisation, " +
  "firma, unternehmen, entreprise, societe, empresa, azienda, jobtitle, position, department, website, url, language, locale, " +
  "sprache, langue, idioma, currency, timezone, ip, ipaddress, id, contactid, subscriberid, userid, memberid, recordid, customerid, " +
  "customernumber, kundennummer, kundennr, orderid, ordernumber";

/** A field of a v1 contact that a column may hold. */
export type ContactField = keyof typeof headings;

// Safe: the keys of the record are the fields.
export const contactFields = Object.keys(headings) as [ContactField, ...ContactField[]];

const fieldOfHeading = new Map(
  contactFields.flatMap((field) =>
    headings[field].split(", ").map((heading): [string, ContactField] => [compactHeading(heading), field]),
  ),
);

// "Person - Email - Work": whose it is, and which one. A further one is used where the first is blank.
const whose = new Set(
  "primary main default preferred principal the your contact customer user subscriber member person lead value".split(
    " ",
  ),
);
const further = new Set(
  "work home personal business private privat company billing other alternate alternative secondary second zweite secondaire additional landline whatsapp geschaftlich".split(
    " ",
  ),
);

/** The field of a heading, and whether it is a further address or number. */
export function fieldOf(heading: string): { field: ContactField; isFurther: boolean } | undefined {
  const field = fieldOfHeading.get(compactHeading(heading));
  if (field !== undefined) return { field, isFurther: false };
  const words = headingWords(heading);
  const isFurther = (word: string) => further.has(word) || /^\d+$/.test(word);
  const own = words.filter((word) => !whose.has(word) && !isFurther(word));
  const person = fieldOfHeading.get(own.join(""));
  return person === "email" || person === "phone"
    ? { field: person, isFurther: words.some(isFurther) }
    : undefined;
}

/** Whether the heading is a plain name of data that has no field: "Company". */
export const isOfData = (heading: string) => dataHeadings.split(", ").includes(compactHeading(heading));

/** Whether the column is about another person: "Contact owner". */
export function isOfAnother(heading: string): boolean {
  const words = headingWords(heading).join(" ");
  return /\b(owner|refer\w*|manager|assistant|spouse|emergency|rep|by)\b/.test(words);
}

/** The words of a heading, in lower case and without accents: `EMAIL_OptIn (web)` is email, opt, in, web. */
export function headingWords(heading: string): string[] {
  return heading
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

/** A heading without case, accents, spaces and punctuation, for comparisons. */
export function compactHeading(heading: string): string {
  return headingWords(heading).join("");
}

/** A heading as the name of a custom property: `Favourite Colour` is `favourite_colour`. */
export function snakeCase(heading: string): string {
  return heading
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, "_")
    .replace(/^_|_$/g, "");
}
