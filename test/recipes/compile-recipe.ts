import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runNode } from "../package/run-program.ts";

/** What a new project of TypeScript says, beside what its framework asks for. */
const common = {
  target: "ES2022",
  module: "NodeNext",
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  rewriteRelativeImportExtensions: true,
  types: ["node"],
  outDir: "out",
};

/** Compiles a project to `out`, with its own compiler; resolves to what the compiler says: nothing, if all is well. */
export async function compileRecipe(folder: string, options: Record<string, unknown>): Promise<string> {
  const config = { compilerOptions: { ...common, ...options }, include: ["*.ts"] };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
  const { stdout, stderr } = await runNode(folder, "node_modules/typescript/bin/tsc");
  return stdout + stderr;
}
