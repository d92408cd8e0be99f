import type ts from "typescript";
import { entrySources, exportsOf } from "./entry-sources.ts";

export interface ExportedNames {
  /** What is there when the program runs. */
  readonly values: readonly string[];
  /** What only the compiler knows. */
  readonly types: readonly string[];
}

/** What each entry exports: values as the runtime finds them, types as the compiler does. */
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
