import type { CustomRequest } from "./custom-request.ts";
import type { AddContactWriteOptions, WriteOptions } from "./transport/call-options.ts";
import type { AddContactResult } from "./v1/contact-group-schema.ts";
import type { ContactToAdd } from "./v1/contact-groups.ts";
import type { V1ConsentedListContact, V1Contact, V1ListContact } from "./v1/contact-schema.ts";
import type { WithEmailOrPhone } from "./v1/customers.ts";
import type { V1Event } from "./v1/event-schema.ts";
import type { EventResult, EventWrite, WithContact } from "./v1/events.ts";
import type { Profile } from "./v1/profile.ts";
import type { V2Contact, V2UpsertResult } from "./v2/contacts.ts";

/** What every write has that is a value. */
interface WriteBase<Operation, Options = WriteOptions> {
  /** The name of its call. */
  readonly operation: Operation;
  /** Options of the write; those of who sends it go before them. */
  readonly options?: Options | undefined;
}

/** A `v1.customers.upsert` that is not sent yet: `write.v1.customers.upsert(contact)`. */
export interface CustomerWrite extends WriteBase<"v1.customers.upsert"> {
  /** The contact, as its call takes it. */
  readonly contact: V1Contact;
}

// Before the usual one: of two members that fit equally, messages of the compiler name the last.
/** A `v1.contactGroups.addContact` that leaves the e-mail consent to the service, and is not sent yet. */
export interface UnconsentedAddContactWrite extends WriteBase<"v1.contactGroups.addContact"> {
  /** The id of the list. */
  readonly listId: string;
  /** The contact, as its call takes it. */
  readonly contact: V1ListContact;
  /** Options of the write; those of who sends it go before them. */
  readonly options: WriteOptions & { readonly consent: "service-decides" };
}

/** A `v1.contactGroups.addContact` that is not sent yet: `write.v1.contactGroups.addContact(listId, contact)`. */
export interface AddContactWrite extends WriteBase<"v1.contactGroups.addContact"> {
  /** The id of the list. */
  readonly listId: string;
  /** The contact, as its call takes it. */
  readonly contact: V1ConsentedListContact;
}

/** A `v2.contacts.upsert` that is not sent yet: `write.v2.contacts.upsert(contact)`. */
export interface V2ContactWrite extends WriteBase<"v2.contacts.upsert"> {
  /** The contact, as its call takes it. */
  readonly contact: V2Contact;
}

/** A custom request that is not sent yet: `write.v1.request(request)`. */
export interface RequestWrite<Family extends "v1" | "v2" = "v1" | "v2"> extends WriteBase<
  `${Family}.request`,
  AddContactWriteOptions
> {
  /** The request, as its call takes it. */
  readonly request: CustomRequest;
}

/**
 * A write that is not sent yet, as plain data: what `JSON.stringify` makes of it is the same write. It is checked when it is
 * sent.
 *
 * ```ts
 * const job: Write = write.v1.customers.upsert({ email: "ada@example.com", email_opt_in: "UNSUBSCRIBED" });
 * await audience.send(job);
 * ```
 */
export type Write =
  | CustomerWrite
  | UnconsentedAddContactWrite
  | AddContactWrite
  | EventWrite
  | V2ContactWrite
  | RequestWrite<"v1">
  | RequestWrite<"v2">;

/** What each operation's call resolves to. */
export interface WriteValues {
  /** The contact. */
  readonly "v1.customers.upsert": Profile;
  /** The result of the call. */
  readonly "v1.contactGroups.addContact": AddContactResult;
  /** The result of the call. */
  readonly "v1.events.send": EventResult;
  /** The response's body. */
  readonly "v2.contacts.upsert": V2UpsertResult;
  /** The response's body. */
  readonly "v1.request": unknown;
  /** The response's body. */
  readonly "v2.request": unknown;
}

/**
 * What a write resolves to when it is sent; of an array of writes, an array of what they resolve to.
 *
 * ```ts
 * type Value = WriteValue<CustomerWrite>; // Profile
 * type Values = WriteValue<[CustomerWrite, EventWrite]>; // [Profile, EventResult]
 * ```
 */
export type WriteValue<Writes extends Write | readonly Write[]> = Writes extends Write
  ? WriteValues[Writes["operation"]]
  : { -readonly [Index in keyof Writes]: Writes[Index] extends Write ? WriteValue<Writes[Index]> : never };

/**
 * The calls that write, as values: for `audience.send`, `audience.bulk`, a queue or a log. Each takes the arguments of its
 * call, sends nothing, and checks nothing: what is made here is checked when it is sent.
 *
 * ```ts
 * const job = write.v1.customers.upsert({ email: "ada@example.com", email_opt_in: "UNSUBSCRIBED" });
 * await audience.send(JSON.parse(JSON.stringify(job)));
 * ```
 */
export const write = {
  /** The v1 family. */
  v1: {
    /** Contacts: `upsert`. */
    customers: {
      /**
       * A contact to create or update, as a value: `audience.send`, `audience.bulk` or a queue takes it.
       *
       * ```ts
       * const job = write.v1.customers.upsert({ email: "ada@example.com", email_opt_in: "UNSUBSCRIBED" });
       * ```
       */
      upsert<Field extends keyof V1Contact>(
        contact: WithEmailOrPhone<Field>,
        options?: WriteOptions,
      ): CustomerWrite {
        return writeOf({ operation: "v1.customers.upsert", contact, options });
      },
    },
    /** Lists: `addContact`. */
    contactGroups: {
      /**
       * A contact to add to a list, as a value. Its `email_opt_in` is required, as in the call.
       *
       * ```ts
       * const job = write.v1.contactGroups.addContact(listId, { email: "ada@example.com", email_opt_in: "SUBSCRIBED" });
       * ```
       */
      addContact<Options extends [options?: AddContactWriteOptions]>(
        listId: string,
        contact: ContactToAdd<Options>,
        ...[options]: Options
      ): ContactToAdd<Options> extends V1ConsentedListContact ? AddContactWrite : UnconsentedAddContactWrite {
        // Safe: the types of the contact and of the write follow from the options.
        return writeOf({ operation: "v1.contactGroups.addContact", listId, contact, options } as never);
      },
    },
    /** Custom events: `send`. */
    events: {
      /**
       * An event, as a value. For `audience.send` it needs an id of its own, as a job may be tried twice.
       *
       * ```ts
       * const contact = { email: "ada@example.com" };
       * const job = write.v1.events.send({ eventName: "order_placed", uniqueIdentifier: "order-1001", contact });
       * ```
       */
      send<Field extends keyof V1Event>(event: WithContact<Field>, options?: WriteOptions): EventWrite {
        return writeOf({ operation: "v1.events.send", event, options });
      },
    },
    /**
     * A request that no method makes, as a value. Name the contact that it changes.
     *
     * ```ts
     * const contact = { email: "ada@example.com" };
     * const job = write.v1.request({ method: "POST", path: "/api/v1/new-path", body: contact, contact });
     * ```
     */
    request(request: CustomRequest, options?: AddContactWriteOptions): RequestWrite<"v1"> {
      return writeOf({ operation: "v1.request", request, options });
    },
  },
  /** The v2 family. */
  v2: {
    /** Contacts: `upsert`. */
    contacts: {
      /**
       * A v2 contact to create or update, as a value.
       *
       * ```ts
       * const job = write.v2.contacts.upsert({ firstName: "Ada", listIds: [], identifiers });
       * ```
       */
      upsert(contact: V2Contact, options?: WriteOptions): V2ContactWrite {
        return writeOf({ operation: "v2.contacts.upsert", contact, options });
      },
    },
    /**
     * A request that no method makes, as a value. Name the contact that it changes.
     *
     * ```ts
     * const job = write.v2.request({ method: "PUT", path: "/v2/new-path", body, contact: { email } });
     * ```
     */
    request(request: CustomRequest, options?: AddContactWriteOptions): RequestWrite<"v2"> {
      return writeOf({ operation: "v2.request", request, options });
    },
  },
} as const;

/** The type of `write`: the calls that write, as values. */
export type WriteMethods = typeof write;

/** A write without absent options: it equals what JSON makes of the write. */
function writeOf<One extends Write>({ options, ...members }: One): One {
  // Safe: the members and the options are the whole write.
  return (options === undefined ? members : { ...members, options }) as One;
}
