import {
  type ApiPromise,
  type AudienceClient,
  type CallOptions,
  type V1ConsentedListContact,
  type V1Contact,
  type V1Event,
  type V1ListContact,
  type V2Contact,
  type Write,
  write,
} from "audience-sdk";
import type { Dice } from "./dice.ts";

/** The people of a run. Their addresses, phones and names are recognized wherever they appear. */
export const people = [0, 1, 2, 3, 4, 5, 6, 7] as const;

export const listIds: readonly string[] = Array.from({ length: 7 }, (_, number) => `list-${number}`);

const domain = "people.test";
const phonePrefix = "+1555010";
const nameMark = "Person";

export function emailOf(person: number): string {
  return `p${person}@${domain}`;
}

/** The address of somebody who has moved to another one. */
export function newEmailOf(person: number): string {
  return `p${person}.new@${domain}`;
}

export function phoneOf(person: number): string {
  return `${phonePrefix}${person}77`;
}

/** What of a person, or of a body, a text shows; undefined if nothing. */
export function personIn(text: string): string | undefined {
  return [domain, phonePrefix.slice(1), nameMark].find((mark) =>
    text.toLowerCase().includes(mark.toLowerCase()),
  );
}

/** A write, as a row of a table or a call of its own. */
export type Input =
  | { readonly kind: "upsert" | "custom"; readonly body: V1Contact }
  | { readonly kind: "addContact"; readonly listId: string; readonly body: V1ConsentedListContact }
  | { readonly kind: "service-decides"; readonly listId: string; readonly body: V1ListContact }
  | { readonly kind: "event"; readonly body: V1Event }
  | { readonly kind: "v2"; readonly body: V2Contact };

/** What a write says, by the contract. */
export interface Facts {
  /** Every name of its contact: of two writes with a common one, the first goes first. */
  readonly contacts: readonly string[];
  /** By channel. A channel that is left to the service has no status here. */
  readonly consent: Readonly<Record<string, string>>;
  /** Whether the service decides about the e-mail consent, by the state table. */
  readonly leavesEmailToService: boolean;
  readonly isRepeatable: boolean;
}

export const optIns = ["SUBSCRIBED", "NON_SUBSCRIBED", "UNSUBSCRIBED"] as const;
const consentOf = { createdAt: "2026-01-31T09:30:00Z", ip: "192.0.2.1", source: "form" };

export function anyInput(dice: Dice, person: number): Input {
  const kind = dice.pick([
    "upsert",
    "upsert",
    "addContact",
    "addContact",
    "service-decides",
    "event",
    "event",
    "v2",
    "v2",
    "custom",
  ] as const);
  const listId = dice.chance(0.03) ? "list-gone" : dice.pick(listIds);
  switch (kind) {
    case "upsert":
    case "custom":
      return { kind, body: anyContact(dice, person) };
    case "addContact":
      return {
        kind,
        listId,
        body: { ...anyContact(dice, person), email: spelt(dice, person), email_opt_in: dice.pick(optIns) },
      };
    case "service-decides": {
      const { email_opt_in: _, ...contact } = anyContact(dice, person);
      return { kind, listId, body: { ...contact, email: spelt(dice, person) } };
    }
    case "event":
      return { kind, body: anyEvent(dice, person) };
    case "v2":
      return { kind, body: anyV2Contact(dice, person) };
  }
}

/** The writes of a row: mostly one, or two kinds, one after the other. */
export function anyRow(dice: Dice, person: number): Input[] {
  const first = anyInput(dice, person);
  const second = anyInput(dice, person);
  return first.kind !== second.kind && dice.chance(0.3) ? [first, second] : [first];
}

/** The same write with another consent, or without one, where it may state one. */
export function withOtherConsent(dice: Dice, input: Input): Input {
  if (input.kind === "event" || input.kind === "service-decides") return input;
  if (input.kind === "addContact")
    return { ...input, body: { ...input.body, email_opt_in: dice.pick(optIns) } };
  if (input.kind !== "v2") {
    const { email, phone, email_opt_in: _, phone_opt_in: __, ...rest } = input.body;
    const body = {
      ...(email !== undefined && { email }),
      ...(phone !== undefined && { phone }),
      ...(email !== undefined && dice.chance(0.8) && { email_opt_in: dice.pick(optIns) }),
      ...(phone !== undefined && dice.chance(0.8) && { phone_opt_in: dice.pick(optIns) }),
      ...rest,
    };
    return { ...input, body };
  }
  const identifiers = input.body.identifiers.map((identifier) => ({
    ...identifier,
    channels: { [identifier.type]: { status: dice.pick(["subscribed", "unsubscribed"]) } },
  }));
  return { ...input, body: { ...input.body, identifiers } };
}

/** The same write to the person's other address. */
export function withOtherAddress(input: Input): Input {
  const text = JSON.stringify(input);
  const from = /"p\d\.new@/i.test(text) ? /"(p\d)\.new@/gi : /"(p\d)@/gi;
  const to = from.source.includes("new") ? '"$1@' : '"$1.new@';
  // Safe: the same shape.
  return JSON.parse(text.replaceAll(from, to)) as Input;
}

/** The same write with another field. */
export function withNight(input: Input, night: number): Input {
  if (input.kind === "event")
    return { ...input, body: { ...input.body, eventData: { ...input.body.eventData, night } } };
  // Safe: each other body has a city.
  return { ...input, body: { ...input.body, city: `City ${night}` } } as Input;
}

/** A call of its own. An event gets its id from the client, so it is no value. */
export function send(client: AudienceClient, input: Input, o: CallOptions): ApiPromise<unknown> {
  return input.kind === "event" ? client.v1.events.send(input.body, o) : client.send(writeOf(input, {}), o);
}

/** The same as a value. */
export function writeOf(input: Input, o: CallOptions): Write {
  const { headers, maxRetries } = o;
  const options = {
    ...(headers && { headers: headers as Readonly<Record<string, string>> }),
    ...(maxRetries !== undefined && { maxRetries }),
  };
  switch (input.kind) {
    case "upsert":
      return write.v1.customers.upsert(input.body, options);
    case "addContact":
      return write.v1.contactGroups.addContact(input.listId, input.body, options);
    case "service-decides":
      return write.v1.contactGroups.addContact(input.listId, input.body, {
        ...options,
        consent: "service-decides",
      });
    case "event":
      return write.v1.events.send(input.body, options);
    case "v2":
      return write.v2.contacts.upsert(input.body, options);
    case "custom": {
      const { body } = input;
      const contact = { email: body.email, phone: body.phone };
      return write.v1.request({ method: "POST", path: "/api/v1/customer/create", body, contact }, options);
    }
  }
}

/** The contract's own words on a write: its sections 2, 5 and 8. */
export function factsOf(input: Input): Facts {
  if (input.kind === "event") {
    const { contact, contactUUID } = input.body;
    const contacts = namesOf([contact ?? {}, { contactUUID }]);
    return { contacts, consent: {}, leavesEmailToService: false, isRepeatable: true };
  }
  if (input.kind === "v2") return factsOfV2(input.body);
  const { email, email_opt_in, phone, phone_opt_in, is_suppressed, double_opt_in } = input.body;
  const consent = {
    ...(email_opt_in !== undefined && { email: email_opt_in }),
    ...(phone_opt_in !== undefined && { phone: phone_opt_in }),
    ...(is_suppressed !== undefined && { is_suppressed: String(is_suppressed).toUpperCase() }),
  };
  const statesAll =
    (email === undefined || email_opt_in !== undefined) &&
    (phone === undefined || phone_opt_in !== undefined);
  return {
    contacts: namesOf([input.body]),
    consent,
    leavesEmailToService: input.kind === "service-decides",
    // A custom request may be anything: only its caller can say that it is repeatable.
    isRepeatable: input.kind !== "custom" && statesAll && double_opt_in !== true,
  };
}

function factsOfV2({ identifiers, triggerWelcomeEmail }: V2Contact): Facts {
  const statuses = identifiers.flatMap(({ channels: { email, phone } }) => [
    ...(email ? [["email", email.status.toUpperCase()]] : []),
    ...(phone ? [["phone", phone.status.toUpperCase()]] : []),
  ]);
  return {
    contacts: namesOf(identifiers.map(({ type, id }) => ({ [type]: String(id) }))),
    consent: Object.fromEntries(statuses) as Record<string, string>,
    leavesEmailToService: false,
    isRepeatable: triggerWelcomeEmail !== true && identifiers.every(({ type, channels }) => type in channels),
  };
}

function namesOf(contacts: readonly object[]): string[] {
  const names = contacts.flatMap((contact) => {
    const { email, phone, contactUUID } = contact as Record<string, unknown>;
    return [
      typeof email === "string" && `email:${email.toLowerCase()}`,
      typeof phone === "string" && `phone:${phone.replaceAll(/\D/g, "")}`,
      typeof contactUUID === "string" && `uuid:${contactUUID}`,
    ];
  });
  return [...new Set(names.filter((name) => name !== false))];
}

/** An address in one of its spellings, which are one contact for the order of writes. */
function spelt(dice: Dice, person: number): string {
  return dice.chance(0.2) ? emailOf(person).toUpperCase() : emailOf(person);
}

function anyContact(dice: Dice, person: number): V1Contact {
  const names = dice.pick(["email", "email", "email", "both", "phone"]);
  return {
    ...(names !== "phone" && { email: spelt(dice, person) }),
    ...(names !== "email" && { phone: phoneOf(person) }),
    ...(names !== "phone" && dice.chance(0.8) && { email_opt_in: dice.pick(optIns) }),
    ...(names !== "email" && dice.chance(0.7) && { phone_opt_in: dice.pick(optIns) }),
    ...(dice.chance(0.1) && { is_suppressed: dice.chance(0.5) }),
    ...(dice.chance(0.1) && { double_opt_in: true }),
    // One too long is refused before it is sent.
    ...(dice.chance(0.5) && { first_name: `${nameMark} ${person}`.padEnd(dice.chance(0.05) ? 101 : 0) }),
    ...(dice.chance(0.2) && { country: dice.pick(["Italy", "Nowhere"]) }),
    ...(dice.chance(0.2) && { custom_properties: { [dice.pick(["plan", "seats"])]: dice.int(1, 9) } }),
  };
}

function anyEvent(dice: Dice, person: number): V1Event {
  const uuid = `uuid-${person}`;
  return {
    eventName: dice.pick(["order placed", "page seen"]),
    contact: { email: spelt(dice, person), ...(dice.chance(0.2) && { contactUUID: uuid }) },
    ...(dice.chance(0.1) && { contactUUID: uuid }),
    eventData: { name: `${nameMark} ${person}`, note: dice.word(10) },
  };
}

function anyV2Contact(dice: Dice, person: number): V2Contact {
  const names = dice.pick(["email", "email", "both", "phone"]);
  const status = () => ({ status: dice.pick(["subscribed", "unsubscribed"]) });
  // The own channel of one of two identifiers may be left out: the write is then not repeatable.
  const isSilent = names === "both" && dice.chance(0.3);
  return {
    firstName: `${nameMark} ${person}`,
    listIds: dice.pick([[], [listIds[0]!], [listIds[1]!, "list-gone"]]),
    ...(dice.chance(0.15) && { triggerWelcomeEmail: true }),
    identifiers: [
      ...(names === "phone"
        ? []
        : [
            {
              type: "email" as const,
              id: spelt(dice, person),
              channels: { email: status() },
              consent: consentOf,
            },
          ]),
      ...(names === "email"
        ? []
        : [
            {
              type: "phone" as const,
              id: phoneOf(person),
              channels: isSilent ? {} : { phone: status() },
              consent: consentOf,
            },
          ]),
    ],
  };
}
