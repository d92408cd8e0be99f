import { join } from "node:path";
import ts from "typescript";
import { entryPoints } from "./entry-points.ts";
import { entrySources } from "./entry-sources.ts";
import { repository, sourceFiles } from "./source-files.ts";

/** The tests that call entry points with hostile values. */
const hostileTests = [...sourceFiles("test/hostile").keys()]
  .filter((path) => path.endsWith(".test.ts"))
  .map((path) => join(repository, path));

/**
 * All entries as the compiler reads them, under the project's own options; and their hostile tests, so that it resolves the
 * functions that a test names.
 */
export function readEntries(): ts.Program {
  const { config } = ts.readConfigFile(join(repository, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, repository);
  return ts.createProgram([...Object.values(entrySources), ...hostileTests], options);
}

/** The public functions that no test in test/hostile names. */
export function untriedEntryPoints(program: ts.Program, tests: readonly string[] = hostileTests): string[] {
  const named = new Set(tests.flatMap((path) => referencedIn(program, path)));
  return [...entryPoints(program)].flatMap(([name, declaration]) => (named.has(declaration) ? [] : [name]));
}

/** The declarations that a file uses at run time. Imports and types do not count. */
function referencedIn(program: ts.Program, path: string): ts.Declaration[] {
  const checker = program.getTypeChecker();
  const file = program.getSourceFile(path);
  if (file === undefined) throw new Error(`${path} is not read.`);
  const found: ts.Declaration[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isTypeNode(node)) return;
    if (ts.isIdentifier(node)) {
      const symbol = checker.getSymbolAtLocation(node);
      const meant = symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      found.push(...(meant?.declarations ?? []));
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}
