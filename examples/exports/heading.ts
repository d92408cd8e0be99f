/** The words of a heading, in lower case: `EMAIL_OptIn (web)` is email, opt, in, web. */
export function headingWords(heading: string): string[] {
  return heading
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/n['’]t\b/gi, " not")
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

const answers = /^(yes|y|ja|j|oui|o|si|s|sim|true|wahr|1) (no|n|nein|non|nee|nej|nao|false|falsch|0)$/;

/** The words of a heading without the possible answers ("Newsletter (yes/no)"), and without Salesforce's `__c`. */
export function wordsWithoutAnswers(heading: string): string[] {
  const words = headingWords(heading.replace(/(?<!^status)__c$/i, ""));
  return answers.test(words.slice(-2).join(" ")) ? words.slice(0, -2) : words;
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
