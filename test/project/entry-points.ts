import { join } from "node:path";
import ts from "typescript";
import { entrySources, exportsOf } from "./entry-sources.ts";
import { publicSurface } from "./public-surface.ts";
import { repository } from "./source-files.ts";

/** The declaration of each function with parameters, by its name: `V1Customers.upsert`, `new ApiError`. */
export type EntryPoints = ReadonlyMap<string, ts.Declaration>;

/**
 * Every function, constructor and method with parameters that a user reaches from the exports of the entries, also through
 * their return values. Functions that a user writes (a hook, a checkpoint) are excluded, because the package calls them.
 */
export function entryPoints(program: ts.Program): EntryPoints {
  const finder = new EntryPointFinder(program.getTypeChecker());
  for (const [entry, source] of Object.entries(entrySources)) {
    const names = publicSurface[entry]?.values ?? [];
    for (const [name, symbol] of exportsOf(program, source)) if (names.includes(name)) finder.enter(symbol);
  }
  return finder.entryPoints;
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
