/** The words of whatever somebody's function threw, which may be anything, even what cannot be read. A leaf. */
export function wordsOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? thrown.message : String(thrown);
  } catch {
    return "a value that cannot be read";
  }
}
