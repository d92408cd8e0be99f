import { dirname, join } from "node:path/posix";

/** What a page of the site links to and does not exist, each as `page: link`. `files` has all files of the site. */
export function deadLinks(pages: ReadonlyMap<string, string>, files: ReadonlySet<string>): string[] {
  const anchors = new Map([...pages].map(([page, html]) => [page, anchorsOf(html)]));
  return [...pages].flatMap(([page, html]) =>
    linksOf(html)
      .filter((link) => isDead(page, link))
      .map((link) => `${page}: ${link}`),
  );

  function isDead(page: string, link: string): boolean {
    const [path = "", anchor] = link.split("#").map(decodeURIComponent);
    const target = path === "" ? page : join(dirname(page), path);
    // A path from the root leads elsewhere where the site opens from its folder.
    if (path.startsWith("/") || !files.has(target)) return true;
    // An empty anchor is the top of the page.
    return anchor !== undefined && anchor !== "" && anchors.get(target)?.has(anchor) === false;
  }
}

/** What a page loads from another machine, each as `page: address`. */
export function loadedFromElsewhere(pages: ReadonlyMap<string, string>): string[] {
  const loads = /<(?:script|img|link)\b[^>]*\b(?:src|href)="((?:https?:)?\/\/[^"]*)"/g;
  return [...pages].flatMap(([page, html]) =>
    [...html.matchAll(loads)].map(([, address = ""]) => `${page}: ${address}`),
  );
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
