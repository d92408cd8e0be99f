/** The SHA-256 of a text, as bytes, by Web Crypto. */
async function digest(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

/** The SHA-256 of a text, in hexadecimal digits. */
export async function sha256(text: string): Promise<string> {
  return [...(await digest(text))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** 96 bits of it, in base64url: the probability that two of a million texts have the same is 6 in 10^18. */
export async function shortHash(text: string): Promise<string> {
  const bytes = (await digest(text)).subarray(0, 12);
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_");
}
