/** As much as the client takes of a response. */
export const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** The text of a body, unless it is too large. */
export async function readBody(request: Request): Promise<string | undefined> {
  const bytes = await request.arrayBuffer();
  return bytes.byteLength > MAX_BODY_BYTES ? undefined : new TextDecoder().decode(bytes);
}

/** As of the client: a deeper value overflows the stack of those who copy or print it. */
const MAX_DEPTH = 1_000;

/** The value of a JSON body, or why it has none. */
export function readJson(text: string): { value: unknown } | { problem: string } {
  if (isTooDeep(text))
    return { problem: "the body is nested deeper than 1,000 levels, the mock's own limit" };
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return { problem: "the body is not JSON" };
  }
}

/** Before it is parsed, and in one pass. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  // Brackets inside a string do not count.
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') isInString = !isInString;
    else if (isInString) at += character === "\\" ? 1 : 0;
    else if (character === "[" || character === "{") {
      if (++depth > MAX_DEPTH) return true;
    } else if (character === "]" || character === "}") depth--;
  }
  return false;
}
