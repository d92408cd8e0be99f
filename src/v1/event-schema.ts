import * as z from "zod";
import { jsonObject, jsonValue, emailAddress, nonBlankString } from "../schema/formats.ts";
import { besideOtherIssues, unknownKeys } from "../schema/validate.ts";
import { givenInstead, sameName } from "../values/in-words.ts";
import { hasOwn, isRecord, withoutPrototype } from "../values/predicates.ts";

/** A custom event, the input of `v1.events.send`. It names its contact by an `email` or a `contactUUID` ("Custom event"). */
export type V1Event = {
  /** The name of the event, which can trigger an automation. Not empty. */
  eventName: string;
  /** Makes the event safe to send again; not empty. Default: `events.send` generates one. */
  uniqueIdentifier?: string | undefined;
  /** The contact of the event. The service creates it by its `email` if it does not exist. Other keys are passed on. */
  contact?:
    | {
        email?: string | undefined;
        /** The `id` of the contact's profile. */
        contactUUID?: string | undefined;
        [key: string]: unknown;
      }
    | undefined;
  /** The `id` of the contact's profile, instead of `contact`: the document does not say which place is right. */
  contactUUID?: string | undefined;
  /** Data of the event: an object. Its values are any JSON except `null`, at every depth. */
  eventData?: Record<string, unknown> | undefined;
};

/**
 * The keys of a custom event, without the rule that it names a contact: for `.extend`, `.pick`, `.omit` and
 * `.partial` ("Custom event"). Unknown keys at the root are refused, as by the v1 family.
 */
export const v1EventFieldsSchema = z.strictObject(
  {
    eventName: z.string().min(1),
    uniqueIdentifier: z.string().min(1).optional(),
    contact: z
      .object({ email: emailAddress().optional(), contactUUID: nonBlankString.optional() })
      .catchall(jsonValue)
      .optional(),
    contactUUID: nonBlankString.optional(),
    eventData: jsonObject.optional(),
  },
  {
    error: unknownKeys(
      "unknown key, which the service refuses: what names the contact goes under contact, data of your own under eventData; an event is sent alone, not wrapped",
    ),
  },
) satisfies z.ZodType<V1Event>;

/** The schema of `v1.events.send`: the event names its contact by an `email` or a `contactUUID` ("Custom event"). */
export const v1EventSchema = v1EventFieldsSchema.superRefine((event, { addIssue }) => {
  const { contact, contactUUID } = withoutPrototype(event);
  if (contactUUID !== undefined || (contact !== undefined && !isRecord(contact))) return;
  if (contact && (hasOwn(contact, "email") || hasOwn(contact, "contactUUID"))) return;
  const given = Object.keys(contact ?? {}).find((key) => sameName(key, contactNames) !== undefined);
  const hint = givenInstead(given, sameName(given ?? "", contactNames) ?? "");
  const message = `required: contact.email, contact.contactUUID, or contactUUID${hint}`;
  addIssue({ code: "custom", path: ["contact"], message });
}, besideOtherIssues);

const contactNames = ["email", "contactUUID"];
