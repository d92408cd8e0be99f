/** The words of a heading, in lower case and without accents: `EMAIL_OptIn (web)` is email, opt, in, web. */
export function headingWords(heading: string): string[] {
  return heading
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

/** A heading without case, accents, spaces and punctuation, for comparisons. */
export function compactHeading(heading: string): string {
  return headingWords(heading).join("");
}

/** A heading as the name of a custom property: `Favourite Colour` is `favourite_colour`. */
export function snakeCase(heading: string): string {
  return heading
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, "_")
    .replace(/^_|_$/g, "");
}
