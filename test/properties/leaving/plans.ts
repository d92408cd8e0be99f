// What happens in a world: rows of nights, people who act, other calls, kills and faults.
import { type V1ConsentedListContact, type V1Contact, write, type Write } from "audience-sdk";
import type { MockFault } from "audience-sdk/mock";
import * as fc from "fast-check";

/** A status; `?`: the address is named without a word; `.`: it is not named. */
export type Says = "SUBSCRIBED" | "NON_SUBSCRIBED" | "UNSUBSCRIBED" | "?" | ".";
type Kind = "upsert" | "addContact" | "v2" | "custom" | "event";

export interface RowPlan {
  readonly email: Says;
  readonly phone: Says;
  readonly suppressed: boolean | undefined;
  readonly kinds: readonly Kind[];
  /** It names the other address of the person. */
  readonly hasMoved: boolean;
  readonly city: number;
  readonly isAbsent: boolean;
  /** `isCurrent` says no. */
  readonly isOutdated: boolean;
}

/** Who acts: the job's client, another client of its process, another process, or the person at the service. */
export type By = "job" | "web" | "process" | "person";

/** `returns`: the person asks again, and a call says so; `forgets`: the service has no such contact any more. */
export interface Act {
  readonly person: number;
  readonly by: By;
  readonly does: "leaves" | "stops SMS" | "is suppressed" | "returns" | "says" | "is forgotten";
  readonly hasMoved: boolean;
  readonly isV2: boolean;
  /**
   * When it happens: before the night, after a number of its requests, or once somebody was looked up, or a row has left; then
   * it is about this person.
   */
  readonly after: "before" | "look" | "row" | number;
}

export interface Night {
  /** The rows of the table that are others now. */
  readonly changes: readonly (RowPlan | undefined)[];
  readonly acts: readonly Act[];
  readonly dyingAt: number;
  readonly fault: MockFault | undefined;
  /** A new one, that of an earlier night, or none. */
  readonly snapshot: "new" | "old" | undefined;
  readonly isStream: boolean;
}

export interface Plan {
  readonly concurrency: number;
  readonly latencies: readonly number[];
  readonly sharesPhone: boolean;
  readonly showsAll: boolean;
  readonly hasV2Alone: boolean;
  readonly hasIsCurrent: boolean;
  readonly table: readonly RowPlan[];
  readonly nights: readonly Night[];
}

export const people = 3;

function often<T>(weight: number, usual: T, ...others: T[]): fc.Arbitrary<T> {
  return fc.oneof(
    { weight, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  );
}

const anyRow: fc.Arbitrary<RowPlan> = fc.record({
  email: often<Says>(
    3,
    "SUBSCRIBED",
    "NON_SUBSCRIBED",
    "UNSUBSCRIBED",
    "UNSUBSCRIBED",
    "UNSUBSCRIBED",
    "?",
    ".",
  ),
  phone: often<Says>(1, ".", "SUBSCRIBED", "SUBSCRIBED", "NON_SUBSCRIBED", "UNSUBSCRIBED", "?"),
  suppressed: often<boolean | undefined>(8, undefined, true, false),
  kinds: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom<Kind[]>(["upsert"], ["addContact"], ["v2"]) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Kind[]>(
        ["upsert", "addContact"],
        ["v2", "upsert"],
        ["upsert", "event"],
        ["custom"],
      ),
    },
  ),
  hasMoved: often(2, false, true),
  city: fc.nat(2),
  isAbsent: often(7, false, true),
  isOutdated: often(9, false, true),
});

const act: fc.Arbitrary<Act> = fc.record({
  person: fc.nat(people - 1),
  by: fc.constantFrom<By>("job", "web", "process", "process", "person", "person"),
  does: fc.constantFrom<Act["does"]>(
    ...(["leaves", "leaves", "leaves", "stops SMS", "stops SMS", "is suppressed"] as const),
    ...(["returns", "returns", "returns", "says", "is forgotten"] as const),
  ),
  hasMoved: often(2, false, true),
  isV2: often(3, false, true),
  after: fc.oneof(
    { weight: 1, arbitrary: fc.constant<Act["after"]>("before") },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 12 }) },
  ),
});

/** What no look can show. */
const actBeside: fc.Arbitrary<Act> = fc.record({
  person: fc.constant(0),
  by: fc.constantFrom<By>("web", "process", "process", "process", "person", "person"),
  does: fc.constantFrom<Act["does"]>("leaves", "leaves", "stops SMS"),
  hasMoved: fc.constant(false),
  isV2: fc.constant(false),
  after: fc.constantFrom<Act["after"]>("look", "look", "look", "row"),
});

const fault: fc.Arbitrary<MockFault> = fc.record({
  kind: fc.constantFrom<MockFault["kind"]>("500-before", "500-after", "reset-after", "502-html"),
  times: fc.integer({ min: 1, max: 2 }),
  after: fc.nat(4),
});

const night: fc.Arbitrary<Night> = fc.record({
  changes: fc.array(fc.oneof(anyRow, fc.constant(undefined)), { maxLength: 4, size: "max" }),
  acts: fc.array(fc.oneof(act, act, act, actBeside, actBeside), { minLength: 3, maxLength: 8, size: "max" }),
  dyingAt: fc.oneof({ weight: 3, arbitrary: fc.constant(Infinity) }, { weight: 1, arbitrary: fc.nat(10) }),
  fault: fc.option(fault, { nil: undefined, freq: 3 }),
  snapshot: fc.constantFrom("new", "old", "old", undefined, undefined, undefined),
  isStream: fc.boolean(),
});

export const plan: fc.Arbitrary<Plan> = fc.record({
  concurrency: fc.integer({ min: 1, max: 3 }),
  latencies: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 6 }),
  sharesPhone: often(2, false, true),
  showsAll: fc.boolean(),
  hasV2Alone: often(5, false, true),
  hasIsCurrent: often(2, false, true),
  table: fc.array(anyRow, { minLength: 3, maxLength: 4, size: "max" }),
  nights: fc.array(night, { minLength: 5, maxLength: 7, size: "max" }),
});

export function emailOf(person: number, hasMoved = false): string {
  return `p${person}${hasMoved ? ".new" : ""}@example.com`;
}

/** Two of the people may share one. */
export function phoneOf(person: number, { sharesPhone }: Pick<Plan, "sharesPhone">): string {
  return `+1555010${sharesPhone ? Math.max(person, 1) : person}`;
}

interface Named {
  readonly email?: string | undefined;
  readonly phone?: string | undefined;
  readonly says: { readonly email: Says; readonly phone: Says; readonly suppressed?: boolean | undefined };
}

function v1Contact({ email, phone, says }: Named): V1Contact {
  const word = (said: Says) => (said === "?" || said === "." ? undefined : said);
  const [email_opt_in, phone_opt_in] = [word(says.email), word(says.phone)];
  return {
    ...(email !== undefined && { email, ...(email_opt_in && { email_opt_in }) }),
    ...(phone !== undefined && { phone, ...(phone_opt_in && { phone_opt_in }) }),
    ...(says.suppressed !== undefined && { is_suppressed: says.suppressed }),
  };
}

function v2Write({ email, phone, says }: Named, city: string, headers: Record<string, string>): Write {
  const consent = { createdAt: "2026-01-01T00:00:00Z", ip: "192.0.2.1", source: "test" };
  const status = (said: Says) => ({ status: said === "?" ? "subscribed" : said.toLowerCase() });
  const identifiers = [
    ...(email === undefined
      ? []
      : [{ type: "email" as const, id: email, channels: { email: status(says.email) }, consent }]),
    ...(phone === undefined
      ? []
      : [{ type: "phone" as const, id: phone, channels: { phone: status(says.phone) }, consent }]),
  ];
  return write.v2.contacts.upsert({ firstName: "A", city, listIds: [], identifiers }, { headers });
}

/** The writes of a row, each with a header that tells the row. */
export function rowWrites(row: RowPlan, index: number, world: Plan): Write[] {
  const { city: number, hasMoved, kinds, suppressed } = row;
  const person = index % people;
  const headers = { "x-row": String(index) };
  const says = {
    email: row.email === "." && row.phone === "." ? "SUBSCRIBED" : row.email,
    phone: row.phone,
    suppressed,
  };
  const named: Named = {
    ...(says.email !== "." && { email: emailOf(person, hasMoved) }),
    ...(says.phone !== "." && { phone: phoneOf(person, world) }),
    says: { ...says, email: says.email },
  };
  const city = `City ${number}`;
  const contact = { ...v1Contact(named), city };
  return (world.hasV2Alone ? (["v2"] as const) : kinds).map((kind): Write => {
    // An event and a list need an address.
    if (kind === "event" && named.email !== undefined)
      return write.v1.events.send({ eventName: "seen", contact: { email: named.email } }, { headers });
    if (kind === "v2") return v2Write(named, city, headers);
    if (kind === "custom") {
      const { email, phone } = contact;
      const request = {
        method: "POST" as const,
        path: "/api/v1/customer/create",
        body: contact,
        contact: { email, phone },
      };
      return write.v1.request(request, { headers });
    }
    if (kind !== "addContact" || named.email === undefined)
      return write.v1.customers.upsert(contact, { headers });
    // Safe: it has an e-mail.
    const listed = contact as V1ConsentedListContact;
    return says.email === "?"
      ? write.v1.contactGroups.addContact("list", listed, { headers, consent: "service-decides" })
      : write.v1.contactGroups.addContact("list", listed, { headers });
  });
}

/** What another call writes. */
export function actWrite({ does, hasMoved, isV2, person }: Act, world: Plan): Write {
  const [email, phone] = [emailOf(person, hasMoved), phoneOf(person, world)];
  if (does === "stops SMS") return write.v1.customers.upsert({ phone, phone_opt_in: "UNSUBSCRIBED" });
  if (does === "is suppressed") return write.v1.customers.upsert({ email, is_suppressed: true });
  if (does === "returns" && !isV2)
    return write.v1.customers.upsert({
      email,
      phone,
      email_opt_in: "SUBSCRIBED",
      phone_opt_in: "SUBSCRIBED",
      is_suppressed: false,
    });
  const email_opt_in = does === "leaves" ? "UNSUBSCRIBED" : "SUBSCRIBED";
  return isV2
    ? v2Write({ email, says: { email: email_opt_in, phone: "." } }, "A", {})
    : write.v1.customers.upsert({ email, email_opt_in });
}
