import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";

const STYLES = ["frame.css", "items.css", "side.css", "narrow.css"];

const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const textOf = (name: string) => readFileSync(pathOf(name), "utf8");

/** Builds the one file of the page from its parts: the content of `page-file.ts`, which `npm run build` writes. */
export async function buildPage(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [pathOf("script/main.ts")],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    legalComments: "none",
    write: false,
  });
  const script = outputFiles[0]!.text.trim();
  const css = STYLES.map(textOf).join("\n");
  const style = (await transform(css, { loader: "css", minify: true, target: "es2022" })).code.trim();
  const html = textOf("page.html")
    .replaceAll(/\n\s*/g, "\n")
    .replace("<style></style>", () => `<style>${style}</style>`)
    .replace(/(<script[^>]*>)(<\/script>)/, (_, open: string, close: string) => open + script + close);
  return [
    "// Written by `npm run build` from the files beside it.",
    `export const PAGE = ${JSON.stringify(html)};`,
    `export const PAGE_CSP = ${JSON.stringify(policyOf(script, style))};`,
    "",
  ].join("\n");
}

/** The page runs its own script alone, asks its own origin alone, and stands in no frame. */
function policyOf(script: string, style: string): string {
  return [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "connect-src 'self'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join("; ");
}

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
