import { describe, expect, it } from "vitest";
import { inProcess } from "./entry-points.ts";

/** Whether the mock accepts each of the strings as the value of one field, through its entry point. */
async function acceptedByMock(
  strings: readonly string[],
  path: string,
  bodyOf: (text: string) => unknown,
): Promise<Record<string, boolean>> {
  const { call } = await inProcess.open();
  const results: [string, boolean][] = [];
  for (const text of strings) results.push([text, (await call(path, { body: bodyOf(text) })).status < 300]);
  return Object.fromEntries(results);
}

const all = (strings: readonly string[], verdict: boolean) =>
  Object.fromEntries(strings.map((text) => [text, verdict]));

const identifier = (consent: Record<string, unknown>) => ({
  firstName: "Ada",
  listIds: [],
  identifiers: [
    {
      type: "email",
      id: "ada@example.com",
      channels: { email: { status: "subscribed" } },
      consent: { createdAt: "2026-01-31T09:30:00Z", ip: "192.0.2.1", source: "form", ...consent },
    },
  ],
});

const formats: [
  string,
  readonly string[],
  readonly string[],
  (strings: readonly string[]) => Promise<Record<string, boolean>>,
][] = [
  [
    "a day of the calendar (dob)",
    ["2000-02-29", "2024-02-29", "1999-12-31", "2000-01-01"],
    [
      "1900-02-29",
      "2023-02-29",
      "2000-04-31",
      "2000-00-10",
      "2000-13-01",
      "2000-01-00",
      "2000-1-1",
      "20000101",
      "01-01-2000",
      "2000-01-01T00:00Z",
      " 2000-01-01",
      "",
    ],
    (strings) =>
      acceptedByMock(strings, "/api/v1/customer/create", (dob) => ({ email: "ada@example.com", dob })),
  ],
  [
    "a date-time (consent.createdAt)",
    [
      "2026-01-31T09:30:00Z",
      "2026-01-31T09:30:00.123456Z",
      "2026-01-31T09:30:00+02:00",
      "2026-01-31T09:30:00",
      "2026-01-31T09:30",
      "2026-01-31T09:30-05:30",
      "2026-01-31T09:30:00,5",
      "2026-01-31T09:30:00+0200",
      "2026-01-31T09:30-11",
    ],
    [
      "2026-01-31",
      "2026-02-30T09:30:00Z",
      "2026-01-31T24:00:00Z",
      "2026-01-31T09:60:00Z",
      "2026-01-31T09:30:60Z",
      "2026-01-31 09:30:00Z",
      "2026-01-31T09Z",
      "2026-01-31T09:30:00z",
      "2026-01-31T09:30:00.Z",
      "now",
      "",
    ],
    (strings) => acceptedByMock(strings, "/v2/contacts", (createdAt) => identifier({ createdAt })),
  ],
  [
    "a day or a date-time (v2 createdAt)",
    ["2026-01-31", "2026-01-31T09:30", "2026-01-31T09:30:00Z", "2026-01-31T09:30:00,5+02"],
    ["2026-02-30", "2026-01", "yesterday", ""],
    (strings) => acceptedByMock(strings, "/v2/contacts", (createdAt) => ({ ...identifier({}), createdAt })),
  ],
  [
    "an IPv4 or IPv6 address (consent.ip)",
    [
      "192.0.2.1",
      "0.0.0.0",
      "255.255.255.255",
      "::",
      "::1",
      "2001:db8::1",
      "1:2:3:4:5:6:7:8",
      "::ffff:192.0.2.1",
      "1:2:3:4:5:6:192.0.2.1",
      "FE80::ABCD",
    ],
    [
      "256.0.0.1",
      "1.2.3",
      "1.2.3.4.5",
      "01.2.3.4",
      "1:2:3:4:5:6:7",
      "1:2:3:4:5:6:7:8:9",
      "1::2::3",
      ":::",
      "::12345",
      "::g",
      "1:2:3:4:5:6:7:192.0.2.1",
      "192.0.2.1::",
      "fe80::1%eth0",
      "localhost",
      "192.0.2.1/24",
      "",
    ],
    (strings) => acceptedByMock(strings, "/v2/contacts", (ip) => identifier({ ip })),
  ],
  [
    "an e-mail address (v1 email)",
    ["a@b", "ada@example.com", "ada+tag@example.co.uk", "ümlaut@exämple.de", "a@b@c"],
    ["ada", "@example.com", "ada@", "a da@example.com", "ada@example.com ", "ada@exam\tple.com", "@", ""],
    (strings) => acceptedByMock(strings, "/api/v1/customer/create", (email) => ({ email })),
  ],
  [
    "a two-letter country code (v2 countryCode)",
    ["IT", "it", "iT"],
    ["ITA", "I", "I1", "", "Italy"],
    (strings) =>
      acceptedByMock(strings, "/v2/contacts", (countryCode) => ({ ...identifier({}), countryCode })),
  ],
];

describe.each(formats)("%s", (_, valid, invalid, acceptedOf) => {
  it("is accepted in every valid format", async () => {
    expect(await acceptedOf(valid)).toEqual(all(valid, true));
  });

  it("is refused in any other format", async () => {
    expect(await acceptedOf(invalid)).toEqual(all(invalid, false));
  });
});
