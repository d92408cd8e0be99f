import { describe, expect, inject, it } from "vitest";
import { compile, ownCompiler, projects, someProjects } from "../package/compile.ts";

const consumer = inject("consumer");
const platforms = inject("platforms");

const others = (["typescript@5.8", "typescript@6", "typescript@7"] as const).flatMap((name) => {
  const tsc = platforms[name];
  return tsc === undefined ? [] : [{ name, tsc: [tsc], of: someProjects }];
});
const compilers = [{ name: "the suite's own", tsc: ownCompiler, of: projects }, ...others].flatMap(
  ({ of, ...compiler }) => of.map((project) => ({ ...compiler, ...project })),
);

describe("The declarations compile with all library checks", () => {
  it.each(compilers)("in $name, under $resolver, with $runtime", async ({ tsc, ...project }) => {
    const { exitCode, stdout } = await compile(tsc, project, consumer);

    expect(exitCode, stdout).toBe(0);
  });
});
