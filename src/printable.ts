const shownIssues = 10;

/** The message of a `ValidationError`: a line for each issue. */
export function describeIssues(
  issues: readonly { readonly path: readonly (string | number)[]; readonly message: string }[],
): string {
  const lines = issues.slice(0, shownIssues).map(({ path, message }) => `${formatPath(path)}: ${message}`);
  const rest = issues.length - lines.length;
  if (rest > 0) lines.push(`and ${rest} more, see \`issues\``);
  return `Not sent, ${issues.length === 1 ? "1 problem" : `${issues.length} problems`} in the input:\n  ${lines.join("\n  ")}`;
}

function formatPath(path: readonly (string | number)[]): string {
  if (path.length === 0) return "(input)";
  return path
    .map((key, index) =>
      typeof key === "number" ? `[${key}]` : `${index === 0 ? "" : "."}${printable(key)}`,
    )
    .join("");
}

/** Controls and format characters could move a cursor, start a log line, turn the direction of text, or hide in it. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]/gu;

/** Writes out the characters that do not show, as `\u001b` and `\u{e0041}`. */
export function printable(text: string): string {
  return text.replace(invisible, (character) => {
    if (character === "\n") return "\\n";
    // Safe: the pattern matches one character.
    const code = character.codePointAt(0)!.toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
  });
}

/** The same for a message, which has lines of its own: it may quote the service, a name or a function of the user. */
export function printableLines(message: string): string {
  return message.split("\n").map(printable).join("\n");
}
