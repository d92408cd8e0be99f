import { importsOf, loadedBy, reachedFrom, type Import } from "./imports.ts";
import type { SourceFiles } from "./source-files.ts";

/** A rule for imports: it checks one import at a time. */
interface ImportRule {
  readonly rule: string;
  readonly isBrokenBy: (one: Import) => boolean;
}

/** The only files that may import a package, so that it can be replaced in one place. */
const importers: Record<string, RegExp> = {
  ky: /^src\/transport\/send\.ts$/,
  "p-retry": /^src\/transport\/interceptors\/attempts\.ts$/,
  // Its types, for the part that is used.
  bottleneck: /^src\/bulk\/bottleneck-light\.d\.ts$/,
  "bottleneck/light.js": /^src\/bulk\/workers\.ts$/,
  msw: /^src\/mock\/msw\.ts$/,
  // Of the build alone.
  esbuild: /^src\/mock\/page\/build-page\.ts$/,
  // zod may be imported wherever input has a schema, except in entries that must not load it.
  zod: /^src\/(?!(mock|checkpoint|errors|error-details)\b).+$/,
};

const isError = /^src\/(errors|error-details)\.ts$/;
const mayLoadNode = /^src\/(mock\/(listen|cli|command\/.+|page\/build-page)|(checkpoint|snapshot)\/.+)\.ts$/;
const mayCount =
  /^src\/(timer|rate-limiter\/(sliding-window-log|adaptive-rate|reserve)|schema\/(parse-options|predicates))\.ts$/;
const mayAskForNode = /^src\/transport\/observer\.ts$/;

const importRules: ImportRule[] = [
  {
    rule: "a leaf imports nothing of ours",
    isBrokenBy: ({ from, to }) => /^src\/(limits|timer|consent)\.ts$/.test(from) && isOurs(to),
  },
  {
    rule: "errors know nothing else of ours",
    isBrokenBy: ({ from, to }) => isError.test(from) && isOurs(to) && !isError.test(to),
  },
  {
    rule: "an endpoint knows what a schema and a consent are, and nothing else of ours",
    isBrokenBy: ({ from, to }) => from === "src/endpoint.ts" && isOurs(to) && to !== "src/consent.ts",
  },
  {
    rule: "transport and rate-limiter know no family, and nothing that is built on them",
    isBrokenBy: ({ from, to }) =>
      /^src\/(transport|rate-limiter)\//.test(from) &&
      /^src\/(v1|v2|bulk|mock|redis|checkpoint|snapshot|index|audience-client)\b/.test(to),
  },
  {
    rule: "rate-limiter does not know transport",
    isBrokenBy: ({ from, to }) => from.startsWith("src/rate-limiter/") && to.startsWith("src/transport/"),
  },
  {
    rule: "v1 and v2 do not know each other",
    isBrokenBy: ({ from, to }) => isBetween(from, to, "src/v1/", "src/v2/"),
  },
  {
    rule: "the mock reads the document for itself: it imports only the mock",
    isBrokenBy: ({ from, to }) => from.startsWith("src/mock/") && isOurs(to) && !to.startsWith("src/mock/"),
  },
  {
    rule: "nothing of the client imports the mock",
    isBrokenBy: ({ from, to }) => !from.startsWith("src/mock/") && to.startsWith("src/mock/"),
  },
  {
    rule: "redis and checkpoint take types from the rest; redis also timers, schemas of options and the count of the rate limiter, checkpoint the errors",
    isBrokenBy: ({ from, to, kind }) => {
      const entryPoint = /^src\/(redis|checkpoint)\//.exec(from)?.[0];
      if (from.startsWith("src/redis/") && mayCount.test(to)) return false;
      if (from.startsWith("src/checkpoint/") && to === "src/errors.ts") return false;
      return entryPoint !== undefined && isOurs(to) && !to.startsWith(entryPoint) && kind !== "type";
    },
  },
  {
    rule: "the entry is the last to know: nothing imports it",
    isBrokenBy: ({ to }) => to === "src/index.ts",
  },
  {
    rule: "a package has one importer",
    isBrokenBy: ({ from, to }) => isPackage(to) && importers[to]?.test(from) !== true,
  },
  {
    rule: "built-in modules are loaded where there is no other runtime",
    isBrokenBy: ({ from, to, kind }) => {
      if (!to.startsWith("node:") || mayLoadNode.test(from)) return false;
      return kind === "static" || !mayAskForNode.test(from);
    },
  },
  {
    rule: "a file of ours is imported with its ending",
    isBrokenBy: ({ to }) => isOurs(to) && !to.endsWith(".ts"),
  },
];

/** The packages and built-in modules that an entry may load at its top, over all its imports. */
const loads: Record<string, readonly string[]> = {
  "src/index.ts": ["bottleneck/light.js", "ky", "p-retry", "zod"],
  "src/schemas.ts": ["zod"],
  "src/mock/index.ts": [],
  "src/mock/msw.ts": ["msw"],
  "src/redis/redis-rate-limit-store.ts": ["zod"],
  "src/checkpoint/file-checkpoint.ts": ["node:crypto", "node:fs", "node:os", "node:path", "node:zlib"],
  "src/snapshot/index.ts": ["node:crypto", "node:fs", "node:os", "node:path", "zod"],
};

/** Every import that breaks a rule, one line each. */
export function brokenRules(files: SourceFiles): string[] {
  const imports = importsOf(files);
  const single = importRules.flatMap(({ rule, isBrokenBy }) =>
    imports.filter(isBrokenBy).map(({ from, to }) => `${from} imports ${to}: ${rule}`),
  );
  return [...single, ...tooMuchLoaded(files, imports), ...cycles(files, imports)];
}

function tooMuchLoaded(files: SourceFiles, imports: readonly Import[]): string[] {
  return Object.entries(loads)
    .filter(([entry]) => files.has(entry))
    .flatMap(([entry, allowed]) =>
      [...loadedBy(entry, imports)]
        .filter((to) => !isOurs(to) && !allowed.includes(to))
        .map((to) => `${entry} loads ${to}: an entry loads what is promised, and no more`),
    );
}

/** The import cycles, types included, each once with all its files. */
function cycles(files: SourceFiles, imports: readonly Import[]): string[] {
  const ours = imports.filter(({ to }) => isOurs(to));
  const reached = new Map([...files.keys()].map((path) => [path, reachedFrom(path, ours)]));
  const cycleOf = (path: string) =>
    [...files.keys()].filter((other) => reached.get(path)?.has(other) && reached.get(other)?.has(path));
  const found = [...files.keys()].filter((path) => cycleOf(path).toSorted()[0] === path);
  return found.map((path) => `${cycleOf(path).join(", ")}: imports run in one direction`);
}

function isOurs(to: string): boolean {
  return to.startsWith("src/");
}

function isPackage(to: string): boolean {
  return !isOurs(to) && !to.startsWith("node:");
}

function isBetween(from: string, to: string, one: string, other: string): boolean {
  return (from.startsWith(one) && to.startsWith(other)) || (from.startsWith(other) && to.startsWith(one));
}
