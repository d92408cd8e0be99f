import { RateLimiter } from "audience-sdk";
import { redisRateLimitStore } from "audience-sdk/redis";
import { expect, it } from "vitest";

/** The reason in the error of a call whose Redis client throws `reason`. */
async function reasonFor(reason: unknown): Promise<string> {
  const fails = () => Promise.reject(reason);
  const store = redisRateLimitStore({ evalsha: fails, eval: fails }, { onUnavailable: "reject" });
  const ended = await Promise.resolve(new RateLimiter({ store }).acquire()).catch((error: unknown) => error);
  return (ended as Error).message.replace("No permit. The rate limit store is unavailable: ", ""); // every error of the limiter is an Error
}

const nameless = Object.assign(new Error(""), { name: "ClientClosedError" });

it.each([
  [
    "the message of the error",
    new Error("connect ECONNREFUSED 127.0.0.1:6379"),
    "connect ECONNREFUSED 127.0.0.1:6379.",
  ],
  ["a string", "Connection is closed.", "Connection is closed."],
  ["the message without its full stops", new Error("Connection is closed... "), "Connection is closed."],
  ["only the first line", new Error("NOAUTH\nEVALSHA 0123"), "NOAUTH."],
  ["the name of an error without a message", nameless, "ClientClosedError."],
  [
    "the message of the first error, if several addresses failed",
    new AggregateError([new Error("ECONNREFUSED ::1")]),
    "ECONNREFUSED ::1.",
  ],
  ["the name of an empty AggregateError", new AggregateError([]), "AggregateError."],
  ["no reason, if the error is undefined", undefined, "no reason given."],
  [
    "a URL without its user and password",
    new Error("at rediss://user:pa@ss@host:1/0"),
    "at rediss://host:1/0.",
  ],
  [
    "a URL at the start of the message without its user and password",
    new Error("redis://:pass@host is no address; nor is https://user@host"),
    "redis://host is no address; nor is https://host.",
  ],
  [
    "a command without its arguments, also without a comma before them",
    new Error("ERR unknown command 'x' with args beginning with: 'pass'"),
    "ERR unknown command 'x'.",
  ],
  [
    "a command without its arguments",
    new Error("ERR unknown command, with args beginning with: 'pass'"),
    "ERR unknown command.",
  ],
  ["no text after AUTH", new Error("ERR AUTH pass word"), "ERR AUTH …."],
  ["a word that only begins like AUTH", new Error("not authorized"), "not authorized."],
  ["200 characters", new Error("x".repeat(200)), `${"x".repeat(200)}.`],
  ["at most 200 characters", new Error("x".repeat(201)), `${"x".repeat(200)}….`],
])("the reason why Redis is unavailable is %s", async (_, reason, words) => {
  expect(await reasonFor(reason)).toBe(words);
});
