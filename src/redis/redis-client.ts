import { acquireScript, releaseScript } from "./lua-scripts.ts";
import type { PermitScripts, ScriptRequest } from "./script-protocol.ts";

/** The used methods of `ioredis`: its client and its cluster have them. */
export interface IoredisLike {
  /** Runs a script by its hash; rejects if Redis does not know it. */
  evalsha(sha: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
  /** Runs a script, and caches it in Redis. */
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
}

/** The used methods of `redis`: its client, pool and cluster have them. */
export interface NodeRedisLike {
  /** Runs a script by its hash; rejects if Redis does not know it. */
  evalSha(sha: string, input: { keys: string[]; arguments: string[] }): Promise<unknown>;
  /** Runs a script, and caches it in Redis. */
  eval(script: string, input: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** A Redis client of either package; it must be connected, or connect by itself. */
export type RedisLike = IoredisLike | NodeRedisLike;

/** Whether a value has the methods of either package. */
export function isRedisLike(client: unknown): client is RedisLike {
  return hasMethod(client, "eval") && (hasMethod(client, "evalSha") || hasMethod(client, "evalsha"));
}

function hasMethod(client: unknown, name: string): boolean {
  return typeof client === "object" && client !== null && typeof Reflect.get(client, name) === "function";
}

/** The two scripts in Redis; each is atomic. */
export function redisScripts(client: RedisLike, key: string): PermitScripts {
  const keys = [`{${key}}:permits`, `{${key}}:state`];
  // Safe: `ScriptCalls` validates the replies.
  return {
    acquire: script(client, acquireScript, keys) as PermitScripts["acquire"],
    release: script(client, releaseScript, keys) as PermitScripts["release"],
  };
}

/** A script that is called by its hash, and sent if Redis does not know it. */
function script(client: RedisLike, source: string, keys: string[]) {
  let sha: Promise<string> | undefined;
  return async (request: ScriptRequest): Promise<unknown> => {
    sha ??= sha1(source);
    // Requests and replies are JSON, independent of a client's number settings.
    const argument = JSON.stringify({ ...request, newEpoch: crypto.randomUUID() });
    const reply = await run(client, true, await sha, keys, argument)
      .catch((error: unknown) => {
        if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
        return run(client, false, source, keys, argument);
      })
      .catch((error: unknown) => {
        // Not the error itself: it contains the command, and possibly a password.
        throw new Error(errorMessage(error));
      });
    return JSON.parse(String(reply));
  };
}

/** The two packages differ in a method's name, `evalSha` of `redis` and `evalsha` of `ioredis`, and in the arguments. */
async function run(client: RedisLike, isHash: boolean, text: string, keys: string[], argument: string) {
  return "evalSha" in client
    ? await client[isHash ? "evalSha" : "eval"](text, { keys, arguments: [argument] })
    : await client[isHash ? "evalsha" : "eval"](text, keys.length, ...keys, argument);
}

/** Without `node:crypto`, which some runtimes lack. */
async function sha1(source: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(source));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const maxLength = 200;

/**
 * The message of an error of Redis or its client, without the parts that could contain a password: user info in a URL,
 * the arguments of a command, and the text after AUTH.
 */
function errorMessage(error: unknown): string {
  const shown = messageOf(error)
    .replace(/\n.*/s, "")
    .replace(/:\/\/\S*@/g, "://")
    .replace(/,? with args beginning with.*/i, "")
    .replace(/\b(auth)\b.*/i, "$1 …")
    // The message is part of a sentence.
    .replace(/[.\s]+$/, "");
  return shown.length > maxLength ? `${shown.slice(0, maxLength)}…` : shown;
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === "string" ? error : "no reason given";
  if (error.message !== "") return error.message;
  // For a name with several addresses, Node has one error for each.
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  return error.name;
}
