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
const entrySources: Record<string, string> = Object.fromEntries(
  Object.entries(manifest.exports).flatMap(([door, paths]) => {
    if (typeof paths === "string") return [];
    const source = paths.import.default.replace("./dist/", "src/").replace(/\.js$/, ".ts");
    return [[door.replace(".", manifest.name), source]];
  }),
);

/** What each entry exports: values as the runtime finds them, types as the compiler does. */
export async function exportedNames(): Promise<Record<string, ExportedNames>> {
  // How the paths of a package's doors are resolved does not matter to what the sources export.
  const options = {
    module: ts.ModuleKind.NodeNext,
    allowImportingTsExtensions: true,
    noEmit: true,
    skipLibCheck: true,
  };
  const program = ts.createProgram(Object.values(entrySources).map(pathOf), options);
  const surface: Record<string, ExportedNames> = {};

  for (const [entry, source] of Object.entries(entrySources)) {
    const module: object = await import(pathOf(source));
    const values = Object.keys(module).sort();
    surface[entry] = {
      values,
      types: namesIn(program, pathOf(source)).filter((name) => !values.includes(name)),
    };
  }
  return surface;
}

function pathOf(source: string): string {
  return join(repository, source);
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
