import { isAudienceError } from "../errors.ts";

const stopCodes: readonly string[] = ["authentication", "permission", "configuration"];

/** What every other row would meet too. On a wrong list, `addContact` would create a contact for each row. */
export function stopsByDefault(error: unknown): boolean {
  if (!isAudienceError(error)) return false;
  if (error.code === "not_found") return error.request?.operation === "v1.contactGroups.addContact";
  return stopCodes.includes(error.code);
}
