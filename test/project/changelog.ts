/** The names that an entry has, by entry. */
export type Names = Record<string, string[]>;

/** The heading of the newest section: a version, or `Unreleased`. */
export function newestSection(changelog: string): string | undefined {
  return /^## \[?([^\s\]]+)/m.exec(changelog)?.[1];
}

/**
 * The public names that the changelog accounts for, from its first version to its last: under each heading
 * `### Public surface`, an item "`entry` adds `A`, `B`" or "`entry` removes `A`".
 */
export function namesTold(changelog: string): Names {
  const told = new Map<string, Set<string>>();
  for (const { entry, verb, names } of changes(changelog)) {
    const known = told.get(entry) ?? new Set();
    told.set(entry, known);
    for (const name of names) {
      if (known.has(name) === (verb === "adds"))
        throw new Error(`CHANGELOG.md: \`${entry}\` ${verb} \`${name}\` a second time.`);
      if (verb === "adds") known.add(name);
      else known.delete(name);
    }
  }
  return Object.fromEntries([...told].map(([entry, names]) => [entry, [...names].sort()]));
}

interface Change {
  readonly entry: string;
  readonly verb: "adds" | "removes";
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
  const [, entry, verb, rest] = /^`([^`]+)` (adds|removes) (.+)$/s.exec(item.trim()) ?? [];
  if (entry === undefined || rest === undefined || (verb !== "adds" && verb !== "removes")) {
    throw new Error(
      `CHANGELOG.md, "Public surface": "- \`entry\` adds \`Name\`" is expected, but found: ${item.trim()}`,
    );
  }
  return { entry, verb, names: [...rest.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? "") };
}
