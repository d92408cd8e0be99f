import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { repository } from "./source-files.ts";

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

it("The top level holds the package and nothing else, but for dotfiles and what git ignores", () => {
  const found = readdirSync(repository).filter((name) => !name.startsWith(".") && !isIgnored(name));

  expect(found.sort()).toEqual(allowed);
});

/** The plain names and endings of `.gitignore`, which is all that it holds for this level. */
function isIgnored(name: string): boolean {
  const patterns = readFileSync(join(repository, ".gitignore"), "utf8").split("\n").filter(Boolean);
  return patterns.some((pattern) =>
    pattern.startsWith("*") ? name.endsWith(pattern.slice(1)) : name === pattern.replace(/\/$/, ""),
  );
}
