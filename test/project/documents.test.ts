import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { areas, testFiles } from "../mutation/areas.ts";
import { deadEnd, linksOf, pages, rowsBelow } from "./pages.ts";
import { repository, sourceFiles } from "./source-files.ts";

const others = [
  "CHANGELOG.md",
  "src/DECISIONS.md",
  "examples/README.md",
  ".github/CONTRIBUTING.md",
  ".github/SECURITY.md",
  "test/README.md",
];

describe("The pages", () => {
  it.each([...pages, ...others])("%s has no dead link", (page) => {
    const dead = linksOf(page).map(deadEnd);
    expect(dead.filter((reason) => reason !== undefined)).toEqual([]);
  });

  it("are all linked from the README", () => {
    const [readme = "", ...guides] = pages;
    expect(guides.filter((guide) => !linksOf(readme).includes(guide))).toEqual([]);
  });
});

describe("The README's promises", () => {
  const promises = rowsBelow("README.md", "What it promises").map((row) => ({
    name: /\*\*(.+?)\*\*/.exec(row)?.[1] ?? row,
    row,
  }));

  // Named, and not linked: the package holds the README without the tests.
  it.each(promises)("are each held by tests that exist: $name", ({ row }) => {
    const tests = [...row.matchAll(/`(test\/[^`]+\.test\.ts)`/g)].map(([, path = ""]) => path);

    expect(tests).not.toEqual([]);
    expect(tests.filter((path) => !existsSync(join(repository, path)))).toEqual([]);
  });
});

it("The index of the tests names files that are there", () => {
  const rows = readFileSync(join(repository, "test/README.md"), "utf8").match(/^\| .*\]\(.*$/gm) ?? [];
  const missing = rows.flatMap((row) => {
    const folders = [...row.matchAll(/\]\(([\w-]+)\)/g)].map(([, name = ""]) => `test/${name}`);
    const names = [...(row.split(" | ").at(-1) ?? "").matchAll(/(?<!\[)`([\w-]+)`/g)].map(([, name]) => name);
    const isThere = (name = "") =>
      folders.some((each) => existsSync(join(repository, each, `${name}.test.ts`)));
    return names.filter((name) => !isThere(name));
  });

  expect(rows.length).toBeGreaterThan(25);
  expect(missing).toEqual([]);
});

describe("The areas of mutation", () => {
  const isThere = (path: string) => existsSync(join(repository, path.replace("/*.test.ts", "")));

  it.each(areas)("name sources and tests that are there: $name", (area) => {
    const named = [...area.sources.map((source) => `src/${source}`), ...testFiles(area)];

    expect(named.filter((path) => !isThere(path))).toEqual([]);
  });

  it("are those of the measured survivors", () => {
    const survivors = readFileSync(join(repository, "test/mutation/survivors.md"), "utf8");
    const [measured = [], where = []] = [/^\| `([\w-]+)` \|/gm, /^\| `(\S+\.ts)` \|/gm].map((row) =>
      [...survivors.matchAll(row)].map(([, name = ""]) => name),
    );

    expect(measured).toEqual(areas.map(({ name }) => name));
    expect(where.filter((path) => !isThere(`src/${path}`))).toEqual([]);
  });
});

describe("A dead link is reported", () => {
  it.each([
    ["to a file", "[x](examples/guides/nothing.md)", "examples/guides/nothing.md is not there"],
    ["to a heading", "[x](README.md#nothing)", "README.md has no heading #nothing"],
    ["to a heading of its own page", "[x](#nothing)", "README.md has no heading #nothing"],
  ])("%s", (_title, text, reason) => {
    expect(linksOf("README.md", text).map(deadEnd)).toEqual([reason]);
  });
});

const guides = ["recipes", "bulk", "outgrowing-one-process"].map((name) =>
  join(repository, `examples/guides/${name}.md`),
);
const folder = join(repository, "examples/recipes");
/** A block that shows a file: its language, its path below `examples/recipes`, its code. */
const shown = /^```(\w+) file=(\S+)\n[\s\S]*?^```$/gm;

describe("The guides with recipes", () => {
  it.each(guides)("show the files as they are; `-u` writes them into %s", async (guide) => {
    const text = readFileSync(guide, "utf8");
    const filled = text.replace(
      shown,
      (_, language: string, path: string) =>
        `\`\`\`${language} file=${path}\n${readFileSync(join(folder, path), "utf8")}\`\`\``,
    );

    await expect(filled).toMatchFileSnapshot(guide);
  });

  it("show files of every recipe", () => {
    const texts = guides.map((guide) => readFileSync(guide, "utf8")).join("\n");
    const recipes = [...texts.matchAll(shown)].map(([, , path = ""]) => path.split("/")[0]);

    expect(new Set(recipes)).toEqual(new Set(readdirSync(folder)));
  });
});

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

  it("exists for all nine, and for the three of defined events", () => {
    expect(calls).toHaveLength(12);
  });

  it.each(calls)("%s has an example, and names the errors", (_, comment) => {
    expect(comment).toContain("```ts\n");
    expect(comment).toContain("@throws ValidationError");
  });
});
