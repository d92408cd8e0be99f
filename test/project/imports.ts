import { posix } from "node:path";
import ts from "typescript";
import type { SourceFiles } from "./source-files.ts";

/** An import of another file, or of a package. */
export interface Import {
  readonly from: string;
  /** A path in the repository (`src/errors.ts`), or the name of a package or built-in module. */
  readonly to: string;
  /**
   * Loaded at the top, loaded at run time, or only named as a type and erased by the compiler.
   * `import { type X }` is loaded at the top: the compiler keeps the empty import.
   */
  readonly kind: "static" | "dynamic" | "type";
}

/** All imports of the files, in any syntax. */
export function importsOf(files: SourceFiles): Import[] {
  return [...files].flatMap(([path, text]) => importsOfFile(path, text));
}

/** All modules that a file loads, directly or indirectly. */
export function loadedBy(path: string, imports: readonly Import[]): Set<string> {
  return reachedFrom(
    path,
    imports.filter(({ kind }) => kind === "static"),
  );
}

/** All modules that a file imports, directly or indirectly, types included. */
export function reachedFrom(path: string, imports: readonly Import[]): Set<string> {
  const targets = new Map<string, string[]>();
  for (const { from, to } of imports) targets.set(from, [...(targets.get(from) ?? []), to]);
  const seen = new Set<string>();
  const visit = (from: string): void => {
    for (const to of targets.get(from) ?? []) {
      if (seen.has(to)) continue;
      seen.add(to);
      visit(to);
    }
  };
  visit(path);
  return seen;
}

function importsOfFile(from: string, text: string): Import[] {
  const found: Import[] = [];
  const add = (specifier: ts.Node | undefined, kind: Import["kind"]) => {
    if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return;
    const { text: name } = specifier;
    const to = name.startsWith(".") ? posix.join(posix.dirname(from), name) : name;
    found.push({ from, to, kind });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node))
      add(
        node.moduleSpecifier,
        node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword ? "type" : "static",
      );
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly ? "type" : "static");
    else if (ts.isImportTypeNode(node))
      add(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, "type");
    else if (ts.isCallExpression(node) && importsModule(node)) add(node.arguments[0], "dynamic");
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(from, text, ts.ScriptTarget.Latest));
  return found;
}

/** `import("x")`, `require("x")` and `process.getBuiltinModule("x")`, however the function is reached. */
function importsModule({ expression }: ts.CallExpression): boolean {
  if (expression.kind === ts.SyntaxKind.ImportKeyword) return true;
  const name = ts.isPropertyAccessExpression(expression) ? expression.name : expression;
  return ts.isIdentifier(name) && ["require", "getBuiltinModule"].includes(name.text);
}
