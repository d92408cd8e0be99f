import { contactKeys } from "../contact-keys.ts";
import type { Endpoint } from "../endpoint.ts";
import { ValidationError, type ValidationIssue } from "../errors.ts";
import { parseStandard, type StandardSchema } from "../schema/standard-schema.ts";
import { validate } from "../schema/validate.ts";
import type { ApiPromise } from "../transport/api-promise.ts";
import type { CallOptions, WriteOptions } from "../transport/call-options.ts";
import type { Redactor } from "../transport/redact.ts";
import type { CallEndpoint } from "../transport/transport.ts";
import { copyAsJson } from "../values/copy-as-json.ts";
import { kindOf, sameName } from "../values/in-words.ts";
import { isRecord, propertyOf, withoutPrototype } from "../values/predicates.ts";
import { v1EventSchema, type V1Event } from "./event-schema.ts";

/** The result of `v1.events.send`. The response is not documented, so status and body are unchanged. */
export type EventResult = {
  /** The id that makes the event safe to send again: the event's own, or a generated one. */
  readonly uniqueIdentifier: string;
  /** The 2xx status of the response. */
  readonly status: number;
  /** The parsed JSON, else the string; undefined if the response had no body. */
  readonly body: unknown;
};

/** A `v1.events.send` that is not sent yet: `write.v1.events.send(event)`. */
export interface EventWrite {
  /** The operation of the event's call. */
  readonly operation: "v1.events.send";
  /** The event, as its call takes it. */
  readonly event: V1Event;
  /** Options of the event's write; those of who sends it go before them. */
  readonly options?: WriteOptions | undefined;
}

/** A custom event that names, or may name, a contact. The compiler refuses only an event that cannot. */
export type WithContact<Field extends keyof V1Event> = Readonly<V1Event> &
  Pick<V1Event, Field> &
  NamesContact<Field>;

type NamesContact<Field> = [Field & ("contact" | "contactUUID")] extends [never]
  ? { contact: { email: string } }
  : unknown;

/** Schemas of `eventData`, by the names of their events: any Standard Schema, or `null` for an event without data. */
export type EventSchemas = Readonly<Record<string, StandardSchema<unknown, object | undefined> | null>>;

/** The `eventData` that a schema takes; `null` for none. */
export type EventDataOf<Schema> = Schema extends {
  readonly "~standard": { readonly types?: { readonly input: infer Input } | undefined };
}
  ? Input
  : null;

type DefinedKey = Exclude<keyof V1Event, "eventName">;

/** An event of `v1.events.define`, without its name: its contact, and the `eventData` that its schema takes. */
export type DefinedEvent<EventData, Field extends DefinedKey = DefinedKey> = Readonly<
  Omit<V1Event, "eventName" | "eventData">
> &
  Pick<{ readonly [Key in DefinedKey]?: unknown }, Field> &
  NamesContact<Field> &
  ([EventData] extends [null]
    ? { readonly eventData?: undefined }
    : undefined extends EventData
      ? { readonly eventData?: EventData }
      : { readonly eventData: EventData });

/** Events whose names and `eventData` are typed. `EventData` holds the data of each event, by its name. */
export interface DefinedEvents<EventData> {
  /**
   * Sends an event as `v1.events.send` does, with what its schema makes of `eventData`.
   *
   * ```ts
   * await events.send("order_placed", { contact: { email: "ada@example.com" }, eventData: { total: 42 } });
   * ```
   *
   * @throws ValidationError if the name is not defined, the schema refuses `eventData`, or the event is invalid: with all
   *   problems of the event at once, and nothing is sent.
   * @throws AudienceError of another class if the call fails; with its `uniqueIdentifier` the event is safe to send again.
   */
  send<Name extends keyof EventData & string, Field extends DefinedKey>(
    name: Name,
    event: DefinedEvent<EventData[Name], Field>,
    options?: CallOptions,
  ): ApiPromise<EventResult>;

  /**
   * An event as a value, as `write.v1.events.send` gives it, with what its schema makes of `eventData`. Sends nothing.
   *
   * ```ts
   * const event = { uniqueIdentifier: "order-1001", contact: { email: "ada@example.com" }, eventData: { total: 42 } };
   * const job = events.write("order_placed", event);
   * ```
   *
   * @throws ValidationError, at once, if the name is not defined or the schema refuses `eventData`: who sends the value does
   *   not know the schema. All else is checked when it is sent.
   * @throws ConfigurationError, at once, if the schema is no Standard Schema, or throws.
   */
  write<Name extends keyof EventData & string, Field extends DefinedKey>(
    name: Name,
    event: DefinedEvent<EventData[Name], Field>,
    options?: WriteOptions,
  ): EventWrite;
}

/** Custom events of the v1 family. */
export interface V1Events {
  /**
   * Records an event on a contact's timeline, and creates the contact if needed (`POST /api/v1/events`). Resolves to the
   * event's `uniqueIdentifier`, and the response's `status` and `body`, which are not documented.
   *
   * The `uniqueIdentifier`, the event's own or a generated one, is the same in every attempt, in the result and in the
   * error. The service records an event that is sent again with it once. To be safe over a restart, give your own.
   *
   * ```ts
   * await audience.v1.events.send({
   *   eventName: "order_placed",
   *   uniqueIdentifier: `order-${order.id}`,
   *   contact: { email: "ada@example.com" },
   *   eventData: { total: 42 },
   * });
   * ```
   *
   * @throws ValidationError if the event is invalid: all problems at once, and nothing is sent.
   * @throws AudienceError of another class if the call fails; with its `uniqueIdentifier` the event is safe to send again.
   */
  send<Field extends keyof V1Event>(
    event: WithContact<Field>,
    options?: CallOptions,
  ): ApiPromise<EventResult>;

  /**
   * Defines events, each by its name and the schema of its `eventData`: any Standard Schema, such as one of zod, valibot or
   * arktype, that answers at once; `null` for an event without data. Sends nothing. What a schema outputs is sent.
   *
   * ```ts
   * const events = audience.v1.events.define({
   *   order_placed: z.object({ total: z.number() }),
   *   signed_up: null,
   * });
   * await events.send("order_placed", { contact: { email: "ada@example.com" }, eventData: { total: 42 } });
   * ```
   *
   * It never throws: what is wrong with a schema, `send` rejects with.
   *
   * @throws ValidationError, from `send`, if the name is not defined, or the schema refuses `eventData`.
   * @throws ConfigurationError, from `send`, if the schema is no Standard Schema, throws, or answers with a promise. An `AudienceError` all the same.
   */
  define<Schemas extends EventSchemas>(
    schemas: Schemas,
  ): DefinedEvents<{ [Name in keyof Schemas]: EventDataOf<Schemas[Name]> }>;
}

export function v1Events(call: CallEndpoint, redactor: Redactor): V1Events {
  return {
    send: (event, options) => call(sendEvent, { body: event }, options),
    define: (schemas) => ({
      send: (name, event, options) =>
        call({ ...sendEvent, read: (body) => definedEvent(schemas, name, body) }, { body: event }, options),
      write(name, event, options) {
        // Safe: the event of a write is unchecked, but for its data.
        const namedEvent = redactor.guard(() => definedEvent(schemas, name, event)) as V1Event;
        return { operation: "v1.events.send", event: namedEvent, ...(options && { options }) };
      },
    }),
  };
}

/** `POST /api/v1/events`: safe to repeat, because every attempt carries the same `uniqueIdentifier`. */
export const sendEvent: Endpoint<V1Event, EventResult> = {
  operation: "v1.events.send",
  method: "POST",
  path: "/api/v1/events",
  body: v1EventSchema,
  complete: (event, newId) =>
    withoutPrototype({ ...event, uniqueIdentifier: event.uniqueIdentifier ?? newId(event.eventName) }),
  identifierOf: ({ uniqueIdentifier }) => uniqueIdentifier,
  contactsOf: (event) =>
    contactKeys([propertyOf(event, "contact"), { contactUUID: propertyOf(event, "contactUUID") }]),
  isRepeatable: () => true,
  acceptsText: () => true,
  // Safe: `complete` has added the event's identifier.
  decode: ({ status, body }, sent) => ({ uniqueIdentifier: sent.uniqueIdentifier!, status, body }),
};

/** The event with what its schema makes of its data. Throws a `ValidationError` with all issues, or a `ConfigurationError`. */
function definedEvent(schemas: unknown, givenName: unknown, event: unknown): unknown {
  // The schema of events says that the event is no object, or cannot be read.
  if (!isRecord(event) || copyAsJson(event).copy === undefined) return event;
  const { eventName, eventData, ...fields } = withoutPrototype(event);
  const name = typeof givenName === "string" ? givenName : kindOf(givenName);
  const dataSchemas = Object(schemas) as Readonly<Record<string, unknown>>;
  const issues: ValidationIssue[] = [];
  const addIssue = (key: string, message: string) =>
    void issues.push({ path: [key], code: "custom", message });
  if (eventName !== undefined) addIssue("eventName", "must be left out: the name is the first argument");
  let data: unknown;
  if (!Object.hasOwn(dataSchemas, name))
    addIssue("eventName", `is not the name of a defined event: ${nameHint(name, Object.keys(dataSchemas))}`);
  else if (dataSchemas[name] !== null)
    data = parseStandard(dataSchemas[name], { name, key: "eventData", value: eventData }, issues);
  else if (eventData !== undefined) addIssue("eventData", "must be left out: the event has none");
  if (issues.length === 0) return { ...fields, eventName: name, eventData: data };
  // All problems of the event at once.
  const eventIssues: ValidationIssue[] = [];
  validate(v1EventSchema, { ...fields, eventName: name }, eventIssues);
  throw new ValidationError([...eventIssues, ...issues]);
}

function nameHint(name: string, eventNames: readonly string[]): string {
  const meant = sameName(name, eventNames);
  return meant === undefined
    ? `the names are: ${eventNames.join(", ") || "none"}`
    : `did you mean "${meant}"?`;
}
