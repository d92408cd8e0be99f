// What a function or an option of the user gave, which may be anything.

/** The words of whatever somebody's function threw, which may be anything, even what cannot be read. A leaf. */
export function errorMessage(thrown: unknown): string {
  try {
    return thrown instanceof Error ? thrown.message : String(thrown);
  } catch {
    return "a value that cannot be read";
  }
}

/**
 * Listens to a promise that stands where a value must be. It is refused by its own rule; what it rejects with later is
 * then nobody's, and an unhandled rejection would end the process.
 */
export function ignoreRejection(value: unknown): void {
  try {
    if (value instanceof Promise) value.catch(() => undefined);
  } catch {
    // A proxy that throws is no promise, and its own rule says so.
  }
}
