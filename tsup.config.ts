import { readdirSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { transform } from "esbuild";
import { defineConfig, type Options } from "tsup";
import manifest from "./package.json" with { type: "json" };

// What is built is what package.json names: every door of `exports` and every command of `bin`, each from the
// source of the same name. An entry is added there, and nowhere else.
const doors = Object.values(manifest.exports).flatMap((door) =>
  typeof door === "string" ? [] : [sourceOf(door.import.default)],
);
const commands = Object.values(manifest.bin).map(sourceOf);

// Jest cannot load packages that are ES modules alone, so the CommonJS build holds these itself. zod comes as both.
const heldByCommonJs = ["ky", "p-retry", "is-network-error", "bottleneck"];

// Names stay and lines are short, so that a stack can be read; comments and blanks would be a quarter of the code.
const compact = { minifyWhitespace: true, minifySyntax: true, lineLimit: 320 };

// CommonJS writes the file's name at each use of what comes from it.
const named = { chunkNames: "[hash]" };

// Of our own comments a build keeps those marked `!` or `@preserve`, for `forBundlers`. Packages keep theirs.
const ownCode = { ...compact, ...named, legalComments: "inline" };

const shared = {
  outDir: "dist",
  target: ["node20.19", "es2022"],
  // One copy of each class for all doors of a format, so that `instanceof` holds between them.
  splitting: true,
  // All builds write to one folder; `npm run build` empties it before.
  clean: false,
  // Deno and edge runtimes know the built-in modules by their full names alone.
  removeNodeProtocol: false,
  esbuildOptions: (options) => void Object.assign(options, compact, named),
} satisfies Options;

export default defineConfig([
  {
    ...shared,
    format: "esm",
    entry: [...doors, ...commands],
    plugins: [{ name: "comments", renderChunk: (code) => ({ code: forBundlers(code) }) }],
    esbuildOptions: (options) => void Object.assign(options, ownCode),
  },
  {
    ...shared,
    // Split as ES modules, then turned: tsup's own way to split CommonJS rewrites the fields of classes.
    format: "esm",
    outExtension: () => ({ js: ".cjs" }),
    plugins: [{ name: "commonjs", renderChunk: (code) => toCommonJs(code) }],
    entry: doors,
    noExternal: heldByCommonJs.map((name) => new RegExp(`^${name}(/|$)`)),
    esbuildPlugins: [shortNames(), licenceNote("THIRD-PARTY-LICENSES.txt")],
  },
  {
    ...shared,
    format: ["esm", "cjs"],
    entry: doors,
    // tsup does not take `stripInternal` from tsconfig.json.
    dts: { only: true, compilerOptions: { stripInternal: true } },
  },
]);

/** `./dist/mock/index.js` as `src/mock/index.ts`. */
function sourceOf(built: string): string {
  return built.replace("./dist/", "src/").replace(/\.js$/, ".ts");
}

/**
 * A function that only makes a value says so, and a bundler leaves out what nobody uses of it. Without its `!`, which
 * would bring that comment into every bundle; notes for our own tools are nothing for a user.
 */
function forBundlers(code: string): string {
  return code
    .replaceAll("/*! @__NO_SIDE_EFFECTS__ */", "/*@__NO_SIDE_EFFECTS__*/")
    .replaceAll(/\/\* v8 ignore .*? \*\//g, "");
}

/** `import()` becomes `require` too: Jest refuses it in CommonJS. */
function toCommonJs(code: string) {
  return transform(forBundlers(code), {
    ...compact,
    banner: '"use strict";',
    format: "cjs",
    platform: "node",
    target: shared.target,
    supported: { "dynamic-import": false },
  });
}

/** What a package calls its variables helps nobody to read a stack of ours, and would be a tenth of the code. */
function shortNames(): NonNullable<Options["esbuildPlugins"]>[number] {
  return {
    name: "short-names",
    setup(build) {
      build.onLoad({ filter: /node_modules.*\.js$/ }, async ({ path }) => {
        const { code } = await transform(readFileSync(path, "utf8"), { minifyIdentifiers: true });
        return { contents: code };
      });
    },
  };
}

/** Writes the licence of every package that the build took in to a file beside the code, the same text once. */
function licenceNote(file: string): NonNullable<Options["esbuildPlugins"]>[number] {
  return {
    name: "licence-note",
    setup(build) {
      build.onEnd(async ({ metafile }) => {
        const inputs = Object.keys(metafile?.inputs ?? {});
        const folders = inputs.flatMap((path) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
        const head =
          "The CommonJS files beside this note hold code of the packages below, each under its own licence.";
        const names = new Map<string, string[]>();
        for (const one of [...new Set(folders)].sort()) {
          const { name, text } = licenceOf(one);
          names.set(text, [...(names.get(text) ?? []), name]);
        }
        const licences = [...names].map(([text, of]) => `${of.join("\n")}\n\n${text}`);
        const note = [head, ...licences].join(`\n\n${"-".repeat(80)}\n\n`);
        const folder = build.initialOptions.outdir ?? shared.outDir;
        // tsup writes the code itself, and perhaps later: then the folder is not there yet.
        await mkdir(folder, { recursive: true });
        await writeFile(join(folder, file), `${note}\n`);
      });
    },
  };
}

function licenceOf(folder: string): { name: string; text: string } {
  const text = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  if (text === undefined) throw new Error(`${folder} has no licence file: what is bundled must bring one.`);
  // What npm has installed has both.
  const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Record<
    string,
    string
  >;
  return { name: `${name} ${version}`, text: readFileSync(join(folder, text), "utf8").trim() };
}
