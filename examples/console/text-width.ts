// Characters of two cells on a terminal (East Asian Width W and F; Unicode Annex 11).
const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/u;
// A sequence that is drawn as one emoji: joined people, flags, a sign with the emoji selector.
const picture = /\p{Emoji_Presentation}|\p{Regional_Indicator}|\ufe0f/u;
const withoutWidth = /^[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff]/u;
const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** The width of a string in cells of a terminal. */
export function textWidth(text: string): number {
  return graphemes(text).reduce((width, grapheme) => width + graphemeWidth(grapheme), 0);
}

/** Cuts a wide string with `…`, and pads a narrow one with spaces. Never splits a character. */
export function fitWidth(text: string, width: number): string {
  const shown = textWidth(text) <= width ? text : `${cut(text, width - 1)}…`;
  return shown + " ".repeat(Math.max(0, width - textWidth(shown)));
}

/** The string on one line, without control characters. */
export function printable(text: string): string {
  return text.replace(/\s+/gu, " ").replace(/\p{Cc}/gu, "\ufffd");
}

function cut(text: string, width: number): string {
  let result = "";
  let resultWidth = 0;
  for (const grapheme of graphemes(text)) {
    resultWidth += graphemeWidth(grapheme);
    if (resultWidth > width) break;
    result += grapheme;
  }
  return result;
}

function graphemes(text: string): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

function graphemeWidth(grapheme: string): number {
  if (picture.test(grapheme)) return 2;
  return Array.from(grapheme).reduce((width, character) => width + characterWidth(character), 0);
}

function characterWidth(character: string): number {
  if (withoutWidth.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}
