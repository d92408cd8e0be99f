import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { repository, sourceFiles } from "./source-files.ts";

const decisions = readFileSync(join(repository, "src/DECISIONS.md"), "utf8");
// The mock quotes sentences of the document, too.
const sources = [...sourceFiles("src")].filter(([path]) => !path.startsWith("src/mock/"));

/** The comment lines of a file. */
const commentsOf = (text: string) => text.split("\n").filter((line) => /^\s*(\/\*\*|\*|\/\/) /.test(line));

/** What the pattern's group matches in the comments, with the file's path. */
function cited(pattern: RegExp): [path: string, name: string][] {
  return sources.flatMap(([path, text]) =>
    [...commentsOf(text).join("\n").matchAll(pattern)].map(([, name = ""]): [string, string] => [path, name]),
  );
}

describe("What a comment cites is found on the page of the decisions", () => {
  it("a section of the service's document is listed", () => {
    const sections = cited(/(?: \(|, )"([A-Z][^"]+|v[12] [^"]+)"(?=[,:)])/g);

    expect(new Set(sections.map(([, name]) => name)).size).toBeGreaterThan(10);
    expect(sections.filter(([, name]) => !decisions.includes(`"${name}"`))).toEqual([]);
  });

  it("a decision is there", () => {
    const numbers = cited(/\b(D\d+)\b/g);

    expect(numbers.length).toBeGreaterThan(10);
    expect(numbers.filter(([, number]) => !decisions.includes(`**${number}. `))).toEqual([]);
  });
});

describe("The comment of a call", () => {
  const calls = ["v1/customers", "v1/contact-groups", "v1/events", "v2/contacts", "v2/lists"].flatMap(
    (file) => {
      const text = readFileSync(join(repository, `src/${file}.ts`), "utf8");
      const methods = text.matchAll(/^ {2}\/\*\*\n((?: {3}\*.*\n)+) {2}(\w+)[<(]/gm);
      return [...methods].map(([, comment = "", name = ""]): [string, string] => [
        `${file} ${name}`,
        comment,
      ]);
    },
  );

  it("exists for all nine, and for both of defined events", () => {
    expect(calls).toHaveLength(11);
  });

  it.each(calls)("%s has an example, and names the errors", (_, comment) => {
    expect(comment).toContain("```ts\n");
    expect(comment).toContain("@throws ValidationError");
  });
});
