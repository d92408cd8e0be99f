// Checks the site that `npm run docs` has built: no dead link, and nothing that it loads from another machine.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "../project/source-files.ts";
import { deadLinks, loadedFromElsewhere } from "./dead-links.ts";

const site = join(repository, ".docs");
const entries = readdirSync(site, { recursive: true, withFileTypes: true });
const files = entries
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) =>
    join(parentPath, name)
      .slice(site.length + 1)
      .replaceAll("\\", "/"),
  );
const pages = new Map(
  files
    .filter((file) => file.endsWith(".html"))
    .map((file) => [file, readFileSync(join(site, file), "utf8")]),
);

const problems = [
  ...deadLinks(pages, new Set(files)).map((link) => `dead link in ${link}`),
  ...loadedFromElsewhere(pages).map((address) => `loaded from elsewhere by ${address}`),
];
for (const problem of problems) console.error(problem);
console.log(`${pages.size} pages in .docs, ${problems.length} problems: open .docs/index.html`);
process.exitCode = Math.min(problems.length, 1);
