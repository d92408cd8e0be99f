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
export interface ScriptRunner {
  byHash(sha: string, keys: string[], argument: string): Promise<unknown>;
  byText(text: string, keys: string[], argument: string): Promise<unknown>;
}

/** Tells the two packages apart by a method's name: `evalSha` of `redis`, `evalsha` of `ioredis`. */
export function scriptRunner(client: RedisLike): ScriptRunner {
  if ("evalSha" in client) {
    return {
      byHash: (sha, keys, argument) => client.evalSha(sha, { keys, arguments: [argument] }),
      byText: (text, keys, argument) => client.eval(text, { keys, arguments: [argument] }),
    };
  }
  return {
    byHash: (sha, keys, argument) => client.evalsha(sha, keys.length, ...keys, argument),
    byText: (text, keys, argument) => client.eval(text, keys.length, ...keys, argument),
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
