import type { ScriptRunner } from "./redis-like.ts";

/** A script that Redis is sent once: from then on it is called by its hash. */
export class Script {
  readonly #text: string;
  #sha: Promise<string> | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** Runs it, in whatever memory Redis has: after a restart it is sent again. */
  async run(runner: ScriptRunner, keys: string[], argument: string): Promise<unknown> {
    this.#sha ??= hashOf(this.#text);
    const sha = await this.#sha;
    try {
      return await runner.byHash(sha, keys, argument);
    } catch (error) {
      if (!isUnknownScript(error)) throw error;
      return runner.byText(this.#text, keys, argument);
    }
  }
}

/** The name under which Redis keeps a script: its SHA-1. Made as every runtime can, without `node:crypto`. */
async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("NOSCRIPT");
}
