// Checks the site that `npm run docs` has built: no dead link, and nothing that it loads from another machine.
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { repository } from "../project/source-files.ts";

const site = join(repository, ".docs");
const entries = readdirSync(site, { recursive: true, withFileTypes: true });
const paths = entries
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) =>
    join(parentPath, name)
      .slice(site.length + 1)
      .replaceAll("\\", "/"),
  );
const files = new Set(paths);
const pages = new Map(
  paths
    .filter((path) => path.endsWith(".html"))
    .map((path) => [path, readFileSync(join(site, path), "utf8")]),
);
const anchors = new Map([...pages].map(([page, html]) => [page, anchorsOf(html)]));

const problems = [...pages].flatMap(([page, html]) => [
  ...linksOf(html).flatMap((link) => (isDead(page, link) ? [`dead link in ${page}: ${link}`] : [])),
  ...loadedFromElsewhere(html).map((address) => `loaded from elsewhere by ${page}: ${address}`),
]);
for (const problem of problems) console.error(problem);
console.log(`${pages.size} pages in .docs, ${problems.length} problems: open .docs/index.html`);
process.exitCode = Math.min(problems.length, 1);

function isDead(page: string, link: string): boolean {
  const [path = "", anchor] = link.split("#").map(decodeURIComponent);
  const target = path === "" ? page : posix.join(posix.dirname(page), path);
  // A path from the root leads elsewhere where the site opens from its folder.
  if (path.startsWith("/") || !files.has(target)) return true;
  // An empty anchor is the top of the page.
  return anchor !== undefined && anchor !== "" && anchors.get(target)?.has(anchor) === false;
}

/** The relative links of a page. */
function linksOf(html: string): string[] {
  return [...html.matchAll(/\s(?:href|src)="([^"]*)"/g)]
    .map(([, link = ""]) => link.replaceAll("&amp;", "&").replaceAll("&#39;", "'"))
    .filter((link) => !/^([a-z][a-z+.-]*:|\/\/)/i.test(link));
}

function anchorsOf(html: string): Set<string> {
  return new Set([...html.matchAll(/\sid="([^"]*)"/g)].map(([, id = ""]) => id.replaceAll("&amp;", "&")));
}

/** The addresses of what a page loads from another machine. */
function loadedFromElsewhere(html: string): string[] {
  const loads = /<(?:script|img|link)\b[^>]*\b(?:src|href)="((?:https?:)?\/\/[^"]*)"/g;
  return [...html.matchAll(loads)].map(([, address = ""]) => address);
}
