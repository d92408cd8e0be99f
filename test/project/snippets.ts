import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "./source-files.ts";

/** The README and every guide. */
export const pages: readonly string[] = [
  "README.md",
  ...readdirSync(join(repository, "examples/guides"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `examples/guides/${name}`),
];

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
  const text = readFileSync(join(repository, file), "utf8");
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
