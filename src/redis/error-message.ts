const maxLength = 200;

/**
 * Why Redis did not reply, in its own words or its client's, without what could hold a password: the part of an address
 * before its host, the arguments of a command, and whatever comes after AUTH.
 */
export function errorMessage(error: unknown): string {
  const shown = readMessage(error)
    .replace(/\n.*/s, "")
    .replace(/:\/\/\S*@/g, "://")
    .replace(/,? with args beginning with.*/i, "")
    .replace(/\b(auth)\b.*/i, "$1 …")
    // They stand inside a sentence, which has an end of its own.
    .replace(/[.\s]+$/, "");
  return shown.length > maxLength ? `${shown.slice(0, maxLength)}…` : shown;
}

function readMessage(error: unknown): string {
  try {
    return messageOf(error);
  } catch {
    return "no reason given";
  }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === "string" ? error : "no reason given";
  if (error.message !== "") return error.message;
  // Where a name has several addresses, Node says why in the errors of each.
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  return error.name;
}
