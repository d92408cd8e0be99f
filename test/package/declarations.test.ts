import { describe, expect, inject, it } from "vitest";
import { importsOf } from "../project/imports.ts";
import { compile, ownCompiler, someProjects } from "./compile.ts";
import { installedFiles } from "./installed-files.ts";

const consumer = inject("consumer");

describe("The declarations compile with all library checks", () => {
  // Each resolver with each runtime, by each compiler: `npm run platforms`.
  it.each(someProjects)("under $resolver, with $runtime", async (project) => {
    const { exitCode, stdout } = await compile(ownCompiler, project, consumer);

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
