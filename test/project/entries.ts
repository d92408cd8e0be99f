import { join } from "node:path";
import ts from "typescript";
import manifest from "../../package.json" with { type: "json" };
import { repository, sourceFiles, type SourceFiles } from "./source-files.ts";

/** Source file by entry, as package.json names them: `audience-sdk/mock` is `src/mock/index.ts`. */
export const entrySources: Record<string, string> = Object.fromEntries(
  Object.entries(manifest.exports).flatMap(([entryPoint, paths]) => {
    if (typeof paths === "string") return [];
    const source = paths.import.default.replace("./dist/", "src/").replace(/\.js$/, ".ts");
    return [[entryPoint.replace(".", manifest.name), join(repository, source)]];
  }),
);

export interface Exported {
  readonly name: string;
  /** Of the original declaration. */
  readonly symbol: ts.Symbol;
  /** Whether it exists at run time, and not for the compiler alone. */
  readonly isValue: boolean;
}

/** The exports of an entry in alphabetical order. */
export function exportsOf(program: ts.Program, source: string): Exported[] {
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

/** The tests that call entry points with hostile values. */
const hostileTests = [...sourceFiles("test/hostile").keys()]
  .filter((path) => path.endsWith(".test.ts"))
  .map((path) => join(repository, path));

/**
 * All entries as the compiler reads them, under the project's own options; their hostile tests, so that it resolves the
 * functions that a test names; and more files, by path in the repository, that stand nowhere.
 */
export function readEntries(files: SourceFiles): ts.Program {
  const { config } = ts.readConfigFile(join(repository, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, repository);
  // Unlike the sources, a user may leave a name unused.
  const usual = { ...options, noUnusedLocals: false };
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
  return ts.createProgram([...Object.values(entrySources), ...hostileTests, ...more.keys()], usual, host);
}

/** The declaration of each function with parameters, by its name: `V1Customers.upsert`, `new ApiError`. */
type EntryPoints = ReadonlyMap<string, ts.Declaration>;

/**
 * Every function, constructor and method with parameters that a user reaches from the exports of the entries, also through
 * their return values. Functions that a user writes (a hook, a checkpoint) are excluded, because the package calls them.
 */
function entryPoints(program: ts.Program): EntryPoints {
  const finder = new EntryPointFinder(program.getTypeChecker());
  for (const source of Object.values(entrySources))
    for (const { isValue, symbol } of exportsOf(program, source)) if (isValue) finder.enter(symbol);
  return finder.entryPoints;
}

/** What the package and the language call, and no program with any values. */
const calledByOthers = /^new \w+Error$|\.(then|catch|finally)$/;

/** The public functions that no hostile test names. */
export function untriedEntryPoints(program: ts.Program, tests: readonly string[] = hostileTests): string[] {
  const points = [...entryPoints(program)].filter(([name]) => !calledByOthers.test(name));
  const names = new Set(points.flatMap(([name]) => /\w+$/.exec(name) ?? []));
  const named = new Set(tests.flatMap((path) => referencedIn(program, path, names)));
  return points.flatMap(([name, declaration]) => (named.has(declaration) ? [] : [name]));
}

/** The declarations with one of the names that a file uses at run time. Imports and types do not count. */
function referencedIn(program: ts.Program, path: string, names: ReadonlySet<string>): ts.Declaration[] {
  const checker = program.getTypeChecker();
  const file = program.getSourceFile(path);
  if (file === undefined) throw new Error(`${path} is not read.`);
  const found: ts.Declaration[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isTypeNode(node)) return;
    if (ts.isIdentifier(node) && names.has(node.text)) {
      const symbol = checker.getSymbolAtLocation(node);
      const meant = symbol && symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
      found.push(...(meant?.declarations ?? []));
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

class EntryPointFinder {
  readonly #checker: ts.TypeChecker;
  readonly #walked = new Set<ts.Type>();
  readonly #functions = new Set<ts.Declaration>();
  readonly entryPoints = new Map<string, ts.Declaration>();

  constructor(checker: ts.TypeChecker) {
    this.#checker = checker;
  }

  enter(symbol: ts.Symbol): void {
    const [declaration] = symbol.declarations ?? [];
    if (!isOurs(declaration)) return;
    const type = this.#checker.getTypeOfSymbol(symbol);
    for (const { declaration: made, parameters } of type.getConstructSignatures()) {
      if (parameters.length > 0 && isOurs(made)) this.entryPoints.set(`new ${symbol.name}`, declaration);
    }
    for (const made of type.getConstructSignatures()) this.#walk(made.getReturnType());
    this.#call(symbol.name, declaration, type);
    this.#walk(type);
  }

  /** The same function under a second name (`mock.clientOptions.fetch`) is no second entry point. */
  #call(name: string, declaration: ts.Declaration, type: ts.Type): void {
    for (const signature of type.getCallSignatures()) {
      const { declaration: called, parameters } = signature;
      this.#walk(signature.getReturnType());
      if (parameters.length === 0 || !isOurs(called) || this.#functions.has(called)) continue;
      this.#functions.add(called);
      this.entryPoints.set(name, declaration);
    }
  }

  /** Visits a value of a user: its methods, their return values, and its properties. */
  #walk(type: ts.Type): void {
    if (this.#walked.has(type)) return;
    this.#walked.add(type);
    if (type.isUnionOrIntersection()) for (const part of type.types) this.#walk(part);
    // The value of a Promise, the items of an iterable.
    if (isReference(type)) for (const part of this.#checker.getTypeArguments(type)) this.#walk(part);
    for (const property of this.#checker.getPropertiesOfType(type)) {
      const [declaration] = property.declarations ?? [];
      if (!isOurs(declaration)) continue;
      const held = this.#checker.getNonNullableType(this.#checker.getTypeOfSymbol(property));
      this.#call(`${type.aliasSymbol?.name ?? type.symbol?.name}.${property.name}`, declaration, held);
      this.#walk(held);
    }
  }
}

function isReference(type: ts.Type): type is ts.TypeReference {
  return "target" in type;
}

const sources = join(repository, "src").replaceAll("\\", "/");
const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;

/** Declared in this package and public. */
function isOurs<D extends ts.Declaration>(declaration: D | undefined): declaration is D {
  if (declaration === undefined || !declaration.getSourceFile().fileName.startsWith(sources)) return false;
  const name = ts.getNameOfDeclaration(declaration);
  return (
    !(name && ts.isPrivateIdentifier(name)) &&
    (ts.getCombinedModifierFlags(declaration) & hidden) === 0 &&
    !ts.getJSDocTags(declaration).some(({ tagName }) => tagName.text === "internal")
  );
}
