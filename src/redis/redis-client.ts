import { errorMessage } from "./error-message.ts";
import type { AcquireReply, PermitScripts, ScriptReply, ScriptRequest } from "./permit-scripts.ts";
import { acquireScript, releaseScript } from "./scripts.ts";

/** What is asked of a client of `ioredis`: its class and its cluster fit. */
export interface IoredisLike {
  /** Runs a script that Redis knows; rejects where it does not. */
  evalsha(sha: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
  /** Runs a script, and lets Redis know it. */
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
}

/** What is asked of a client of `redis`: its client, pool and cluster fit. */
export interface NodeRedisLike {
  /** Runs a script that Redis knows; rejects where it does not. */
  evalSha(sha: string, input: { keys: string[]; arguments: string[] }): Promise<unknown>;
  /** Runs a script, and lets Redis know it. */
  eval(script: string, input: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** A client of Redis, of either package; it must be connected, or connect by itself. */
export type RedisLike = IoredisLike | NodeRedisLike;

/** One way to run scripts, whatever the client. */
interface ScriptRunner {
  byHash(sha: string, keys: string[], argument: string): Promise<unknown>;
  bySource(source: string, keys: string[], argument: string): Promise<unknown>;
}

/** Tells the two packages apart by a method's name: `evalSha` of `redis`, `evalsha` of `ioredis`. */
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
    // Throws where it is no object.
    return typeof Reflect.get(client as object, name) === "function";
  } catch {
    // Nor is a proxy that throws a client.
    return false;
  }
}

/** The two scripts in Redis, each of which does all of its work in one step. */
export function redisScripts(client: RedisLike, key: string): PermitScripts {
  const runner = scriptRunner(client);
  const keys = [`{${key}}:permits`, `{${key}}:state`];
  const [acquire, release] = [script(acquireScript), script(releaseScript)];
  // Requests and replies are JSON, so nothing hangs on how a client is set to read numbers. What a reply holds is checked
  // where it is used.
  const run = async (execute: Script, request: ScriptRequest): Promise<unknown> => {
    const argument = JSON.stringify({ ...request, newEpoch: crypto.randomUUID() });
    const reply = await execute(runner, keys, argument).catch((error: unknown) => {
      // Never the error itself: a client's errors hold the command, and so may hold a password.
      throw new Error(errorMessage(error));
    });
    return JSON.parse(String(reply));
  };
  return {
    // Safe: see above.
    acquire: async (request) => (await run(acquire, request)) as AcquireReply,
    release: async (request) => (await run(release, request)) as ScriptReply,
  };
}

type Script = (runner: ScriptRunner, keys: string[], argument: string) => Promise<unknown>;

/** A script is sent once, and from then on called by its hash: in whatever memory Redis has, as it is sent again. */
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

/** Made as every runtime can, without `node:crypto`. */
async function sha1(source: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-1", new TextEncoder().encode(source));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
