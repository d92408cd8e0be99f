import type ts from "typescript";
import { entrySources, exportsOf } from "./entry-sources.ts";

export interface ExportedNames {
  /** The exports that exist at run time. */
  readonly values: readonly string[];
  /** The exports that only the compiler knows. */
  readonly types: readonly string[];
}

/** The exports of each entry: the values from the runtime, the types from the compiler. */
export async function exportedNames(program: ts.Program): Promise<Record<string, ExportedNames>> {
  const surface: Record<string, ExportedNames> = {};
  for (const [entry, source] of Object.entries(entrySources)) {
    const module: object = await import(source);
    const values = Object.keys(module).sort();
    const names = [...exportsOf(program, source).keys()];
    surface[entry] = { values, types: names.filter((name) => !values.includes(name)) };
  }
  return surface;
}
