// Strings in the formats of the field tables: the rows of the tables try them at the client and at the service, and
// `schemas/entry.test.ts` at the JSON schemas.

/** The words of a text, and further strings that hold spaces or nothing. */
export const words = (text: string, ...more: readonly string[]) => [...text.split(" "), ...more];

/** Days of the calendar. */
export const days = words(
  "2024-02-29 2000-02-29 2023-02-28 1999-12-31 2026-04-30 0001-01-01 9999-12-31 1815-12-10",
);

export const noDays = [
  ...words(
    "2023-02-29 1900-02-29 2026-02-30 2026-04-31 2026-13-01 2026-00-10 2026-01-00 2026-01-32 2026-1-1",
    "",
    " 2026-01-01",
    "2026-01-01 ",
    "2026-01-01\n",
    "23 June 1912",
  ),
  ...words(
    "20260101 2026/01/01 01-01-2026 10.12.1815 2026-01-01T00:00:00Z today +02026-01-01 ２０２６-01-01",
  ),
];

/** Seconds, their fraction and the offset may be missing. */
export const dateTimes = [
  ...words(
    "2026-01-31T09:30:00Z 2026-01-31T09:30:00 2026-01-31T09:30 2026-01-31T09:30Z 2024-02-29T23:59:59Z",
  ),
  ...words("2026-01-31T09:30:00.123Z 2026-01-31T09:30:00.123456789+02:00 2026-01-31T00:00:00-05:30"),
  ...words("2026-01-31T09:30+02 2026-01-31T09:30-11 2026-01-31T09:30:00,5 2026-01-31T09:30:00,5+02"),
  ...words("2026-01-31T09:30:00+0200 0000-01-01T00:00:00.000Z 9999-12-31T23:59:59.999Z"),
];

export const noDateTimes = [
  ...words("2026-01-31T 2026-01-31T09 2026-01-31T09Z 2026-01-31T24:00:00Z 2026-01-31T23:60:00Z"),
  ...words("2026-01-31T23:59:60Z 2023-02-29T00:00:00Z 2026-13-01T00:00:00Z 2026-01-31T09:30:00.Z"),
  ...words("2026-01-31t09:30:00z 2026-01-31T09:30:00+24:00 2026-01-31T09:30:00+02:60 now 1700000000 2026-01"),
  ...words(
    "+010000-01-01T00:00:00.000Z -000001-12-31T23:59:59.999Z +275760-09-13T00:00:00.000Z 2023-02-29",
    "",
    "2026-01-31 09:30:00",
    "2026-01-31T09:30:00Z ",
    "Sat, 31 Jan 2026 09:30:00 GMT",
  ),
];

export const emailAddresses = [
  ...words("a@b ada@example.com NEW+tag@Example.com ada+x@sub.example.co.uk ä@ö.de 例@example.jp"),
  ...words(
    "o'brien@example.com 'x'@y \"ada@example.com \"x\"@example.com ada@[192.0.2.1] mailto@example.com",
  ),
  `${"a".repeat(300)}@b`,
  // A joiner between letters, as Persian, Hindi and Sinhala need it; a sign of Arabic that shows.
  ...words("نمی\u200cخواهم@example.com क्\u200dष@උදා\u200dහරණ.example \u0600@example.com"),
];

export const noEmailAddresses = [
  ...words("a @ a@ @b", "", "a b@c", "a@b c", " a@b", "a@b ", "a@b\n", "a\u00a0@b", "\ta@b", "\ufeffa@b"),
];

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
  ...[...hidden].flatMap((one) => [`${one}a@b`, `a${one}a@b`, `a@b${one}b`]),
  ...words("a\u200d@b \u200ca@b 1\u200d1@b a\u200d\u200ca@b \u{1f469}\u200d\u{1f4bb}@b"),
];

export const ipAddresses = [
  ...words("0.0.0.0 255.255.255.255 192.0.2.1 :: ::1 1:: 2001:db8::1 2001:DB8::A 1:2:3:4:5:6:7:8 fe80::1"),
  ...words("1:2:3:4:5:6:7:: ::2:3:4:5:6:7:8 ::ffff:1.2.3.4 64:ff9b::192.0.2.33 1:2:3:4:5:6:1.2.3.4"),
  "0000:0000:0000:0000:0000:ffff:255.255.255.255",
];

export const noIpAddresses = [
  ...words("1.2.3 1.2.3.4.5 256.1.1.1 01.2.3.4 1.2.3.4:80 1.2.3.0/24 : ::: 1::2::3 1:2:3:4:5:6:7 1: :1"),
  ...words("1:2:3:4:5:6:7:8:9 1:2:3:4:5::1:2:3:4 1:2:3:4:5:6:7:8:: 12345:: g:: fe80::1%eth0 [::1] ::1/64"),
  ...words("::1.2.3 1.2.3.4:: 1:2:3:4:5:6:7:192.0.2.1 ::1.2.3.4:5 localhost", "", " 1.2.3.4", "1.2.3.4\n"),
];

export const countryCodes = words("GB gb Gb DE ZZ");

export const noCountryCodes = [...words("G GBR G1 ÄÖ"), "", "G ", "GB\n", "United Kingdom"];
