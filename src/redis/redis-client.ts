import { hasMethods } from "../values/predicates.ts";
import { permitScript, type ScriptRequest } from "./permit-script.ts";

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
  return hasMethods(client, "eval") && (hasMethods(client, "evalSha") || hasMethods(client, "evalsha"));
}

/** Runs the script on the data of one budget; rejects with an error whose message may be shown. */
export type RunScript = (request: ScriptRequest) => Promise<unknown>;

/** Sends its source each time: at a thousand calls an hour these few kilobytes do not matter. */
export function scriptOf(client: RedisLike, key: string): RunScript {
  const keys = ["permits", "others", "state"].map((name) => `{${key}}:${name}`);
  return async (request) => {
    // Requests and replies are JSON, independent of a client's number settings.
    const argument = JSON.stringify({ ...request, newData: crypto.randomUUID() });
    try {
      return await ("evalSha" in client
        ? client.eval(permitScript, { keys, arguments: [argument] })
        : client.eval(permitScript, keys.length, ...keys, argument));
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
