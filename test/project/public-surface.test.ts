import { readFileSync } from "node:fs";
import { join } from "node:path";
import type ts from "typescript";
import { beforeAll, describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { recordedChanges, recordedNames, newestSection } from "./changelog.ts";
import { entryPoints } from "./entry-points.ts";
import { exportedNames } from "./exported-names.ts";
import { readEntries, untriedEntryPoints } from "./hostile-entry-points.ts";
import { publicSurface } from "./public-surface.ts";
import { repository } from "./source-files.ts";
import { changedNames, describeSurface, readReport, writeReport } from "./surface-report.ts";

const read = (path: string) => readFileSync(join(repository, path), "utf8");
const changelog = read("CHANGELOG.md");
// The surface of the newest release; empty before the first.
const released = readReport(read("test/project/released-surface.md"));

let program: ts.Program;
beforeAll(() => void (program = readEntries()));

describe("The public surface", () => {
  it("equals the list that is kept by hand", async () => {
    expect(await exportedNames(program)).toEqual(publicSurface);
  });

  it("equals the names that the changelog's sections add, minus the names that they remove", () => {
    const names = Object.entries(publicSurface).map(([entry, { values, types }]) => [
      entry,
      [...values, ...types].sort(),
    ]);

    expect(recordedNames(changelog)).toEqual(Object.fromEntries(names));
  });

  it("has the declarations of the report, each name with its whole type", async () => {
    const report = writeReport(describeSurface(program));

    await expect(report).toMatchFileSnapshot(join(repository, "test/project/public-surface.md"));
  });

  it("changes no declaration since the newest release without an entry in the changelog", () => {
    const now = readReport(read("test/project/public-surface.md"));

    expect(recordedChanges(changelog)).toEqual(
      newestSection(changelog) === "Unreleased" ? changedNames(released, now) : expect.anything(),
    );
    if (newestSection(changelog) !== "Unreleased") expect(released).toEqual(now);
  });

  it("has no default export", () => {
    for (const { values, types } of Object.values(publicSurface)) {
      expect([...values, ...types]).not.toContain("default");
    }
  });
});

describe("A public function with parameters", () => {
  it("is called with hostile values by a test in test/hostile", () => {
    expect(untriedEntryPoints(program)).toEqual([]);
  });

  it("is found as an export, on a class, on a return value, and as an inherited method", () => {
    expect([...entryPoints(program).keys()]).toEqual(
      expect.arrayContaining([
        "isAudienceError",
        "new RateLimiter",
        "new NotFoundError",
        "AudienceClient.withOptions",
        "V1Customers.upsert",
        "Bulk.check",
        "Paginator.toArray",
        "MockService.addFault",
        "OpenCheckpoint.append",
        "BulkRun.then",
      ]),
    );
  });

  it("excludes functions without parameters, internal functions, and functions that a user writes", () => {
    const names = [...entryPoints(program).keys()];

    for (const name of ["RateLimiter.usage", "RateLimiter.acquire", "new Paginator", "Hooks.onRetry"]) {
      expect(names).not.toContain(name);
    }
  });

  it("is reported by its name if no test calls it", () => {
    expect(untriedEntryPoints(program, [])).toEqual([...entryPoints(program).keys()]);
  });
});

describe("The report", () => {
  const before = { kit: { A: "type A = string", B: "class B {\n  b: 1;\n}" }, more: { C: "const C: 1" } };

  it("survives writing and parsing", () => {
    expect(readReport(writeReport(before))).toEqual(before);
  });

  it("lists changed declarations, and not added or removed ones", () => {
    const after = { kit: { A: "type A = number", D: "type D = 1" }, more: { C: "const C: 1" } };
    expect(changedNames(before, after)).toEqual({ kit: ["A"] });
  });

  it("contains no path of one machine", () => {
    expect(read("test/project/public-surface.md")).not.toContain("import(");
  });
});

describe("The changelog", () => {
  it("begins with the version of package.json, or with Unreleased", () => {
    expect(["Unreleased", manifest.version]).toContain(newestSection(changelog));
  });

  it("adds and removes names over versions, the newest section first", () => {
    const text = [
      "# Changelog\n",
      "## Unreleased\n\n### Public surface\n\n- `kit` removes `Old`\n- `kit/more` adds `third`\n",
      "## 0.1.0\n\n### Added\n\n- `Ignored`, as it stands elsewhere\n",
      "### Public surface\n\n- `kit` adds `Old`,\n  `New`\n",
    ].join("\n");

    expect(recordedNames(text)).toEqual({ kit: ["New"], "kit/more": ["third"] });
    expect(newestSection(text)).toBe("Unreleased");
  });

  it("lists the declarations that a version changes", () => {
    const items = "- `kit` adds `New`\n- `kit` changes `Old`, `Older`\n- `kit/more` changes `third`\n";
    const text = `## Unreleased\n\n### Public surface\n\n${items}\n## 0.1.0\n\n### Public surface\n\n- \`kit\` adds \`Old\`, \`Older\`\n- \`kit/more\` adds \`third\`\n`;

    expect(recordedChanges(text)).toEqual({ kit: ["Old", "Older"], "kit/more": ["third"] });
    expect(recordedNames(text)).toEqual({ kit: ["New", "Old", "Older"], "kit/more": ["third"] });
  });

  it.each([
    ["a change of an unknown name", "- `kit` changes `A`", "`kit` changes `A`, which is not there"],
    ["a name that is added twice", "- `kit` adds `A`\n- `kit` adds `A`", "`kit` adds `A` a second time"],
    ["a removal of an unknown name", "- `kit` removes `A`", "`kit` removes `A` a second time"],
    ["a line in another format", "- `kit` now has `A`", "is expected, but found: `kit` now has `A`"],
  ])("is refused with %s", (_title, items, message) => {
    expect(() => recordedNames(`## 1.0.0\n\n### Public surface\n\n${items}\n`)).toThrow(message);
  });
});
