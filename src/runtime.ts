interface Globals {
  readonly process?: {
    readonly versions?: Readonly<Record<string, string | undefined>>;
    readonly env?: Readonly<Record<string, string | undefined>>;
    readonly getBuiltinModule?: (name: string) => unknown;
  };
  readonly navigator?: { readonly userAgent?: string };
  readonly window?: { readonly document?: unknown };
}

/**
 * A feature of the runtime; undefined where it is missing or forbidden. Deno throws where a permission is missing
 * (`--allow-env`), the edge runtime of Next.js at every function of `process`.
 */
export function ofRuntime<Feature>(read: (globals: Globals) => Feature): Feature | undefined {
  try {
    return read(globalThis);
  } catch {
    return undefined;
  }
}
