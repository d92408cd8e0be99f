import type { RunScript, ScriptReply } from "./permit-report.ts";
import { permitScript } from "./permit-script.ts";

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

/** Sends the script's source each time: at a thousand calls an hour these few kilobytes do not matter. */
export function scriptOf(client: RedisLike, key: string): RunScript {
  const keys = ["permits", "others", "state"].map((name) => `{${key}}:${name}`);
  return async (request) => {
    // Requests and replies are JSON, independent of a client's number settings.
    const requestJson = JSON.stringify({ ...request, newData: crypto.randomUUID() });
    try {
      const reply = await ("evalSha" in client
        ? client.eval(permitScript, { keys, arguments: [requestJson] })
        : client.eval(permitScript, keys.length, ...keys, requestJson));
      // Safe: the script has written it, as the request brings it along.
      return JSON.parse(String(reply)) as ScriptReply;
    } catch (error) {
      // oxlint-disable-next-line eslint/preserve-caught-error -- it contains the command, and possibly a password.
      throw new Error(reasonOf(error));
    }
  };
}

/** The first line of an error of Redis or its client; its first word, where the line may hold a password. */
function reasonOf(error: unknown): string {
  // For a name with several addresses, Node has one error for each.
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0]);
  if (!(error instanceof Error)) return "no reason given";
  const [line = ""] = error.message.split("\n", 1);
  // A URL, a command of a client, or the arguments of one that Redis does not know.
  const reason = /:\/\/|\bauth\b|\bargs\b/i.test(line) ? line.split(" ", 1)[0]! : line;
  // The reason is part of a sentence.
  return reason.slice(0, 200).replace(/[.\s]+$/, "") || error.name;
}
