import { join } from "node:path";
import ts from "typescript";
import manifest from "../../package.json" with { type: "json" };
import { repository } from "./source-files.ts";

/** Source file by entry, as package.json names them: `audience-sdk/mock` is `src/mock/index.ts`. */
export const entrySources: Record<string, string> = Object.fromEntries(
  Object.entries(manifest.exports).flatMap(([entryPoint, paths]) => {
    if (typeof paths === "string") return [];
    const source = paths.import.default.replace("./dist/", "src/").replace(/\.js$/, ".ts");
    return [[entryPoint.replace(".", manifest.name), join(repository, source)]];
  }),
);

/** The exports of an entry in alphabetical order, each with its original declaration. */
export function exportsOf(program: ts.Program, source: string): Map<string, ts.Symbol> {
  const checker = program.getTypeChecker();
  const file = program.getSourceFile(source);
  const symbol = file && checker.getSymbolAtLocation(file);
  if (symbol === undefined) throw new Error(`${source} exports nothing.`);
  const found = checker
    .getExportsOfModule(symbol)
    .map((one): [string, ts.Symbol] => [
      one.name,
      one.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(one) : one,
    ]);
  return new Map(found.sort(([a], [b]) => (a < b ? -1 : 1)));
}
