import { readFileSync } from "node:fs";
import { join } from "node:path";
import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { repository } from "./source-files.ts";
import { changedNames, publicSurface, readReport } from "./surface-report.ts";

const read = (path: string) => readFileSync(join(repository, path), "utf8");
const own = read("CHANGELOG.md");
// The surface of the newest release; empty before the first.
const released = readReport(read("test/project/released-surface.md"));

it("The version in requests is the package's version", async () => {
  const mock = createMockService();
  await new AudienceClient(mock.clientOptions).v1.customers.list();

  expect(mock.requests[0]?.headers["user-agent"]).toBe(`audience-sdk/${manifest.version}`);
});

describe("The changelog", () => {
  it("adds and removes the names of the public surface", () => {
    const names = Object.entries(publicSurface).map(([entry, declarations]) => [
      entry,
      Object.keys(declarations).sort(),
    ]);

    expect(recordedNames(own)).toEqual(Object.fromEntries(names));
  });

  it("has an entry for each declaration that has changed since the newest release", () => {
    expect(recordedChanges(own)).toEqual(
      newestSection(own) === "Unreleased" ? changedNames(released, publicSurface) : expect.anything(),
    );
    if (newestSection(own) !== "Unreleased") expect(released).toEqual(publicSurface);
  });

  it("begins with the version of package.json, or with Unreleased", () => {
    expect(["Unreleased", manifest.version]).toContain(newestSection(own));
  });

  it("is read over versions, the newest section first", () => {
    const text = [
      "# Changelog\n",
      "## Unreleased\n\n### Public surface\n\n- `kit` removes `Old`\n- `kit` changes `New`\n- `kit/more` adds `third`\n",
      "## 0.1.0\n\n### Added\n\n- `Ignored`, as it stands elsewhere\n",
      "### Public surface\n\n- `kit` adds `Old`,\n  `New`\n",
    ].join("\n");

    expect(recordedNames(text)).toEqual({ kit: ["New"], "kit/more": ["third"] });
    expect(recordedChanges(text)).toEqual({ kit: ["New"] });
    expect(newestSection(text)).toBe("Unreleased");
  });

  it.each([
    ["a change of an unknown name", "- `kit` changes `A`", "`kit` changes `A`, which is not there"],
    ["a name that is added twice", "- `kit` adds `A`\n- `kit` adds `A`", "`kit` adds `A`, which is there"],
    ["a removal of an unknown name", "- `kit` removes `A`", "`kit` removes `A`, which is not there"],
    ["a line in another format", "- `kit` now has `A`", "is expected, but found: `kit` now has `A`"],
  ])("is refused with %s", (_title, items, message) => {
    expect(() => recordedNames(`## 1.0.0\n\n### Public surface\n\n${items}\n`)).toThrow(message);
  });
});

/** The names that an entry has, by entry. */
type Names = Record<string, string[]>;

/** The heading of the newest section: a version, or `Unreleased`. */
function newestSection(changelog: string): string | undefined {
  return /^## \[?([^\s\]]+)/m.exec(changelog)?.[1];
}

/**
 * The public names that the changelog accounts for, from its first version to its last: under each heading
 * `### Public surface`, an item "`entry` adds `A`, `B`", "`entry` removes `A`" or "`entry` changes `A`".
 */
function recordedNames(changelog: string): Names {
  const namesByEntry: Record<string, Set<string>> = {};
  for (const { entry, verb, names } of changes(changelog)) {
    const known = (namesByEntry[entry] ??= new Set());
    for (const name of names) {
      if (known.has(name) === (verb === "adds"))
        throw new Error(
          `CHANGELOG.md: \`${entry}\` ${verb} \`${name}\`, which is ${verb === "adds" ? "" : "not "}there.`,
        );
      if (verb === "adds") known.add(name);
      if (verb === "removes") known.delete(name);
    }
  }
  return Object.fromEntries(Object.entries(namesByEntry).map(([entry, names]) => [entry, [...names].sort()]));
}

/** The names whose declaration the newest section changes, by entry. */
function recordedChanges(changelog: string): Names {
  const newest = changelog.split(/^(?=## )/m).find((section) => section.startsWith("## ")) ?? "";
  const changed: Names = {};
  for (const { entry, verb, names } of changes(newest)) {
    if (verb === "changes") changed[entry] = [...(changed[entry] ?? []), ...names].sort();
  }
  return changed;
}

interface Change {
  readonly entry: string;
  readonly verb: "adds" | "changes" | "removes";
  readonly names: string[];
}

/** All changes, the oldest first: a changelog begins with its newest section. */
function changes(changelog: string): Change[] {
  const sections = changelog.split(/^(?=##? )/m).reverse();
  return sections.flatMap((section) => {
    const blocks = section.split(/^(?=###)/m).filter((block) => block.startsWith("### Public surface"));
    return blocks.flatMap((block) => block.split(/^- /m).slice(1).map(readChange));
  });
}

function readChange(item: string): Change {
  const [, entry, verb, rest] = /^`([^`]+)` (adds|changes|removes) (.+)$/s.exec(item.trim()) ?? [];
  if (entry === undefined || rest === undefined || !isVerb(verb)) {
    throw new Error(
      `CHANGELOG.md, "Public surface": "- \`entry\` adds \`Name\`" is expected, but found: ${item.trim()}`,
    );
  }
  return { entry, verb, names: [...rest.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? "") };
}

function isVerb(text: string | undefined): text is Change["verb"] {
  return text === "adds" || text === "changes" || text === "removes";
}
