import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { transform, type Plugin } from "esbuild";
import { defineConfig, type Options } from "tsup";
import manifest from "./package.json" with { type: "json" };
import { buildPage } from "./src/mock/page/build-page.ts";

// The entries and commands of package.json, each from the source of the same name.
const sourceOf = (built: string) => built.replace("./dist/", "src/").replace(/\.js$/, ".ts");
const exported = Object.values(manifest.exports).flatMap((entry) => (typeof entry === "string" ? [] : entry));
const entries = exported.map((entry) => sourceOf(entry.import.default));
const commands = Object.values(manifest.bin).map(sourceOf);

const shared = {
  target: ["node20.19", "es2022"],
  // Built in, as every development dependency is that the sources import; zod is a dependency for its types alone.
  noExternal: ["zod"],
  // One copy of each class and each library for all entries of a format, so that `instanceof` holds between them.
  splitting: true,
  // Deno and edge runtimes know the built-in modules only by their full names.
  removeNodeProtocol: false,
} satisfies Options;

// The page of the mock, in one file: the sources import it, too.
writeFileSync("src/mock/page/page-file.ts", await buildPage());

export default defineConfig([
  { ...shared, format: "esm", entry: [...entries, ...commands], esbuildPlugins: [licenceNote()] },
  {
    ...shared,
    // Split as ES modules, then converted: with the format "cjs", tsup's own splitting rewrites the fields of classes.
    format: "esm",
    entry: entries,
    outExtension: () => ({ js: ".cjs" }),
    plugins: [{ name: "commonjs", renderChunk: (code) => toCommonJs(code) }],
  },
  {
    format: ["esm", "cjs"],
    entry: entries,
    // tsup does not read `stripInternal` from tsconfig.json. `npm run types` has checked the sources.
    dts: { only: true, compilerOptions: { stripInternal: true, noCheck: true } },
  },
]);

/** `import()` becomes `require` too: Jest refuses it in CommonJS. */
function toCommonJs(code: string) {
  const supported = { "dynamic-import": false };
  const banner = '"use strict";';
  return transform(code, { banner, format: "cjs", platform: "node", target: shared.target, supported });
}

/** Writes the licence of each package that is built in to a file beside the code. */
function licenceNote(): Plugin {
  return {
    name: "licence-note",
    setup({ onEnd, initialOptions: { outdir = "dist" } }) {
      onEnd(({ metafile }) => {
        const inputs = Object.keys(metafile?.inputs ?? {});
        const folders = inputs.flatMap((path) => /^node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
        const head = "The code beside this note holds the packages below, each under its own licence.";
        const note = [head, ...[...new Set(folders)].sort().map(licenceOf)].join(`\n\n${"-".repeat(80)}\n\n`);
        // tsup makes the folder later, with the code.
        mkdirSync(outdir, { recursive: true });
        writeFileSync(`${outdir}/THIRD-PARTY-LICENSES.txt`, `${note}\n`);
      });
    },
  };
}

function licenceOf(folder: string): string {
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name)) ?? "LICENSE";
  const { name, version } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8")) as typeof manifest;
  return `${name} ${version}\n\n${readFileSync(`${folder}/${file}`, "utf8").trim()}`;
}
