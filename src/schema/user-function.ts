// Values that the user's functions return or throw: they may be anything.

/** The message of a thrown value, even of one that cannot be read. */
export function errorMessage(thrown: unknown): string {
  try {
    return thrown instanceof Error ? thrown.message : String(thrown);
  } catch {
    return "a value that cannot be read";
  }
}

/**
 * Handles the rejection of a promise that was given in place of a value. Its own rule refuses the promise; an unhandled
 * rejection would end the process.
 */
export function ignoreRejection(value: unknown): void {
  try {
    if (value instanceof Promise) value.catch(() => undefined);
  } catch {
    // A proxy that throws is not a promise. Its own rule refuses it.
  }
}
