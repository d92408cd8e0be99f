import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build, transformSync } from "esbuild";
import { fileSizes, installPackage } from "../package/installation.ts";

/** The packages of each peer; none for what Node has itself. */
export type Peers = Readonly<Record<string, readonly string[]>>;

export interface Installed {
  /** Where each can be imported, with the programs of `clients/` beside it. */
  readonly folders: ReadonlyMap<string, string>;
  readonly remove: () => Promise<void>;
}

const programs = fileURLToPath(new URL("clients", import.meta.url));

/** Installs our packed package and each peer into a folder of its own, and says which could not be installed. */
export async function install(peers: Peers): Promise<Installed> {
  const { consumer, remove } = await installPackage();
  const folders = new Map([["audience-sdk", consumer]]);
  const above = mkdtempSync(join(tmpdir(), "audience-sdk-peers-"));
  for (const [name, packages] of Object.entries(peers)) {
    const folder = join(above, name.replaceAll(/\W+/g, "-"));
    mkdirSync(folder);
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
    try {
      if (packages.length > 0) installInto(folder, packages);
      folders.set(name, folder);
    } catch (error) {
      console.error(`NOT MEASURED: ${name} cannot be installed: ${String(error)}`);
    }
  }
  for (const folder of folders.values()) copyPrograms(folder);
  return {
    folders,
    remove: async () => {
      await remove();
      rmSync(above, { recursive: true, force: true });
    },
  };
}

/** Each program also as CommonJS: it requires what the module imports. */
function copyPrograms(folder: string): void {
  cpSync(programs, folder, { recursive: true });
  for (const name of readdirSync(programs)) {
    const module = readFileSync(join(programs, name), "utf8");
    // Of a client; what else is there runs as it is.
    if (!/^export function construct\b/m.test(module)) continue;
    const { code } = transformSync(module, { format: "cjs" });
    writeFileSync(join(folder, name.replace(".mjs", ".cjs")), code);
  }
}

function installInto(folder: string, packages: readonly string[]): void {
  const flags = ["--prefer-offline", "--no-audit", "--no-fund", "--omit=peer", "--ignore-scripts"];
  execFileSync("npm", ["install", ...flags, ...packages], {
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
  });
}

export function versionOf(folder: string, name: string): string {
  const path = join(folder, "node_modules", name, "package.json");
  const { version }: { version: string } = JSON.parse(readFileSync(path, "utf8"));
  return version;
}

export interface Sizes {
  readonly bundleBytes: number;
  readonly installedBytes: number;
  readonly packages: number;
}

/** Of a client in its folder; the bundle is that of a server which imports and constructs it. */
export async function sizesOf(folder: string, program: string): Promise<Sizes> {
  const { outputFiles } = await build({
    stdin: { contents: `export { construct } from "./${program}.mjs";`, resolveDir: folder },
    bundle: true,
    minify: true,
    platform: "node",
    format: "esm",
    target: "es2022",
    write: false,
    logLevel: "error",
  });
  const files = [...fileSizes(folder)].flatMap(([path, bytes]) =>
    /^node_modules\/[^.]/.test(path) ? [{ path, bytes }] : [],
  );
  const manifest = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+\/package\.json$/;
  return {
    bundleBytes: gzipSync(outputFiles[0]?.contents ?? "", { level: 9 }).length,
    installedBytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    packages: files.filter(({ path }) => manifest.test(path)).length,
  };
}
