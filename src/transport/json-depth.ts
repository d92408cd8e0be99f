/** How deep the arrays and objects of a JSON text are nested. Of a text that is no JSON it says nothing. */
export function jsonDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  // Texts are skipped whole: a bracket inside one opens nothing.
  for (const [part] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[{]|[\]}]/g)) {
    if (part === "[" || part === "{") deepest = Math.max(deepest, ++depth);
    else if (part === "]" || part === "}") depth--;
  }
  return deepest;
}
