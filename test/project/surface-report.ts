import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import manifest from "../../package.json" with { type: "json" };
import { repository, type SourceFiles } from "./source-files.ts";

/** Source file by entry, as package.json names them: `audience-sdk/mock` is `src/mock/index.ts`. */
export const entrySources: Record<string, string> = Object.fromEntries(
  Object.entries(manifest.exports).flatMap(([entryPoint, paths]) => {
    if (typeof paths === "string") return [];
    const source = paths.import.default.replace("./dist/", "src/").replace(/\.js$/, ".ts");
    return [[entryPoint.replace(".", manifest.name), join(repository, source)]];
  }),
);

interface Exported {
  readonly name: string;
  /** Of the original declaration. */
  readonly symbol: ts.Symbol;
  /** Whether it exists at run time, and not for the compiler alone. */
  readonly isValue: boolean;
}

/** The exports of an entry in alphabetical order. */
function exportsOf(program: ts.Program, source: string): Exported[] {
  const checker = program.getTypeChecker();
  const file = program.getSourceFile(source);
  const symbol = file && checker.getSymbolAtLocation(file);
  if (symbol === undefined) throw new Error(`${source} exports nothing.`);
  const found = checker.getExportsOfModule(symbol).map((one): Exported => {
    const original = one.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(one) : one;
    const isType = one.declarations?.some((each) => ts.isTypeOnlyImportOrExportDeclaration(each));
    return {
      name: one.name,
      symbol: original,
      isValue: !isType && (original.flags & ts.SymbolFlags.Value) !== 0,
    };
  });
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** All entries as the compiler reads them, and more files, by path in the repository, that stand nowhere. */
export function readEntries(files: SourceFiles): ts.Program {
  const { config } = ts.readConfigFile(join(repository, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, repository);
  // Unlike the sources, a user may leave a name unused, and may have no types of a browser, whose `json()` gives any type.
  const usual = { ...options, noUnusedLocals: false, lib: ["lib.es2023.d.ts"] };
  const more = new Map([...files].map(([path, text]) => [join(repository, path), text]));
  const host = ts.createCompilerHost(usual);
  const { fileExists, getSourceFile } = host;
  host.fileExists = (path) => more.has(path) || fileExists(path);
  host.getSourceFile = (path, ...rest) => {
    const text = more.get(path);
    return text === undefined
      ? getSourceFile(path, ...rest)
      : ts.createSourceFile(path, text, ts.ScriptTarget.ES2022);
  };
  return ts.createProgram([...Object.values(entrySources), ...more.keys()], usual, host);
}

/** The declaration of each public name, by entry: `report["audience-sdk"]["Outcome"]`. */
export type SurfaceReport = Record<string, Record<string, string>>;

const head = `# Public surface

How every name that a user can import is declared. Made by \`npx vitest run --config test/vitest.config.ts test/project/public-surface -u\`.
`;

/** Every public name with its whole type, from the compiler. */
export function describeSurface(program: ts.Program): SurfaceReport {
  const writer = new DeclarationWriter(program.getTypeChecker());
  return Object.fromEntries(
    Object.entries(entrySources).map(([entry, source]) => {
      const names = exportsOf(program, source).map((each) => [each.name, writer.writeExport(each)]);
      return [entry, Object.fromEntries(names)];
    }),
  );
}

/** The report as a Markdown page that can be compared line by line. */
export function writeReport(report: SurfaceReport): string {
  const sections = Object.entries(report).map(([entry, declarations]) => {
    const blocks = Object.entries(declarations).map(
      ([name, text]) => `### \`${name}\`\n\n\`\`\`ts\n${text}\n\`\`\`\n`,
    );
    return `## \`${entry}\`\n\n${blocks.join("\n")}`;
  });
  return [head, ...sections].join("\n");
}

/** Parses the page. */
export function readReport(page: string): SurfaceReport {
  const sections = [...page.matchAll(/^## `(.+)`\n([\s\S]*?)(?=^## `|$(?![\s\S]))/gm)];
  return Object.fromEntries(
    sections.map(([, entry = "", section = ""]) => {
      const blocks = [...section.matchAll(/^### `(.+)`\n\n```ts\n([\s\S]*?)\n```$/gm)];
      return [entry, Object.fromEntries(blocks.map(([, name = "", text = ""]) => [name, text]))];
    }),
  );
}

/** The report of today. */
export const publicSurface = readReport(
  readFileSync(join(repository, "test/project/public-surface.md"), "utf8"),
);

const valuePattern = /^(?:abstract )?(?:class|const|function) /;

/** The names of an entry that exist at run time. */
export function valuesOf(declarations: Readonly<Record<string, string>>): string[] {
  return Object.keys(declarations).filter((name) => valuePattern.test(declarations[name]!));
}

/** The names with different declarations in both reports, by entry. */
export function changedNames(before: SurfaceReport, after: SurfaceReport): Record<string, string[]> {
  const changed = Object.entries(after).map(([entry, declarations]): [string, string[]] => {
    const old = before[entry] ?? {};
    const names = Object.keys(declarations);
    return [
      entry,
      names.filter((name) => old[name] !== undefined && old[name] !== declarations[name]).sort(),
    ];
  });
  return Object.fromEntries(changed.filter(([, names]) => names.length > 0));
}

// Safe: a union of flags is a number to the compiler, and still these flags.
const typeFormat = (ts.TypeFormatFlags.NoTruncation |
  ts.TypeFormatFlags.MultilineObjectLiterals |
  ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope) as ts.TypeFormatFlags;
const aliasFormat = (typeFormat | ts.TypeFormatFlags.InTypeAlias) as ts.TypeFormatFlags;

class DeclarationWriter {
  readonly #checker: ts.TypeChecker;

  constructor(checker: ts.TypeChecker) {
    this.#checker = checker;
  }

  writeExport({ isValue, name, symbol }: Exported): string {
    const text = this.#write(name, symbol);
    return !isValue && valuePattern.test(text) ? `type-only ${text}` : text;
  }

  #write(name: string, symbol: ts.Symbol): string {
    const declaration = symbol.declarations?.[0];
    if (declaration === undefined) throw new Error(`${name} is declared nowhere.`);
    if (ts.isClassDeclaration(declaration)) return this.#body(name, declaration, "class");
    if (ts.isInterfaceDeclaration(declaration)) return this.#body(name, declaration, "interface");
    if (ts.isTypeAliasDeclaration(declaration)) {
      const type = this.#checker.getDeclaredTypeOfSymbol(symbol);
      const text = this.#type(type, aliasFormat);
      return `type ${name}${parametersOf(declaration)} = ${text}`;
    }
    const type = this.#checker.getTypeOfSymbol(symbol);
    if (!ts.isFunctionDeclaration(declaration)) return `const ${name}: ${this.#type(type)}`;
    const signatures = type.getCallSignatures();
    return signatures.map((signature) => `function ${name}${this.#signature(signature)}`).join("\n");
  }

  #body(name: string, declaration: ts.ClassDeclaration | ts.InterfaceDeclaration, keyword: string): string {
    const modifiers = ts.canHaveModifiers(declaration) ? (ts.getModifiers(declaration) ?? []) : [];
    const isAbstract = modifiers.some(({ kind }) => kind === ts.SyntaxKind.AbstractKeyword);
    const heritage = declaration.heritageClauses?.map((clause) => ` ${clause.getText()}`).join("") ?? "";
    const members: ts.NodeArray<ts.ClassElement | ts.TypeElement> = declaration.members;
    const lines = members
      .filter((member) => isPublic(member) && !isBodyOfOverloads(member, members))
      .map((member) => `  ${this.#member(member).replaceAll("\n", "\n  ")};`);
    const opening = `${isAbstract ? "abstract " : ""}${keyword} ${name}${parametersOf(declaration)}${heritage}`;
    return [`${opening} {`, ...lines, "}"].join("\n");
  }

  #member(member: ts.ClassElement | ts.TypeElement): string {
    if (ts.isIndexSignatureDeclaration(member)) return member.getText().replace(/;$/, "");
    const optional = "questionToken" in member && member.questionToken !== undefined ? "?" : "";
    const name = `${ts.isConstructorDeclaration(member) ? "constructor" : (member.name?.getText() ?? "")}${optional}`;
    if (ts.isFunctionLike(member) && !ts.isAccessor(member)) {
      const signature = this.#checker.getSignatureFromDeclaration(member);
      const text = signature === undefined ? "" : this.#signature(signature);
      // The return type of a constructor is its class.
      return name + (ts.isConstructorDeclaration(member) ? text.slice(0, text.lastIndexOf("): ") + 1) : text);
    }
    const isReadonly =
      ts.isGetAccessor(member) || (ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Readonly) !== 0;
    return `${isReadonly ? "readonly " : ""}${name}: ${this.#type(this.#checker.getTypeAtLocation(member))}`;
  }

  #type(type: ts.Type, flags: ts.TypeFormatFlags = typeFormat): string {
    const text = this.#checker.typeToString(type, undefined, flags);
    // The compiler leaves out the line breaks and keeps the indentation.
    return text
      .replaceAll(
        /([{;])((?: {4})+)/g,
        (_, end: string, indent: string) => `${end}\n${indent.replaceAll("    ", "  ")}`,
      )
      .replaceAll(";}", ";\n}");
  }

  #signature(signature: ts.Signature): string {
    return this.#checker.signatureToString(signature, undefined, typeFormat);
  }
}

function parametersOf({
  typeParameters,
}: {
  typeParameters?: ts.NodeArray<ts.TypeParameterDeclaration>;
}): string {
  return typeParameters === undefined ? "" : `<${typeParameters.map((one) => one.getText()).join(", ")}>`;
}

/** Whether a user can access the member. */
function isPublic(member: ts.ClassElement | ts.TypeElement): boolean {
  const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;
  const isInternal = ts.getJSDocTags(member).some(({ tagName }) => tagName.text === "internal");
  const isPrivate = member.name !== undefined && ts.isPrivateIdentifier(member.name);
  return !isInternal && !isPrivate && (ts.getCombinedModifierFlags(member) & hidden) === 0;
}

/** Overloads are public, and their implementation is not. */
function isBodyOfOverloads(member: ts.Node, members: readonly ts.Node[]): boolean {
  if (!isMethod(member) || member.body === undefined) return false;
  const name = member.name?.getText();
  return members.some((one) => isMethod(one) && one.body === undefined && one.name?.getText() === name);
}

function isMethod(member: ts.Node): member is ts.MethodDeclaration | ts.ConstructorDeclaration {
  return ts.isMethodDeclaration(member) || ts.isConstructorDeclaration(member);
}
