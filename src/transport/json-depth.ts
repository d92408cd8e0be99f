/**
 * Whether the arrays and objects of a JSON text are nested deeper than so many levels. Of a text that is no JSON it
 * says nothing, but it says so in one walk: a pattern would begin anew at each quotation mark of a text that never ends.
 */
export function isNestedDeeper(text: string, levels: number): boolean {
  // Nearly every answer opens fewer than that, which the runtime finds out a good deal faster.
  let opened = 0;
  for (const bracket of "{[") {
    for (let at = text.indexOf(bracket); at >= 0 && opened <= levels; at = text.indexOf(bracket, at + 1))
      opened++;
  }
  if (opened <= levels) return false;
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
