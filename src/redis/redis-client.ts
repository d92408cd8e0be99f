import type { AcquireReply, PermitScripts, ScriptReply, ScriptRequest } from "./permit-scripts.ts";
import { acquireScript, releaseScript } from "./scripts.ts";

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

/** Runs scripts with either client. */
interface ScriptRunner {
  byHash(sha: string, keys: string[], argument: string): Promise<unknown>;
  bySource(source: string, keys: string[], argument: string): Promise<unknown>;
}

/** Distinguishes the two packages by a method's name: `evalSha` of `redis`, `evalsha` of `ioredis`. */
function scriptRunner(client: RedisLike): ScriptRunner {
  if ("evalSha" in client) {
    return {
      byHash: (sha, keys, argument) => client.evalSha(sha, { keys, arguments: [argument] }),
      bySource: (source, keys, argument) => client.eval(source, { keys, arguments: [argument] }),
    };
  }
  return {
    byHash: (sha, keys, argument) => client.evalsha(sha, keys.length, ...keys, argument),
    bySource: (source, keys, argument) => client.eval(source, keys.length, ...keys, argument),
  };
}

/** Whether a value has the methods of either package. */
export function isRedisLike(client: unknown): client is RedisLike {
  return hasMethod(client, "eval") && (hasMethod(client, "evalSha") || hasMethod(client, "evalsha"));
}

function hasMethod(client: unknown, name: string): boolean {
  try {
    // Throws if it is not an object.
    return typeof Reflect.get(client as object, name) === "function";
  } catch {
    // Not an object, or a proxy that throws.
    return false;
  }
}

/** The two scripts in Redis; each is atomic. */
export function redisScripts(client: RedisLike, key: string): PermitScripts {
  const runner = scriptRunner(client);
  const keys = [`{${key}}:permits`, `{${key}}:state`];
  const [acquire, release] = [script(acquireScript), script(releaseScript)];
  // Requests and replies are JSON, independent of a client's number settings. `ScriptCalls` validates the replies.
  const run = async (execute: Script, request: ScriptRequest): Promise<unknown> => {
    const argument = JSON.stringify({ ...request, newEpoch: crypto.randomUUID() });
    const reply = await execute(runner, keys, argument).catch((error: unknown) => {
      // Not the error itself: it contains the command, and possibly a password.
      throw new Error(errorMessage(error));
    });
    return JSON.parse(String(reply));
  };
  return {
    // Safe: `ScriptCalls` validates the replies.
    acquire: async (request) => (await run(acquire, request)) as AcquireReply,
    release: async (request) => (await run(release, request)) as ScriptReply,
  };
}

type Script = (runner: ScriptRunner, keys: string[], argument: string) => Promise<unknown>;

/** Sends a script once, then calls it by its hash. Sends it again if Redis has lost it. */
function script(source: string): Script {
  let sha: Promise<string> | undefined;
  return async (runner, keys, argument) => {
    sha ??= sha1(source);
    try {
      return await runner.byHash(await sha, keys, argument);
    } catch (error) {
      if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
      return runner.bySource(source, keys, argument);
    }
  };
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
  const shown = readMessage(error)
    .replace(/\n.*/s, "")
    .replace(/:\/\/\S*@/g, "://")
    .replace(/,? with args beginning with.*/i, "")
    .replace(/\b(auth)\b.*/i, "$1 …")
    // The message is part of a sentence.
    .replace(/[.\s]+$/, "");
  return shown.length > maxLength ? `${shown.slice(0, maxLength)}…` : shown;
}

function readMessage(error: unknown): string {
  try {
    return messageOf(error);
  } catch {
    return "no reason given";
  }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === "string" ? error : "no reason given";
  if (error.message !== "") return error.message;
  // For a name with several addresses, Node has one error for each.
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  return error.name;
}
