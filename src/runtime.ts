interface RuntimeGlobals {
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
export function ofRuntime<Feature>(read: (globals: RuntimeGlobals) => Feature): Feature | undefined {
  try {
    return read(globalThis);
  } catch {
    return undefined;
  }
}

/** A random UUID. Browsers have no `crypto.randomUUID` on a page without TLS, unless it is on loopback (D161). */
export function randomUuid(): string {
  // Safe: the type of the DOM knows secure pages alone.
  const { randomUUID } = crypto as Partial<Crypto>;
  if (randomUUID !== undefined) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  // Version 4, variant 1 (RFC 9562).
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
