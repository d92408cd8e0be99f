import { describe, expect, inject, it } from "vitest";
import { importsOf } from "../project/imports.ts";
import { compile, projects } from "./compile.ts";
import { installedFiles } from "./installed-files.ts";
import { tool } from "./run-program.ts";

const consumer = inject("consumer");

describe("The declarations compile with all library checks", () => {
  it.each(projects)("under $resolver, with $runtime", async (project) => {
    const tsc = [process.execPath, tool("typescript/bin/tsc")];
    const { exitCode, stdout } = await compile(tsc, project, consumer);

    expect(exitCode, stdout).toBe(0);
  });
});

describe("The declarations", () => {
  const declarations = installedFiles(consumer, ".d.ts", ".d.cts");

  it("name no type of a package but zod, and msw at its own door", () => {
    const foreign = importsOf(declarations)
      .filter(({ to }) => !to.startsWith("dist/") && !/^zod(\/|$)/.test(to))
      .map(({ from, to }) => `${from} ${to}`);

    expect(foreign.sort()).toEqual(["dist/mock/msw.d.cts msw", "dist/mock/msw.d.ts msw"]);
  });

  it("keep what is internal to themselves", () => {
    expect([...declarations].filter(([, text]) => text.includes("@internal")).map(([path]) => path)).toEqual(
      [],
    );
  });
});
