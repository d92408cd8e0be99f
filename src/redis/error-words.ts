const longest = 200;

/**
 * Why Redis did not reply, in its own words or its client's, without what could hold a password: the part of an address
 * before its host, the arguments of a command, and whatever comes after AUTH.
 */
export function errorWords(error: unknown): string {
  const shown = readWords(error)
    .replace(/\n.*/s, "")
    .replace(/:\/\/\S*@/g, "://")
    .replace(/,? with args beginning with.*/i, "")
    .replace(/\b(auth)\b.*/i, "$1 …")
    // They stand inside a sentence, which has an end of its own.
    .replace(/[.\s]+$/, "");
  return shown.length > longest ? `${shown.slice(0, longest)}…` : shown;
}

function readWords(error: unknown): string {
  try {
    return wordsOf(error);
  } catch {
    return "it does not say why";
  }
}

function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === "string" ? error : "it does not say why";
  if (error.message !== "") return error.message;
  // Where a name has several addresses, Node says why in the errors of each.
  if (error instanceof AggregateError && error.errors.length > 0) return wordsOf(error.errors[0]);
  return error.name;
}
