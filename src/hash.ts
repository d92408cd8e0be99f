import { ConfigurationError } from "./errors.ts";
import { ofRuntime } from "./runtime.ts";

/**
 * The SHA-256 of a text, as bytes: by the hash of Node, as a digest of Web Crypto takes ten times as long; elsewhere by Web
 * Crypto, which every runtime has but a page on an insecure origin (D161).
 */
async function digest(text: string): Promise<Uint8Array> {
  const nodeCrypto = ofRuntime(({ process }) => process?.getBuiltinModule?.("node:crypto"));
  // Safe: Node's own module.
  if (nodeCrypto)
    return (nodeCrypto as typeof import("node:crypto")).createHash("sha256").update(text).digest();
  // Safe: the type of the DOM knows secure pages alone.
  if ((crypto as Partial<Crypto>).subtle === undefined)
    throw new ConfigurationError(
      "A checkpoint needs crypto.subtle, which browsers have only on pages with https: or on loopback.",
    );
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

/** The SHA-256 of a text, in hexadecimal digits. */
export async function sha256(text: string): Promise<string> {
  return [...(await digest(text))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** 96 bits of the SHA-256, in base64url: the probability that two of a million texts have the same hash is 6 in 10^18. */
export async function shortHash(text: string): Promise<string> {
  const bytes = (await digest(text)).subarray(0, 12);
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_");
}
