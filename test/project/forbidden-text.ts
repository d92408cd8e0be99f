import type { SourceFiles } from "./source-files.ts";

/** Patterns of text that is specific to one machine, or unfinished. */
const forbidden: Record<string, RegExp> = {
  "a path of one machine": /(?<![\w.:/-])\/(?:work|home|root|Users|private)\/[\w.-]/,
  "a package registry": /\bregistry\.[a-z0-9-]+\.[a-z]{2,}|"resolved":|npm\.pkg\.|:4873\b/,
  "an unfinished thought": /\b(?:TODO|FIXME|XXX|HACK)\b/,
};

/** Each line with forbidden text, with the description of its pattern. */
export function forbiddenText(files: SourceFiles): string[] {
  return [...files].flatMap(([path, text]) =>
    text.split("\n").flatMap((line, at) =>
      Object.entries(forbidden)
        .filter(([, pattern]) => pattern.test(line))
        .map(([description]) => `${path}:${at + 1} holds ${description}: ${line.trim()}`),
    ),
  );
}
