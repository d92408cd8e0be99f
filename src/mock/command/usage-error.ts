/** A mistake in the command line, or in a file that it names. Only its message is printed, without a stack. */
export class UsageError extends Error {}

/** The message of an error of Node's. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
