import { join } from "node:path";
import ts from "typescript";
import manifest from "../../package.json" with { type: "json" };
import { repository } from "./source-files.ts";

export interface ExportedNames {
  /** What is there when the program runs. */
  readonly values: readonly string[];
  /** What only the compiler knows. */
  readonly types: readonly string[];
}

/** Source file by entry, as package.json names them: `audience-sdk/mock` is `src/mock/index.ts`. */
export const entrySources: Record<string, string> = Object.fromEntries(
  Object.entries(manifest.exports).flatMap(([door, paths]) => {
    if (typeof paths === "string") return [];
    const source = paths.import.default.replace("./dist/", "src/").replace(/\.js$/, ".ts");
    return [[door.replace(".", manifest.name), source]];
  }),
);

/** What each entry exports: values as the runtime finds them, types as the compiler does. */
export async function exportedNames(): Promise<Record<string, ExportedNames>> {
  const { config } = ts.readConfigFile(join(repository, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, repository);
  const paths = Object.values(entrySources).map((source) => join(repository, source));
  const program = ts.createProgram(paths, options);

  const found = Object.entries(entrySources).map(async ([entry, source]) => {
    const path = join(repository, source);
    const values = Object.keys(await import(path)).sort();
    const types = namesIn(program, path).filter((name) => !values.includes(name));
    return [entry, { values, types }];
  });
  return Object.fromEntries(await Promise.all(found));
}

function namesIn(program: ts.Program, path: string): string[] {
  const checker = program.getTypeChecker();
  const file = program.getSourceFile(path);
  const symbol = file && checker.getSymbolAtLocation(file);
  if (symbol === undefined) throw new Error(`${path} exports nothing.`);
  return checker
    .getExportsOfModule(symbol)
    .map(({ name }) => name)
    .sort();
}
