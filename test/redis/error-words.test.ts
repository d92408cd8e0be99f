import { RateLimiter } from "audience-sdk";
import { redisRateLimitStore } from "audience-sdk/redis";
import { expect, it } from "vitest";

/** What a call is told of a client that throws this. */
async function reasonFor(reason: unknown): Promise<string> {
  const fails = () => Promise.reject(reason);
  const store = redisRateLimitStore({ evalsha: fails, eval: fails }, { onUnavailable: "reject" });
  const ended = await Promise.resolve(new RateLimiter({ store }).acquire()).catch((error: unknown) => error);
  return (ended as Error).message.replace("Not sent. The store of the rate limit is away: ", ""); // all that it throws is one
}

const nameless = Object.assign(new Error(""), { name: "ClientClosedError" });
const unreadable = Object.defineProperty(new Error(""), "name", {
  get: () => {
    throw new Error("unreadable");
  },
});

it.each([
  [
    "an error's words",
    new Error("connect ECONNREFUSED 127.0.0.1:6379"),
    "connect ECONNREFUSED 127.0.0.1:6379.",
  ],
  ["a text", "Connection is closed.", "Connection is closed."],
  ["the first line alone", new Error("NOAUTH\nEVALSHA 0123"), "NOAUTH."],
  ["an error's name, where it has no words", nameless, "ClientClosedError."],
  [
    "why the first of several addresses failed",
    new AggregateError([new Error("ECONNREFUSED ::1")]),
    "ECONNREFUSED ::1.",
  ],
  ["the name of an empty collection of errors", new AggregateError([]), "AggregateError."],
  ["nothing where its words cannot be read", unreadable, "it does not say why."],
  ["nothing where nothing was said", undefined, "it does not say why."],
  [
    "an address without what stands before its host",
    new Error("at rediss://user:pa@ss@host:1/0"),
    "at rediss://host:1/0.",
  ],
  [
    "an address that the words begin with in the same way",
    new Error("redis://:pass@host is no address; nor is https://user@host"),
    "redis://host is no address; nor is https://host.",
  ],
  [
    "a command without its arguments, also where no comma comes before",
    new Error("ERR unknown command 'x' with args beginning with: 'pass'"),
    "ERR unknown command 'x'.",
  ],
  [
    "a command without its arguments",
    new Error("ERR unknown command, with args beginning with: 'pass'"),
    "ERR unknown command.",
  ],
  ["nothing that comes after AUTH", new Error("ERR AUTH pass word"), "ERR AUTH …."],
  ["words that only begin like AUTH", new Error("not authorized"), "not authorized."],
  ["200 characters", new Error("x".repeat(200)), `${"x".repeat(200)}.`],
  ["no more than 200 characters", new Error("x".repeat(201)), `${"x".repeat(200)}….`],
])("why Redis cannot be used is told in %s", async (_, reason, words) => {
  expect(await reasonFor(reason)).toBe(words);
});
