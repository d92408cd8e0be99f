import ts from "typescript";
import type { SourceFiles } from "./source-files.ts";

const runners = ["it", "test", "describe", "suite", "bench"];
const skippingModifiers = new Set(["skip", "skipIf", "runIf", "only", "todo", "fails"]);

/** Every test that would not run, or would keep others from running: `it.skip`, `describe.only.each`, `ctx.skip()`. */
export function skippedTests(files: SourceFiles): string[] {
  return [...files].flatMap(([path, text]) => {
    const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
    const found: string[] = [];
    const visit = (node: ts.Node): void => {
      if (
        ts.isPropertyAccessExpression(node) &&
        skippingModifiers.has(node.name.text) &&
        isTest(node.expression)
      ) {
        const { line } = file.getLineAndCharacterOfPosition(node.name.getStart());
        found.push(`${path}:${line + 1} ${node.getText()}`);
      }
      ts.forEachChild(node, visit);
    };
    visit(file);
    return found;
  });
}

/** `it`, `it.concurrent`, or the context of a test. */
function isTest(node: ts.Expression): boolean {
  if (ts.isPropertyAccessExpression(node)) return isTest(node.expression);
  return ts.isIdentifier(node) && [...runners, "context", "ctx"].includes(node.text);
}
