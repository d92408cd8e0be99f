import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { forbiddenText } from "./forbidden-text.ts";
import { repository, type SourceFiles } from "./source-files.ts";

it("No file contains a path of one machine, a package registry, or an unfinished thought", () => {
  expect(forbiddenText(new Map([...allFiles()].filter(([path]) => !path.endsWith(".png"))))).toEqual([]);
});

// Split, so that this file passes its own test.
it.each([
  ["a path of one machine", ["read /ho", "me/ada/notes"]],
  ["a package registry", ["https://registry.", "npmjs.org/ky"]],
  ["a package registry", ['"reso', 'lved": "https://mirror/ky.tgz"']],
  ["an unfinished thought", ["TO", "DO: finish"]],
])("%s is reported", (description, parts) => {
  expect(forbiddenText(new Map([["a.md", `first line\n${parts.join("")}`]]))).toEqual([
    `a.md:2 holds ${description}: ${parts.join("")}`,
  ]);
});

it.each(["https://example.com/home/ada", "see src/work/order.ts", "the registry of contacts"])(
  "%s is not reported",
  (line) => {
    expect(forbiddenText(new Map([["a.md", line]]))).toEqual([]);
  },
);

/** All files of the repository, except the patterns themselves. */
function allFiles(): SourceFiles {
  const folders = ["src", "test", "examples", ".github", ".ci"];
  const below = folders.flatMap((folder) =>
    readdirSync(join(repository, folder), { recursive: true, encoding: "utf8" }).map(
      (name) => `${folder}/${name}`,
    ),
  );
  // In a worktree, `.git` is a file that holds the path of the repository.
  const left = new Set([".git", "test/project/forbidden-text.ts"]);
  const paths = [...readdirSync(repository), ...below].filter(
    (path) => !left.has(path) && statSync(join(repository, path)).isFile(),
  );
  return new Map(paths.map((path) => [path, readFileSync(join(repository, path), "utf8")]));
}
