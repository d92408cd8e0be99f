import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { deadEnd, linksOf, rowsBelow } from "./links.ts";
import { pages } from "./snippets.ts";
import { repository } from "./source-files.ts";

const others = [
  "CHANGELOG.md",
  "src/DECISIONS.md",
  "examples/README.md",
  ".github/CONTRIBUTING.md",
  ".github/SECURITY.md",
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

  it("exist", () => {
    expect(promises.length).toBeGreaterThan(5);
  });

  // Named, and not linked: the package holds the README without the tests.
  it.each(promises)("are each held by tests that exist: $name", ({ row }) => {
    const tests = [...row.matchAll(/`(test\/[^`]+\.test\.ts)`/g)].map(([, path = ""]) => path);

    expect(tests).not.toEqual([]);
    expect(tests.filter((path) => !existsSync(join(repository, path)))).toEqual([]);
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
