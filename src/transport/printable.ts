/** Controls, which move a terminal's cursor or begin a line of a log, and marks that turn the direction of a text. */
const unseen = /[\p{Cc}\p{Surrogate}\p{Bidi_Control}\u2028\u2029]/gu;

/** Words of the service as an error's message may hold them: what would act and not show is written out, as `\u001b`. */
export function printable(text: string): string {
  return text.replace(unseen, (character) =>
    character === "\n" ? "\\n" : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
