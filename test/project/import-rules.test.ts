import { describe, expect, it } from "vitest";
import { importsOf, loadedBy, reachedFrom, type Import } from "./imports.ts";
import { sourceFiles, type SourceFiles } from "./source-files.ts";

/** The only files that may import a package, so that it can be replaced in one place. */
const importers: Record<string, RegExp> = {
  ky: /^src\/transport\/exchange\.ts$/,
  "p-retry": /^src\/transport\/attempts\.ts$/,
  // Its types, for the part that is used.
  bottleneck: /^src\/bulk\/bottleneck-light\.d\.ts$/,
  "bottleneck/light.js": /^src\/bulk\/workers\.ts$/,
  msw: /^src\/mock\/msw\.ts$/,
  // Of the build alone.
  esbuild: /^src\/mock\/page\/build-page\.ts$/,
  // zod may be imported wherever input has a schema, except in entries that must not load it.
  zod: /^src\/(?!(mock|checkpoint|errors|error-facts|values)\b).+$/,
};

const mayLoadNode =
  /^src\/(mock\/(listen|cli|command\/.+|page\/build-page)|(checkpoint|files|snapshot)\/.+)\.ts$/;
const mayCount =
  /^src\/(timer|rate-limiter\/(sliding-window-log|adaptive-rate|reserve)|schema\/parse-options|values\/.+)\.ts$/;
const mayKeep = /^src\/(errors|values\/in-words|files\/.+|bulk\/checkpoint)\.ts$/;
const mayAskForNode = /^src\/(hash|transport\/tracing)\.ts$/;

/** What breaks each rule: one import at a time. */
const importRules: Readonly<Record<string, (one: Import) => boolean>> = {
  "a leaf imports nothing of ours": ({ from, to }) =>
    /^src\/(limits|timer|contact-keys)\.ts$/.test(from) && isOurs(to),
  "files knows nothing of ours": ({ from, to }) =>
    from.startsWith("src/files/") && isOurs(to) && !to.startsWith("src/files/"),
  "values know no schema, and of ours only types of errors": ({ from, to, kind }) =>
    from.startsWith("src/values/") &&
    !to.startsWith("src/values/") &&
    !(to === "src/errors.ts" && kind === "type"),
  "errors know how values are said in words, and nothing else of ours": ({ from, to }) =>
    /^src\/error(s|-facts)\.ts$/.test(from) && isOurs(to) && !/\/(error-facts|in-words)\.ts$/.test(to),
  "an endpoint knows what a schema and a consent are, and nothing else of ours": ({ from, to }) =>
    from === "src/endpoint.ts" && isOurs(to) && to !== "src/consent.ts",
  "transport and rate-limiter know no family, and nothing that is built on them": ({ from, to }) =>
    /^src\/(transport|rate-limiter)\//.test(from) &&
    /^src\/(v1|v2|bulk|mock|redis|checkpoint|snapshot|index|audience-client)\b/.test(to),
  "rate-limiter does not know transport": ({ from, to }) =>
    from.startsWith("src/rate-limiter/") && to.startsWith("src/transport/"),
  "v1 and v2 do not know each other": ({ from, to }) => isBetween(from, to, "src/v1/", "src/v2/"),
  // How a file is locked and replaced stands in no document, so there is nothing that two readings could prove.
  "the mock reads the document for itself: it imports only the mock, and its command what locks and replaces files":
    ({ from, to }) =>
      from.startsWith("src/mock/") &&
      isOurs(to) &&
      !to.startsWith("src/mock/") &&
      !(from.startsWith("src/mock/command/") && to.startsWith("src/files/")),
  "nothing of the client imports the mock": ({ from, to }) =>
    !from.startsWith("src/mock/") && to.startsWith("src/mock/"),
  "redis and checkpoint take types from the rest; redis also timers, schemas of options and the count of the rate limiter, checkpoint the errors, values in words, files and its own interface":
    ({ from, to, kind }) => {
      const entryPoint = /^src\/(redis|checkpoint)\//.exec(from)?.[0];
      if (from.startsWith("src/redis/") && mayCount.test(to)) return false;
      if (from.startsWith("src/checkpoint/") && mayKeep.test(to)) return false;
      return entryPoint !== undefined && isOurs(to) && !to.startsWith(entryPoint) && kind !== "type";
    },
  "snapshot knows neither bulk nor checkpoint": ({ from, to }) =>
    from.startsWith("src/snapshot/") && /^src\/(bulk|checkpoint)\//.test(to),
  "the entry is the last to know: nothing imports it": ({ to }) => to === "src/index.ts",
  "a package has one importer": ({ from, to }) => isPackage(to) && importers[to]?.test(from) !== true,
  "built-in modules are loaded where there is no other runtime": ({ from, to, kind }) => {
    if (!to.startsWith("node:") || mayLoadNode.test(from)) return false;
    return kind === "static" || !mayAskForNode.test(from);
  },
  "a file of ours is imported with its ending": ({ to }) => isOurs(to) && !to.endsWith(".ts"),
};

/** The packages and built-in modules that an entry may load at its top, over all its imports. */
const loads: Record<string, readonly string[]> = {
  "src/index.ts": ["bottleneck/light.js", "ky", "p-retry", "zod"],
  "src/schemas.ts": ["zod"],
  "src/mock/index.ts": [],
  "src/mock/msw.ts": ["msw"],
  "src/redis/redis-rate-limit-store.ts": ["zod"],
  "src/checkpoint/file-checkpoint.ts": ["node:fs", "node:path", "node:util", "node:zlib"],
  "src/snapshot/index.ts": ["node:fs", "node:path", "node:util", "zod"],
};

/** Every import that breaks a rule, one line each. */
function brokenRules(files: SourceFiles): string[] {
  const imports = importsOf(files);
  const single = Object.entries(importRules).flatMap(([rule, isBrokenBy]) =>
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

const sources = sourceFiles("src");

describe("The imports of the sources", () => {
  it("keep every rule", () => {
    expect(sources.size).toBeGreaterThan(0);
    expect(brokenRules(sources)).toEqual([]);
  });
});

// Each case breaks one rule.
describe("A broken rule is reported", () => {
  const error = 'import { x } from "../errors.ts";';
  const entry = 'import type { X } from "../index.ts";';
  const organization = "./mock/state/organization.ts";
  it.each([
    ["errors.ts", 'import { x } from "./limits.ts";', "src/errors.ts imports src/limits.ts"],
    ["transport/exchange.ts", 'import { x } from "../v1/events.ts";', "transport and rate-limiter know no"],
    ["rate-limiter/x.ts", 'import type { X } from "../transport/x.ts";', "does not know transport"],
    ["v1/customers.ts", 'export { x } from "../v2/lists.ts";', "v1 and v2 do not know each other"],
    ["files/lock.ts", error, "files knows nothing of ours"],
    ["values/predicates.ts", 'import * as z from "zod";', "values know no schema"],
    ["snapshot/x.ts", 'import type { X } from "../bulk/x.ts";', "knows neither bulk nor checkpoint"],
    ["mock/x.ts", 'type X = import("../errors.ts").Outcome;', "the mock reads the document for itself"],
    ["bulk.ts", `import { x } from "${organization}";`, "nothing of the client imports the mock"],
    ["checkpoint/x.ts", 'import { type X } from "../bulk.ts";', "redis and checkpoint take types"],
    ["v1/events.ts", entry, "nothing imports it"],
    ["transport/attempts.ts", 'import ky from "ky";', "a package has one importer"],
    ["mock/index.ts", 'const msw = await import("msw");', "a package has one importer"],
    ["bulk.ts", 'process.getBuiltinModule?.("node:fs");', "built-in modules are loaded where"],
    ["transport/tracing.ts", 'import { x } from "node:fs";', "built-in modules are loaded where"],
    ["bulk.ts", 'import { x } from "./errors";', "with its ending"],
  ])("in src/%s: %s", (path, text, report) => {
    expect(brokenRules(new Map([[`src/${path}`, text]]))).toContainEqual(expect.stringContaining(report));
  });

  it("a package that an entry imports indirectly", () => {
    const files: SourceFiles = new Map([
      ["src/schemas.ts", 'export { a } from "./v1/contact-schema.ts";'],
      ["src/v1/contact-schema.ts", 'import { b } from "../transport/exchange.ts";'],
      ["src/transport/exchange.ts", 'import ky from "ky";'],
    ]);

    expect(brokenRules(files)).toEqual([
      "src/schemas.ts loads ky: an entry loads what is promised, and no more",
    ]);
  });

  it("a cycle, types included, once", () => {
    const files: SourceFiles = new Map([
      ["src/transport/a.ts", 'import { b } from "./b.ts";'],
      ["src/transport/b.ts", 'import { c } from "./c.ts";'],
      ["src/transport/c.ts", 'import type { A } from "./a.ts";'],
    ]);

    expect(brokenRules(files)).toEqual([
      "src/transport/a.ts, src/transport/b.ts, src/transport/c.ts: imports run in one direction",
    ]);
  });
});

describe("An allowed import is not reported", () => {
  it.each([
    ["a type that the redis store takes", "redis/x.ts", 'import type { X } from "../rate-limiter/store.ts";'],
    ["a built-in module at run time", "mock/listen.ts", 'const http = await import("node:http");'],
    ["an import in a comment", "errors.ts", '// import { x } from "./limits.ts";'],
  ])("%s", (_title, path, text) => {
    expect(brokenRules(new Map([[`src/${path}`, text]]))).toEqual([]);
  });
});
