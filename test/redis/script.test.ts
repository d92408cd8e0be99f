import { createHash } from "node:crypto";
import { RateLimiter } from "audience-sdk";
import { redisRateLimitStore } from "audience-sdk/redis";
import { expect, it } from "vitest";

/** The commands for one permit, if Redis rejects every EVALSHA with `failure`. */
async function asked(failure: Error): Promise<string[]> {
  const log: string[] = [];
  const client = {
    evalsha: (sha: string) => {
      log.push(`the script named ${sha}`);
      return Promise.reject(failure);
    },
    eval: (script: string) => {
      log.push(`a script whose name is ${createHash("sha1").update(script).digest("hex")}`);
      return Promise.reject(new Error("ERR"));
    },
  };
  const store = redisRateLimitStore(client, { onUnavailable: "reject" });
  await Promise.resolve(new RateLimiter({ store }).acquire()).catch(() => {});
  return log;
}

it("a script is called by its SHA-1, and sent in full if Redis does not know it", async () => {
  const [byName, byText, ...more] = await asked(new Error("NOSCRIPT No matching script."));
  expect(byName).toMatch(/^the script named [0-9a-f]{40}$/);
  expect(byText).toBe(byName?.replace("the script named", "a script whose name is"));
  expect(more).toEqual([]);
});

it("a known script that fails is not sent in full", async () => {
  expect(await asked(new Error("READONLY You can't write against a read only replica."))).toHaveLength(1);
});
