import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { repository } from "./source-files.ts";

const guide = join(repository, "examples/guides/recipes.md");
const folder = join(repository, "examples/recipes");
/** A block that shows a file: its language, its path below `examples/recipes`, its code. */
const shown = /^```(\w+) file=(\S+)\n[\s\S]*?^```$/gm;

describe("The guide of recipes", () => {
  it("shows the files as they are; `-u` writes them into it", async () => {
    const text = readFileSync(guide, "utf8");
    const filled = text.replace(
      shown,
      (_, language: string, path: string) =>
        `\`\`\`${language} file=${path}\n${readFileSync(join(folder, path), "utf8")}\`\`\``,
    );

    await expect(filled).toMatchFileSnapshot(guide);
  });

  it("shows every file but the frame of a page", () => {
    const paths = [...readFileSync(guide, "utf8").matchAll(shown)].map(([, , path = ""]) => path);
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
      .map((path) => path.replaceAll("\\", "/"))
      .filter((path) => /\.tsx?$/.test(path));

    expect(paths.toSorted()).toEqual(files.filter((path) => path !== "next/app/layout.tsx").toSorted());
  });
});
