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
