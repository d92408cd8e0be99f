import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, inject, it } from "vitest";
import { repository, sourceFiles } from "../project/source-files.ts";
import { compile, ownCompiler, someProjects } from "./compile.ts";

const { consumer } = inject("installed");
const programs = [...sourceFiles("test/types/released")];
const [, newest = ""] = readFileSync(join(repository, "CHANGELOG.md"), "utf8").split(/^## /m);
const isBreaking = /\bbreaking\b/i.test(newest);

describe("The programs of the last release's users", () => {
  it.each(programs)("compile: %s, unless the changelog says breaking", async (_path, text) => {
    const { exitCode, stdout } = await compile(ownCompiler, someProjects[0]!, consumer, text);

    expect(exitCode === 0 || isBreaking, stdout).toBe(true);
  });
});
