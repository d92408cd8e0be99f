import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, inject, it } from "vitest";
import { importsOf } from "../project/imports.ts";
import { repository, sourceFiles } from "../project/source-files.ts";
import { compile, ownCompiler, someProjects } from "./compile.ts";
import { installedFiles } from "./installation.ts";

const { consumer } = inject("installed");

// `attw`, in the tests of the packed file, resolves them as each resolver does; `npm run platforms` compiles them.
describe("The declarations", () => {
  const declarations = installedFiles(consumer, ".d.ts", ".d.cts");

  it("name no type of a package except zod, and msw in its own entry", () => {
    const foreign = importsOf(declarations)
      .filter(({ to }) => !to.startsWith("dist/") && !/^zod(\/|$)/.test(to))
      .map(({ from, to }) => `${from} ${to}`);

    expect(foreign.sort()).toEqual(["dist/mock/msw.d.cts msw", "dist/mock/msw.d.ts msw"]);
  });

  it("do not show internal members", () => {
    expect([...declarations].filter(([, text]) => text.includes("@internal")).map(([path]) => path)).toEqual(
      [],
    );
  });
});

const programs = [...sourceFiles("test/types/released")];
const [, newest = ""] = readFileSync(join(repository, "CHANGELOG.md"), "utf8").split(/^## /m);
const isBreaking = /\bbreaking\b/i.test(newest);

describe("The programs of the last release's users", () => {
  it.each(programs)("compile: %s, unless the changelog says breaking", async (_path, text) => {
    const { exitCode, stdout } = await compile(ownCompiler, someProjects[0]!, consumer, text);

    expect(exitCode === 0 || isBreaking, stdout).toBe(true);
  });
});
