const maxLength = 200;

/**
 * The message of an error of Redis or its client, without the parts that could contain a password: user info in a URL,
 * the arguments of a command, and the text after AUTH.
 */
export function errorMessage(error: unknown): string {
  const shown = readMessage(error)
    .replace(/\n.*/s, "")
    .replace(/:\/\/\S*@/g, "://")
    .replace(/,? with args beginning with.*/i, "")
    .replace(/\b(auth)\b.*/i, "$1 …")
    // The message is part of a sentence.
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
  // For a name with several addresses, Node has one error for each.
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  return error.name;
}
