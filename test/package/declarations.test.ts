import { describe, expect, it } from "vitest";
import { importsOf } from "../project/imports.ts";
import { compile, ownCompiler, projects } from "./compile.ts";
import { installedFiles } from "./installation.ts";
import { installedPackage } from "./installed-package.ts";
import { runNode, tool } from "./programs.ts";

const { tarball, consumer } = await installedPackage();

// `npm run platforms` covers each resolver with each runtime and compiler.
it("The declarations compile with all library checks, as modules and as CommonJS", async () => {
  const project = projects.find(
    ({ resolver, runtime }) => resolver === "node16" && runtime === "@types/node",
  );
  const { exitCode, stdout } = await compile(ownCompiler, project!, consumer);

  expect(exitCode, stdout).toBe(0);
});

it("The package has the right declarations for every resolver that supports entries", async () => {
  const attw = tool("@arethetypeswrong/cli/dist/index.js");
  const flags = ["--profile", "node16", "--no-emoji", "--no-color"];
  const { exitCode, stdout } = await runNode(consumer, attw, tarball, ...flags);

  expect(exitCode, stdout).toBe(0);
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
