import * as z from "zod";
import { besideOtherIssues, unknownKeys } from "../../schema/issues.ts";
import { jsonObject, jsonValue } from "../../schema/json.ts";
import { isRecord } from "../../schema/kind-of.ts";
import { nameMeant } from "../../schema/name-hint.ts";
import { emailAddress, nonBlankString } from "../../schema/string.ts";

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
 * The keys of a custom event, without the rule that it names a contact: for `.extend`, `.pick`, `.omit` and
 * `.partial` ("Custom event"). Any other key at the root is refused, as the v1 family refuses it.
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
      "unknown key, which the service refuses: an event is sent alone, not wrapped; what names the contact goes under contact, data of your own under eventData",
    ),
  },
) satisfies z.ZodType<V1Event>;

/** A custom event that names its contact, by an `email` or a `contactUUID` ("Custom event"). */
export const v1EventSchema = v1EventFieldsSchema.superRefine(({ contact, contactUUID }, { addIssue }) => {
  if (contactUUID !== undefined || (contact !== undefined && !isRecord(contact))) return;
  if (contact?.email !== undefined || contact?.contactUUID !== undefined) return;
  const given = Object.keys(contact ?? {}).find((key) => nameMeant(key, contactNames) !== undefined);
  const hint = given === undefined ? "" : `; "${given}" was given: write "${nameMeant(given, contactNames)}"`;
  addIssue({
    code: "custom",
    path: ["contact"],
    message: `required: contact.email, contact.contactUUID, or contactUUID${hint}`,
  });
}, besideOtherIssues);

const contactNames = ["email", "contactUUID"];
