import { AuthenticationError, ConfigurationError, NotFoundError, PermissionError } from "../errors.ts";

/** What every other row would meet too. On a wrong list, `addContact` would create a contact for each row. */
export function stopsByDefault(error: unknown): boolean {
  if (error instanceof NotFoundError) return error.request?.operation === "v1.contactGroups.addContact";
  return (
    error instanceof AuthenticationError || error instanceof PermissionError || error instanceof ConfigurationError
  );
}
