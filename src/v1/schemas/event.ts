import { isRecord } from "../../is-object.ts";
import { nameMeant } from "../../fields/name-hint.ts";
import { email } from "../../fields/email.ts";
import { crossFieldRule } from "../../fields/cross-field-rule.ts";
import { optional } from "../../fields/field.ts";
import { jsonObject } from "../../fields/json-value.ts";
import { boundedText, filledText } from "../../fields/text.ts";
import { looseFields, strictFields, withRule } from "../../fields/objects.ts";

/** A custom event, as `v1.events.send` takes it. It names its contact, by an `email` or a `contactUUID` ("Custom event"). */
export type V1Event = {
  /** Name of the event; an automation can be triggered by it. Not empty. */
  eventName: string;
  /** Makes the event safe to send again; not empty. `events.send` makes one up where it is left out. */
  uniqueIdentifier?: string | undefined;
  /** Whose event it is. Created by its `email` if it does not exist. Further keys are passed on. */
  contact?:
    | {
        email?: string | undefined;
        /** The profile's `id`. */
        contactUUID?: string | undefined;
        [key: string]: unknown;
      }
    | undefined;
  /** The profile's `id`, in place of `contact`: where the service takes it is not documented. */
  contactUUID?: string | undefined;
  /** Free data of the event: whatever JSON can carry, but `null`. */
  eventData?: Record<string, unknown> | undefined;
};

/**
 * The fields of a custom event, without the rule that it names a contact: for `.extend`, `.pick`, `.omit` and
 * `.partial` ("Custom event"). Any other field at the root is refused, as the v1 family refuses it.
 */
export const v1EventFields = strictFields(
  {
    eventName: boundedText({ minLength: 1 }),
    uniqueIdentifier: optional(boundedText({ minLength: 1 })),
    contact: optional(looseFields({ email: optional(email()), contactUUID: optional(filledText()) })),
    contactUUID: optional(filledText()),
    eventData: optional(jsonObject()),
  },
  (key, value) => {
    if (wrappers.test(key) && typeof value === "object") return wrapped;
    return ofTheContact.test(key) ? `unknown field: write contact: { ${key} }` : ownField;
  },
);

const ofTheContact = /^(email|phone)$/;

const wrappers = /^(events?|data)$/;
const wrapped = "unknown field: an event is sent alone, its fields at the top, not wrapped";
const ownField =
  "unknown field: the service refuses an event that holds it; data of your own goes under eventData";

/** A custom event that names its contact, by an `email` or a `contactUUID` ("Custom event"). */
export const v1Event = withRule(
  v1EventFields,
  crossFieldRule(({ contact, contactUUID }) => {
    if (contactUUID !== undefined) return [];
    if (contact === undefined) return [{ path: ["contact"], message: whoseEvent }];
    // What is no object has been reported already.
    if (!isRecord(contact)) return [];
    if (Reflect.get(contact, "email") !== undefined || Reflect.get(contact, "contactUUID") !== undefined)
      return [];
    const given = Object.keys(contact).find((key) => nameMeant(key, contactNames) !== undefined);
    const hint =
      given === undefined ? "" : `; "${given}" was given: write "${nameMeant(given, contactNames)}"`;
    return [{ path: ["contact"], message: whoseEvent + hint }];
  }),
);

const contactNames = ["email", "contactUUID"];
const whoseEvent = "required: contact.email, contact.contactUUID, or contactUUID";
