import type { MockVariants } from "../variants.ts";
import { mergeConsents, nextOptIn, type OmittedOptIn } from "./consents.ts";
import type { MockContact } from "./organization-state.ts";

/** The fields of a write; absent fields stay unchanged. */
export type ContactFields = Partial<Omit<MockContact, "id" | "created" | "updated">>;

/** The effects of omitted consents on an existing contact; by default they are kept. */
export interface OmittedConsents {
  emailOptInOmitted?: OmittedOptIn;
  phoneOptInOmitted?: OmittedOptIn;
  suppressionOmitted?: MockVariants["suppressionOmitted"];
}

/** A contact with the document's defaults. */
export function newContact(id: string, times: Pick<MockContact, "created" | "updated">): MockContact {
  return {
    id,
    email_opt_in: "NON_SUBSCRIBED",
    phone_opt_in: "NON_SUBSCRIBED",
    is_suppressed: false,
    double_opt_in: false,
    source: "api",
    ...times,
  };
}

/** What a write makes of the fields that a contact has; `before` is empty for a new one. */
export function mergedFields(
  before: Partial<MockContact>,
  fields: ContactFields,
  {
    emailOptInOmitted = "kept",
    phoneOptInOmitted = "kept",
    suppressionOmitted = "kept",
    customProperties,
  }: OmittedConsents & Pick<MockVariants, "customProperties">,
): ContactFields {
  const merged: ContactFields = {
    ...(suppressionOmitted === "lifted" && { is_suppressed: false }),
    ...fields,
    email_opt_in: nextOptIn(before.email_opt_in, fields.email_opt_in, emailOptInOmitted),
    phone_opt_in: nextOptIn(before.phone_opt_in, fields.phone_opt_in, phoneOptInOmitted),
  };
  if (fields.custom_properties !== undefined && customProperties === "merged")
    merged.custom_properties = { ...before.custom_properties, ...fields.custom_properties };
  if (fields.other_fields !== undefined)
    merged.other_fields = { ...before.other_fields, ...fields.other_fields };
  if (fields.consents !== undefined) merged.consents = mergeConsents(before.consents, fields.consents);
  return merged;
}
