import type { SourceFiles } from "./source-files.ts";

/** What is true on one machine alone, or not finished. */
const foreign: Record<string, RegExp> = {
  "a path of one machine": /(?<![\w.:/-])\/(?:work|home|root|Users|private)\/[\w.-]/,
  "a package registry": /\bregistry\.[a-z0-9-]+\.[a-z]{2,}|"resolved":|npm\.pkg\.|:4873\b/,
  "an unfinished thought": /\b(?:TODO|FIXME|XXX|HACK)\b/,
};

/** Each line that holds one, with what it is. */
export function foreignWords(files: SourceFiles): string[] {
  return [...files].flatMap(([path, text]) =>
    text.split("\n").flatMap((line, at) =>
      Object.entries(foreign)
        .filter(([, pattern]) => pattern.test(line))
        .map(([what]) => `${path}:${at + 1} holds ${what}: ${line.trim()}`),
    ),
  );
}
