import type { SourceFiles } from "./source-files.ts";

/** What is true on one machine alone, or not finished. */
const forbidden: Record<string, RegExp> = {
  "a path of one machine": /(?<![\w.:/-])\/(?:work|home|root|Users|private)\/[\w.-]/,
  "a package registry": /\bregistry\.[a-z0-9-]+\.[a-z]{2,}|"resolved":|npm\.pkg\.|:4873\b/,
  "an unfinished thought": /\b(?:TODO|FIXME|XXX|HACK)\b/,
};

/** Each line that holds one, with what it is. */
export function forbiddenText(files: SourceFiles): string[] {
  return [...files].flatMap(([path, text]) =>
    text.split("\n").flatMap((line, at) =>
      Object.entries(forbidden)
        .filter(([, pattern]) => pattern.test(line))
        .map(([description]) => `${path}:${at + 1} holds ${description}: ${line.trim()}`),
    ),
  );
}
