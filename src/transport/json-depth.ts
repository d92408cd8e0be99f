/**
 * Whether the arrays and objects of a JSON text are nested deeper than so many levels. Of a text that is no JSON it
 * says nothing, but it says so in one walk: a pattern would begin anew at each quotation mark of a text that never ends.
 */
export function isNestedDeeper(text: string, levels: number): boolean {
  // Nearly every answer opens fewer than that, nested or not, which the runtime finds out without a walk.
  if (!opensMore(text, levels)) return false;
  let depth = 0;
  // Inside a text a bracket opens nothing.
  let isInText = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quotationMark) isInText = !isInText;
    else if (isInText) at += code === backslash ? 1 : 0;
    else if (code === openBracket || code === openBrace) {
      if (++depth > levels) return true;
    } else if (code === closeBracket || code === closeBrace) depth--;
  }
  return false;
}

const quotationMark = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

function opensMore(text: string, times: number): boolean {
  let found = 0;
  for (const character of ["{", "["]) {
    for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) {
      if (++found > times) return true;
    }
  }
  return false;
}
