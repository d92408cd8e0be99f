import { ConfigurationError, isAudienceError } from "../errors.ts";
import { isObject } from "../schema/kind-of.ts";
import { ignoreRejection } from "../schema/user-function.ts";
import { asksForTooLong } from "../transport/interceptors/retry.ts";

const stopCodes: readonly string[] = ["authentication", "permission", "configuration", "closed"];

/** Whether the error ends the run: by the caller's own word, where it was given. A refusal for over an hour always does. */
export function isStop(error: unknown, stopWhen: (error: unknown) => unknown = stopsByDefault): boolean {
  if (isAudienceError(error) && error.code === "rate_limit" && asksForTooLong(error)) return true;
  const stops = stopWhen(error);
  ignoreRejection(stops);
  // A promise would be taken for a yes.
  if (isObject(stops)) {
    throw new ConfigurationError("stopWhen must give true or false.");
  }
  return Boolean(stops);
}

/** What every other row would meet too. On a wrong list, `addContact` would create a contact for each row. */
function stopsByDefault(error: unknown): boolean {
  if (!isAudienceError(error)) return false;
  if (error.code === "not_found") return error.request?.operation === "v1.contactGroups.addContact";
  return stopCodes.includes(error.code);
}
