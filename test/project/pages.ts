import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { dirname, join as joinLink } from "node:path/posix";
import { repository } from "./source-files.ts";

/** The README and every guide. */
export const pages: readonly string[] = [
  "README.md",
  ...readdirSync(join(repository, "examples/guides"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `examples/guides/${name}`),
];

/** The targets of a page's links within the repository: paths from its root, with the heading if there is one. */
export function linksOf(page: string, text = readPage(page)): string[] {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, "");
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => (target.startsWith("#") ? page + target : joinLink(dirname(page), target)));
}

/** The reason why a link is dead; `undefined` for a valid link. */
export function deadEnd(link: string): string | undefined {
  const [path = "", heading] = link.split("#");
  if (!existsSync(join(repository, path))) return `${path} is not there`;
  if (heading === undefined || headings(readPage(path)).includes(heading)) return undefined;
  return `${path} has no heading #${heading}`;
}

/** The rows of the table below a heading, each as its line. */
export function rowsBelow(page: string, heading: string): string[] {
  const [, section = ""] = readPage(page).split(`\n## ${heading}\n`);
  const [, table = ""] = /((?:^\|.*\n)+)/m.exec(section) ?? [];
  return table.trim().split("\n").slice(2);
}

/** The anchors of the headings on GitHub. */
function headings(text: string): string[] {
  return [...text.replace(/^```[\s\S]*?^```$/gm, "").matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replace(/\s/g, "-"),
  );
}

function readPage(page: string): string {
  return readFileSync(join(repository, page), "utf8");
}

export interface Snippet {
  /** File and line: `README.md:12`. */
  readonly location: string;
  /** The name in its first line, by which the other snippets of the page import it: `// trace-calls.ts`. */
  readonly fileName: string | undefined;
  /** A complete module. */
  readonly code: string;
  /** The lines of its documented output, each in a comment that begins with `//=>`. */
  readonly printed: readonly string[];
}

/** Names that a snippet may use without a declaration: the page declares them once. */
const given = {
  audience: `const audience = new (await import("audience-sdk")).AudienceClient();`,
  listId: `const listId = process.env["SNIPPET_LIST_ID"] ?? "";`,
};

/** Every TypeScript block of a Markdown file, as a complete module. */
export function snippetsOf(file: string): Snippet[] {
  const text = readPage(file);
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((match) => {
    const line = text.slice(0, match.index).split("\n").length;
    const block = match[1] ?? "";
    const printed = [...block.matchAll(/\/\/=> ?(.*)$/gm)].map(([, printedLine = ""]) => printedLine);
    const fileName = /^\/\/ ([\w-]+\.ts)\n/.exec(block)?.[1];
    return { location: `${file}:${line}`, fileName, code: toModule(block), printed };
  });
}

function toModule(block: string): string {
  const imports = block.match(/^import .*?;$/gms) ?? [];
  const body = block.replace(/^import .*?;$/gms, "");
  const missing = Object.entries(given).filter(([name]) => uses(body, name) && !declares(body, name));
  return [...imports, ...missing.map(([, code]) => code), body, "export {};"].join("\n");
}

function uses(code: string, name: string): boolean {
  return new RegExp(`\\b${name}\\b`).test(code);
}

function declares(code: string, name: string): boolean {
  return new RegExp(`\\b(const|let|using) ${name}\\b`).test(code);
}
