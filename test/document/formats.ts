// Strings beside those of `properties/payloads/fields.ts`, which the rows of the tables try at the client and at the service.
import { dateTime, dayOrDateTime, email, type Field } from "../properties/payloads/fields.ts";

/** The words of a text, and further strings that hold spaces or nothing. */
export const words = (text: string, ...more: readonly string[]) => [...text.split(" "), ...more];

const withMore = ({ allowed, forbidden }: Field, moreAllowed: string[], moreForbidden: string[]) => ({
  allowed: [...allowed, ...moreAllowed],
  forbidden: [...forbidden, ...moreForbidden],
});

const years = words("0000-01-01T00:00:00.000Z 9999-12-31T23:59:59.999Z 2026-01-31T09:30:00+0200");
const noYears = words(
  "+010000-01-01T00:00:00.000Z -000001-12-31T23:59:59.999Z +275760-09-13T00:00:00.000Z 2026-01",
);
/** The years of four digits. */
export const dateTimes = withMore(dateTime, years, noYears);
export const daysAndDateTimes = withMore(dayOrDateTime, years, noYears);

export const emailAddresses = withMore(
  email,
  [
    ...words("o'brien@example.com 'x'@y \"ada@example.com ada+x@sub.example.co.uk mailto@example.com"),
    `${"a".repeat(300)}@b`,
    // A joiner between letters, as Persian, Hindi and Sinhala need it; a sign of Arabic that shows.
    ...words("نمی\u200cخواهم@example.com क्\u200dष@උදා\u200dහරණ.example \u0600@example.com"),
  ],
  [],
);

/** What the service accepts, as the document does not forbid it: an opt-out for it would be nobody's. */
export const notAlone = [
  ...words(
    "a@b@c a@@b Ada<ada@example.com> <ada@example.com> ada@example.com,bob@example.com ada@example.com,",
  ),
  ...words('ada@example.com; mailto:ada@example.com MailTo:ada@example.com "ada@example.com"'),
  ...words("'ada@example.com' “ada@example.com”"),
];

/** Characters that do not show: an address that holds one is another person's. */
const hidden = [
  "\u0000\u0008\u001b\u007f\u0085\u009f\u00ad\u034f\u061c\u115f\u180e\u200b\u200e\u200f\u202a\u202b\u202c",
  "\u202d\u202e\u2060\u2063\u2066\u2067\u2068\u2069\u206a\u2800\u3164\ufe0f\ufffb\u{e0041}\ud800",
].join("");

export const hiddenInAddresses = [
  // Each in one of three places.
  ...[...hidden].map((one, at) => [`${one}a@b`, `a${one}a@b`, `a@b${one}b`][at % 3]),
  ...words("a\u200d@b \u200ca@b 1\u200d1@b a\u200d\u200ca@b \u{1f469}\u200d\u{1f4bb}@b"),
];
