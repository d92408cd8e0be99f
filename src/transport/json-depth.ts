/**
 * Whether the arrays and objects of a JSON text are nested deeper than so many levels. Of a text that is no JSON it
 * says nothing, but it says so in one walk: a pattern would begin anew at each quotation mark of a text that never ends.
 */
export function isNestedDeeper(text: string, levels: number): boolean {
  let depth = 0;
  // Inside a text a bracket opens nothing.
  let isInText = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') isInText = !isInText;
    else if (isInText) at += character === "\\" ? 1 : 0;
    else if (character === "[" || character === "{") {
      if (++depth > levels) return true;
    } else if (character === "]" || character === "}") depth--;
  }
  return false;
}
