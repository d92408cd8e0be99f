import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { fileSizes } from "../package/installed-files.ts";

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
