import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it, afterAll } from "vitest";
import budget from "./budget.json" with { type: "json" };
import { repository, sourceFiles, type SourceFiles, linesByRoom } from "./source-files.ts";

const allowed = [
  "CHANGELOG.md",
  "LICENSE",
  "README.md",
  "examples",
  "package-lock.json",
  "package.json",
  "src",
  "test",
  "tsconfig.json",
  "tsup.config.ts",
];

it("The top level contains only the package, dotfiles and ignored files", () => {
  const found = readdirSync(repository).filter((name) => !name.startsWith(".") && !isIgnored(name));

  expect(found.sort()).toEqual(allowed);
});

/** The plain names and endings in `.gitignore`, its only patterns for this level. */
function isIgnored(name: string): boolean {
  const patterns = readFileSync(join(repository, ".gitignore"), "utf8").split("\n").filter(Boolean);
  return patterns.some((pattern) =>
    pattern.startsWith("*") ? name.endsWith(pattern.slice(1)) : name === pattern.replace(/\/$/, ""),
  );
}

it("No file contains a path of one machine, a package registry, or an unfinished thought", () => {
  expect(forbiddenText(new Map([...allFiles()].filter(([path]) => !path.endsWith(".png"))))).toEqual([]);
});

it.each([
  ["a path of one machine", "read /home/ada/notes"],
  ["a package registry", "https://registry.npmjs.org/ky"],
  ["a package registry", '"resolved": "https://mirror/ky.tgz"'],
  ["an unfinished thought", "TODO: finish"],
])("%s is reported", (description, text) => {
  expect(forbiddenText(new Map([["a.md", `first line\n${text}`]]))).toEqual([
    `a.md:2 holds ${description}: ${text}`,
  ]);
});

it.each(["https://example.com/home/ada", "see src/work/order.ts", "the registry of contacts"])(
  "%s is not reported",
  (line) => {
    expect(forbiddenText(new Map([["a.md", line]]))).toEqual([]);
  },
);

/** All files of the repository, except the patterns in this one. */
function allFiles(): SourceFiles {
  const folders = ["src", "test", "examples", ".github", ".ci"];
  const below = folders.flatMap((folder) =>
    readdirSync(join(repository, folder), { recursive: true, encoding: "utf8" }).map(
      (name) => `${folder}/${name}`,
    ),
  );
  // In a worktree, `.git` is a file that holds the path of the repository.
  const left = new Set([".git", "test/project/files.test.ts"]);
  const paths = [...readdirSync(repository), ...below].filter(
    (path) => !left.has(path) && statSync(join(repository, path)).isFile(),
  );
  return new Map(paths.map((path) => [path, readFileSync(join(repository, path), "utf8")]));
}

/** Patterns of text that is specific to one machine, or unfinished. */
const forbidden: Record<string, RegExp> = {
  "a path of one machine": /(?<![\w.:/-])\/(?:work|home|root|Users|private)\/[\w.-]/,
  "a package registry": /\bregistry\.[a-z0-9-]+\.[a-z]{2,}|"resolved":|npm\.pkg\.|:4873\b/,
  "an unfinished thought": /\b(?:TODO|FIXME|XXX|HACK)\b/,
};

/** Each line with forbidden text, with the description of its pattern. */
function forbiddenText(files: SourceFiles): string[] {
  return [...files].flatMap(([path, text]) =>
    text.split("\n").flatMap((line, at) =>
      Object.entries(forbidden)
        .filter(([, pattern]) => pattern.test(line))
        .map(([description]) => `${path}:${at + 1} holds ${description}: ${line.trim()}`),
    ),
  );
}

it("No test is skipped", () => {
  // But for the examples below.
  const tests = [...sourceFiles("test")].filter(([path]) => path !== "test/project/files.test.ts");

  expect(skippedTests(new Map(tests))).toEqual([]);
});

it.each([
  "it.skip('x', () => {});",
  "it.concurrent.only('x', () => {});",
  "it('x', (context) => { context.skip(); });",
])("A test that does not run is reported: %s", (text) => {
  expect(skippedTests(new Map([["a.test.ts", text]]))).toEqual([expect.stringContaining("a.test.ts:1 ")]);
});

const skipping =
  /\b(?:it|test|describe|suite|bench|context|ctx)(?:\.\w+)*\s*\.\s*(?:skip|skipIf|runIf|only|todo|fails)\b/;

/** Every test that would not run, or would keep others from running: `it.skip`, `describe.only.each`, `ctx.skip()`. */
function skippedTests(files: SourceFiles): string[] {
  return [...files].flatMap(([path, text]) =>
    text.split("\n").flatMap((line, at) => (skipping.test(line) ? [`${path}:${at + 1} ${line.trim()}`] : [])),
  );
}

const written: Record<string, number> = budget;
const rooms = linesByRoom();

it.each(Object.entries(rooms))("The room %s, of %d lines, is within its budget", (room, lines) => {
  expect(lines, `${room} in test/project/budget.json`).toBeLessThanOrEqual(written[room] ?? 0);
});

afterAll(() => {
  const low = Object.entries(written).filter(([room, bound]) => (rooms[room] ?? 0) < bound * 0.9);
  if (low.length === 0) return;
  const names = low.map(([room, bound]) => `${room} (${rooms[room] ?? 0} of ${bound})`).join(", ");
  process.stdout.write(`npm run budget lowers the figures of ${names}\n`);
});
