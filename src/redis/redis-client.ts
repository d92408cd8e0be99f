import { acquireScript, releaseScript } from "./lua-scripts.ts";
import type { PermitScripts, ScriptRequest } from "./script-protocol.ts";

/** The methods by which a client or a cluster of `ioredis` is known. */
export interface IoredisLike {
  /** Not called: its name shows the package. */
  evalsha(sha: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
  /** Runs a script. */
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
}

/** The methods by which a client, a pool or a cluster of `redis` is known. */
export interface NodeRedisLike {
  /** Not called: its name shows the package. */
  evalSha(sha: string, input: { keys: string[]; arguments: string[] }): Promise<unknown>;
  /** Runs a script. */
  eval(script: string, input: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** A Redis client of either package; it must be connected, or connect by itself. */
export type RedisLike = IoredisLike | NodeRedisLike;

export function isRedisLike(client: unknown): client is RedisLike {
  return hasMethod(client, "eval") && (hasMethod(client, "evalSha") || hasMethod(client, "evalsha"));
}

function hasMethod(client: unknown, name: string): boolean {
  return typeof client === "object" && client !== null && typeof Reflect.get(client, name) === "function";
}

export function redisScripts(client: RedisLike, key: string): PermitScripts {
  const keys = [`{${key}}:permits`, `{${key}}:state`];
  // Safe: `RedisConnection` validates the replies.
  return {
    acquire: script(client, acquireScript, keys) as PermitScripts["acquire"],
    release: script(client, releaseScript, keys) as PermitScripts["release"],
  };
}

/** Sends its source each time: at a thousand calls an hour these few kilobytes do not matter. */
function script(client: RedisLike, source: string, keys: string[]) {
  return async (request: ScriptRequest): Promise<unknown> => {
    // Requests and replies are JSON, independent of a client's number settings.
    const argument = JSON.stringify({ ...request, newEpoch: crypto.randomUUID() });
    try {
      const reply = await ("evalSha" in client
        ? client.eval(source, { keys, arguments: [argument] })
        : client.eval(source, keys.length, ...keys, argument));
      return JSON.parse(String(reply));
    } catch (error) {
      // oxlint-disable-next-line eslint/preserve-caught-error -- it contains the command, and possibly a password.
      throw new Error(errorMessage(error));
    }
  };
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
