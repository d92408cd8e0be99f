import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { namesTold, newestSection } from "./changelog.ts";
import { exportedNames } from "./exported-names.ts";
import { publicSurface } from "./public-surface.ts";
import { repository } from "./source-files.ts";

const changelog = readFileSync(join(repository, "CHANGELOG.md"), "utf8");

describe("The public surface", () => {
  it("is what is written down by hand, no name more and none less", { timeout: 60_000 }, async () => {
    expect(await exportedNames()).toEqual(publicSurface);
  });

  it("is told by the changelog: what its sections added, less what they removed", () => {
    const names = Object.entries(publicSurface).map(([entry, { values, types }]) => [
      entry,
      [...values, ...types].sort(),
    ]);

    expect(namesTold(changelog)).toEqual(Object.fromEntries(names));
  });

  it("has no default export", () => {
    for (const { values, types } of Object.values(publicSurface)) {
      expect([...values, ...types]).not.toContain("default");
    }
  });
});

describe("The changelog", () => {
  it("begins with the version of package.json, or with what is not released yet", () => {
    expect(["Unreleased", manifest.version]).toContain(newestSection(changelog));
  });

  it("accounts for names over versions, the newest section first", () => {
    const text = [
      "# Changelog\n",
      "## Unreleased\n\n### Public surface\n\n- `kit` removes `Old`\n- `kit/more` adds `third`\n",
      "## 0.1.0\n\n### Added\n\n- `Ignored`, as it stands elsewhere\n",
      "### Public surface\n\n- `kit` adds `Old`,\n  `New`\n",
    ].join("\n");

    expect(namesTold(text)).toEqual({ kit: ["New"], "kit/more": ["third"] });
    expect(newestSection(text)).toBe("Unreleased");
  });

  it.each([
    ["a name that is added twice", "- `kit` adds `A`\n- `kit` adds `A`", "`kit` adds `A` a second time"],
    ["a name that was never there", "- `kit` removes `A`", "`kit` removes `A` a second time"],
    ["a line in other words", "- `kit` now has `A`", "is expected, but found: `kit` now has `A`"],
  ])("is refused with %s", (_title, items, message) => {
    expect(() => namesTold(`## 1.0.0\n\n### Public surface\n\n${items}\n`)).toThrow(message);
  });
});
