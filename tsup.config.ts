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
  { ...shared, format: "esm", entry: [...entries, ...commands], esbuildPlugins: [builtInNotes()] },
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

/** Writes beside the code which packages are built in: their licences, and an SBOM (CycloneDX). */
function builtInNotes(): Plugin {
  return {
    name: "built-in-notes",
    setup({ onEnd, initialOptions: { outdir = "dist" } }) {
      onEnd(({ metafile }) => {
        const inputs = Object.keys(metafile?.inputs ?? {});
        const folders = inputs.flatMap((path) => /^node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
        const packages = [...new Set(folders)].sort().map(readPackage);
        const head = "The code beside this note holds the packages below, each under its own licence.";
        const texts = packages.map(({ name, version, text }) => `${name} ${version}\n\n${text}`);
        // tsup makes the folder later, with the code.
        mkdirSync(outdir, { recursive: true });
        const note = [head, ...texts].join(`\n\n${"-".repeat(80)}\n\n`);
        writeFileSync(`${outdir}/THIRD-PARTY-LICENSES.txt`, `${note}\n`);
        writeFileSync(`${outdir}/sbom.cdx.json`, `${JSON.stringify(billOf(packages), undefined, 2)}\n`);
      });
    },
  };
}

function readPackage(folder: string) {
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name)) ?? "LICENSE";
  const read = JSON.parse(readFileSync(`${folder}/package.json`, "utf8")) as typeof manifest;
  return { ...read, text: readFileSync(`${folder}/${file}`, "utf8").trim() };
}

/** Without a time and a serial number, so that the same sources give the same package. */
function billOf(packages: (typeof manifest)[]) {
  const [own, ...components] = [manifest, ...packages].map(({ name, version, license }) => {
    const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
    return {
      type: "library",
      "bom-ref": purl,
      name,
      version,
      licenses: [{ license: { id: license } }],
      purl,
    };
  });
  const dependencies = [{ ref: own?.purl, dependsOn: components.map(({ purl }) => purl) }];
  const format = { bomFormat: "CycloneDX", specVersion: "1.6", version: 1 };
  return { ...format, metadata: { component: own }, components, dependencies };
}
