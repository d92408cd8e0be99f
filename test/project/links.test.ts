import { describe, expect, it } from "vitest";
import { deadEnd, linksOf, rowsBelow } from "./links.ts";
import { pages } from "./snippets.ts";

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

  it.each(promises)("are shown by tests: $name", ({ row }) => {
    expect(linksOf("README.md", row)).toContainEqual(expect.stringMatching(/^test\/.+\.test\.ts$/));
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
