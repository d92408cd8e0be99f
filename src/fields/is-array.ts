/** Whether this is an array. A revoked proxy is none, and to ask of it, which `Array.isArray` forbids, is allowed. */
export function isArray(value: unknown): value is unknown[] {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}
