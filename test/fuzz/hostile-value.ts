import fc from "fast-check";

/**
 * Describes a hostile value. The description is drawn, shrunk and printed, because the value itself may throw as
 * soon as it is read.
 */
export type HostileValue =
  | { kind: "json"; of: unknown }
  | { kind: "special"; of: SpecialName }
  | { kind: "string"; of: string; times: number }
  | { kind: "deep"; levels: number }
  | { kind: "wide"; levels: number }
  | { kind: "holes"; length: number }
  | { kind: "many"; keys: number }
  | { kind: "list"; of: readonly HostileValue[] }
  | { kind: "record"; of: readonly (readonly [string, HostileValue])[] }
  | { kind: "graft"; onto: number; at: readonly number[]; of: HostileValue };

export const specialNames = [
  "undefined",
  "null",
  "NaN",
  "Infinity",
  "-0",
  "2^53",
  "a BigInt",
  "a symbol",
  "a function",
  "an async function",
  "a class",
  "a Map",
  "a Set",
  "a Date",
  "an invalid Date",
  "a RegExp",
  "an Error",
  "a typed array",
  "a boxed string",
  "a Headers object",
  "a rejected promise",
  "a cycle",
  "a cycle of arrays",
  "an instance",
  "a frozen instance",
  "an object without a prototype",
  "__proto__ as an own key",
  "constructor as an own key",
  "a symbol as a key",
  "a toJSON that throws",
  "a toJSON that gives itself",
  "a then that never calls back",
  "an iterator that gives no object",
  "a brand of ours",
  "an aborted signal",
] as const;
export type SpecialName = (typeof specialNames)[number];

const strings = [
  "",
  " ",
  ".",
  "..",
  "../..",
  "%2e%2e",
  "a\r\nb",
  "a\0b",
  "\ud800",
  "\udfff\ud800",
  "\u2025",
  "\u3002",
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "ada@example.com",
  "2026-01-31",
  "2026-01-31T09:30:00Z",
  "2026-02-30",
  "192.0.2.1",
  "::1",
  "SUBSCRIBED",
  "service-decides",
  "https://api.example.com",
  "http://user:pass@127.0.0.1",
  "1e309",
  "\u{1f600}",
];

/** Names with a meaning for the client, the service or JavaScript, where a hostile value does most harm. */
const names = (
  "email phone first_name firstName custom_properties email_opt_in dob identifiers type id " +
  "channels consent status createdAt ip source listIds eventName uniqueIdentifier contact " +
  "contactUUID eventData page limit signal timeoutMs headers priority repeatable maxRetries " +
  "deadlineMs readAhead data links lists __proto__ constructor prototype toJSON then length " +
  "message error errors"
).split(" ");

const leaf: fc.Arbitrary<HostileValue> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("special" as const), of: fc.constantFrom(...specialNames) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("json" as const), of: fc.jsonValue({ maxDepth: 3 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("string" as const),
      of: fc.oneof(fc.constantFrom(...strings), fc.string({ unit: "binary" })),
      times: fc.constantFrom(1, 1, 1, 100, 10_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.oneof(
      fc.record({ kind: fc.constant("deep" as const), levels: fc.constantFrom(10, 499, 999, 1_001, 10_000) }),
      fc.record({ kind: fc.constant("wide" as const), levels: fc.constantFrom(5, 12) }),
      fc.record({ kind: fc.constant("holes" as const), length: fc.constantFrom(1, 5, 1_001) }),
      fc.record({ kind: fc.constant("many" as const), keys: fc.constantFrom(31, 1_000) }),
      fc.record({
        kind: fc.constant("string" as const),
        of: fc.constantFrom(..."x0/@ "),
        times: fc.constantFrom(100_000),
      }),
    ),
  },
);

const { value } = fc.letrec<{ value: HostileValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { weight: 5, arbitrary: leaf },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("list" as const),
        of: fc.array(tie("value"), { maxLength: 3 }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("record" as const),
        of: fc.array(fc.tuple(fc.constantFrom(...names), tie("value")), { maxLength: 4 }),
      }),
    },
  ),
}));

/** Any hostile value. */
const anyHostileValue: fc.Arbitrary<HostileValue> = value;

/** Any value or, half of the time, a valid value with another value at one path. */
export const nearlyValid: fc.Arbitrary<HostileValue> = fc.oneof(
  anyHostileValue,
  fc.record({
    kind: fc.constant("graft" as const),
    onto: fc.nat({ max: 20 }),
    at: fc.array(fc.nat({ max: 20 }), { minLength: 1, maxLength: 4 }),
    of: value,
  }),
);
