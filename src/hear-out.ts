/**
 * Listens to a promise that stands where a value must be. It is refused by its own rule; what it rejects with later is
 * then nobody's, and an unhandled rejection would end the process.
 */
export function hearOut(value: unknown): void {
  try {
    if (value instanceof Promise) value.catch(() => undefined);
  } catch {
    // A proxy that throws is no promise, and its own rule says so.
  }
}
