/** Words of other services, by the names that ours have here without case and separators. The first name that fits counts. */
const otherWords: Readonly<Record<string, string>> = {
  apikey: "token secret",
  baseurl: "host endpoint",
  birthdate: "birthday dob dateofbirth bday",
  concurrency: "parallel batchsize",
  customproperties: "properties attributes traits mergefields metadata",
  dob: "birthday birthdate dateofbirth dayofbirth bday",
  email: "emailaddress",
  emailoptin: "consent emailconsent subscribed subscribe",
  eventdata: "properties attributes payload metadata",
  eventname: "name type",
  externalid: "id userid",
  file: "path filename",
  firstname: "name fullname givenname fname",
  lastname: "surname familyname lname",
  limit: "perpage pagesize",
  listids: "lists listid",
  maxretries: "retry maxretry attempts maxattempts",
  max: "limit",
  phone: "phonenumber mobile tel",
  postalcode: "zip zipcode postcode",
  state: "region province",
  store: "redis",
  uniqueidentifier: "id eventid messageid idempotencykey",
};

/** `total_pages`, `totalPages` and `total-pages` are one name; so are `_links` and `links`. */
export function plainName(key: string): string {
  return key.replace(/[\s_-]/g, "").toLowerCase();
}

/** The one of `names` that differs from `given` only in case and separators: `first_name` for `firstName`. */
export function sameName(given: string, names: readonly string[]): string | undefined {
  const plain = plainName(given);
  return names.find((name) => plainName(name) === plain);
}

/**
 * The one of `names` that was meant: the same one in another spelling, a word of another service (`zip` for `postal_code`), a
 * part of it (`timeout` for `timeoutMs`), or one with a slip (`emial` for `email`).
 */
export function nameMeant(given: string, names: readonly string[]): string | undefined {
  const plain = plainName(given);
  const plainNames = names.map((name) => ({ name, to: plainName(name) }));
  const whole = plainNames
    .filter(({ to }) => plain.length > 2 && to.includes(plain))
    .toSorted((one, other) => one.to.length - other.to.length);
  return (
    sameName(given, names) ??
    names.find((name) => otherWords[plainName(name)]?.split(" ").includes(plain)) ??
    (whole[0] ?? plainNames.find(({ to }) => isSlip(plain, to)))?.name
  );
}

/** Whether one letter is missing, too many or another, or two are swapped. Shorter names are too near to each other. */
function isSlip(given: string, name: string): boolean {
  if (given.length < 4) return false;
  let start = 0;
  while (start < given.length && given[start] === name[start]) start++;
  let [end, nameEnd] = [given.length, name.length];
  while (end > start && nameEnd > start && given[end - 1] === name[nameEnd - 1])
    [end, nameEnd] = [end - 1, nameEnd - 1];
  const [wrong, right] = [given.slice(start, end), name.slice(start, nameEnd)];
  const isSwapped = wrong.length === 2 && right === `${wrong[1]}${wrong[0]}`;
  return isSwapped || (wrong.length < 2 && right.length < 2);
}
