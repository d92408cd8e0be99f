import { describe, expect, inject, it } from "vitest";
import { importsOf } from "../project/imports.ts";
import { compile, ownCompiler, someProjects } from "./compile.ts";
import { installedFiles } from "./installed-files.ts";

const consumer = inject("consumer");

describe("The declarations compile with all library checks", () => {
  // `npm run platforms` covers each resolver with each runtime and compiler. "nodenext" allows more than "node16".
  it.each(someProjects.filter(({ resolver }) => resolver !== "nodenext"))(
    "under $resolver, with $runtime",
    async (project) => {
      const { exitCode, stdout } = await compile(ownCompiler, project, consumer);

      expect(exitCode, stdout).toBe(0);
    },
  );
});

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
