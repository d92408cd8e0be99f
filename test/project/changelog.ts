/** The names that an entry has, by entry. */
export type Names = Record<string, string[]>;

/** The heading of the newest section: a version, or `Unreleased`. */
export function newestSection(changelog: string): string | undefined {
  return /^## \[?([^\s\]]+)/m.exec(changelog)?.[1];
}

/**
 * The public names that the changelog accounts for, from its first version to its last: under each heading
 * `### Public surface`, an item "`entry` adds `A`, `B`", "`entry` removes `A`" or "`entry` changes `A`".
 */
export function recordedNames(changelog: string): Names {
  const namesByEntry = new Map<string, Set<string>>();
  for (const { entry, verb, names } of changes(changelog)) {
    const known = namesByEntry.get(entry) ?? new Set();
    namesByEntry.set(entry, known);
    for (const name of names) {
      if (verb === "changes") {
        if (known.has(name)) continue;
        throw new Error(`CHANGELOG.md: \`${entry}\` changes \`${name}\`, which is not there.`);
      }
      if (known.has(name) === (verb === "adds"))
        throw new Error(`CHANGELOG.md: \`${entry}\` ${verb} \`${name}\` a second time.`);
      if (verb === "adds") known.add(name);
      else known.delete(name);
    }
  }
  return Object.fromEntries([...namesByEntry].map(([entry, names]) => [entry, [...names].sort()]));
}

/** The names whose declaration the newest section changes, by entry. */
export function recordedChanges(changelog: string): Names {
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
