import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { dirname, join as joinLink } from "node:path/posix";
import { repository } from "./source-files.ts";

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
