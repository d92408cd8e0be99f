import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { installPackage } from "../package/installation.ts";
import { runProgram, sayNotRun } from "../package/programs.ts";
import { repository } from "../project/source-files.ts";

/** A project for each recipe: the folder of the recipe, and the packages of which the first is the framework. */
const wanted = {
  fastify: { recipe: "fastify", packages: ["fastify@5", "fastify-plugin@6"] },
  nest: {
    recipe: "nest",
    packages: [
      "@nestjs/core@12",
      "@nestjs/common@12",
      "@nestjs/platform-express@12",
      "reflect-metadata",
      "rxjs@7",
    ],
  },
  hono: { recipe: "hono", packages: ["hono@4", "workerd", "@cloudflare/workers-types"] },
  // The newest for Node 20.
  postgres: { recipe: "postgres", packages: ["graphile-worker@0.17", "pg@8", "@types/pg@8"] },
  // The last version that keeps answers to GETs on disk, and the newest for Node 20.
  "next 14": { recipe: "next", packages: ["next@14", "react@18", "react-dom@18", "@types/react@18"] },
  "next 15": { recipe: "next", packages: ["next@15", "react@19", "react-dom@19", "@types/react@19"] },
} satisfies Record<string, { recipe: string; packages: [string, ...string[]] }>;

export type RecipeProject = keyof typeof wanted;

declare module "vitest" {
  interface ProvidedContext {
    /** The folder of each project that could be installed. */
    projects: Partial<Record<RecipeProject, string>>;
  }
}

/** Packs the package, and installs it with each framework beside a copy of its recipe. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "audience-sdk-recipes-"));
  const { tarball, remove } = await installPackage();
  const names = Object.keys(wanted) as RecipeProject[];
  const folders = await Promise.all(
    names.map((name) => install(name, join(folder, name.replace(" ", "-")), tarball)),
  );
  const installed = names.flatMap((name, at) => {
    const to = folders[at];
    return to === undefined ? [] : [[name, to] as const];
  });
  project.provide("projects", Object.fromEntries(installed));
  return async () => {
    await remove();
    await rm(folder, { recursive: true, force: true });
  };
}

/** The folder of the project. If the framework cannot be installed, it is undefined, and that is reported. */
async function install(name: RecipeProject, to: string, tarball: string): Promise<string | undefined> {
  const { recipe, packages } = wanted[name];
  await mkdir(to);
  await writeFile(join(to, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const flags = ["install", "--prefer-offline", "--no-audit", "--no-fund"];
  const compiler = ["typescript@5.9", "@types/node@20"];
  const { exitCode, stderr } = await runProgram("npm", [...flags, tarball, ...compiler, ...packages], {
    folder: to,
  });
  if (exitCode !== 0) {
    sayNotRun(`the recipe for ${name}: ${stderr.trim().split("\n").at(-1)}`);
    return undefined;
  }
  await cp(join(repository, "examples/recipes", recipe), to, { recursive: true });
  const framework = packages[0].replace(/(?<=.)@.*/, "");
  const manifest = await readFile(join(to, "node_modules", framework, "package.json"), "utf8");
  const { version }: { version: string } = JSON.parse(manifest);
  process.stdout.write(`${name}: ${framework} ${version}\n`);
  return to;
}
