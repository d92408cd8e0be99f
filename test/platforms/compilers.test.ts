import { describe, expect, inject, it } from "vitest";
import { compile, projects } from "../package/compile.ts";

const consumer = inject("consumer");
const platforms = inject("platforms");

// The suite has the version that the repository is written in.
const compilers = (["typescript@6", "typescript@7"] as const).flatMap((name) => {
  const tsc = platforms[name];
  return tsc === undefined ? [] : projects.map((project) => ({ name, tsc, ...project }));
});

describe("The declarations compile with all library checks", () => {
  it.each(compilers)("in $name, under $resolver, with $runtime", async ({ tsc, ...project }) => {
    const { exitCode, stdout } = await compile([tsc], project, consumer);

    expect(exitCode, stdout).toBe(0);
  });
});
