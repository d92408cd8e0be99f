import { ConfigurationError, isAudienceError } from "../errors.ts";
import { isObject } from "../schema/kind-of.ts";
import { ignoreRejection } from "../schema/user-function.ts";
import { isWaitTooLong } from "../transport/interceptors/retry.ts";

const stopCodes: readonly string[] = ["authentication", "permission", "configuration", "closed"];

/** Whether the error ends the run, by `stopWhen` or the default. A `Retry-After` of over an hour always does. */
export function isStop(error: unknown, stopWhen: (error: unknown) => unknown = stopsByDefault): boolean {
  if (isAudienceError(error) && error.code === "rate_limit" && isWaitTooLong(error)) return true;
  const stops = stopWhen(error);
  ignoreRejection(stops);
  // A promise would count as true.
  if (isObject(stops)) {
    throw new ConfigurationError("stopWhen must return a boolean.");
  }
  return Boolean(stops);
}

/** Errors that every other row would meet too. On a wrong list, `addContact` would create a contact for each row. */
function stopsByDefault(error: unknown): boolean {
  if (!isAudienceError(error)) return false;
  if (error.code === "not_found") return error.request?.operation === "v1.contactGroups.addContact";
  return stopCodes.includes(error.code);
}
