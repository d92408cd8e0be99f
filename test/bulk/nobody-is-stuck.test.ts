import type { AudienceClient, BulkRequest, V1Contact } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { play, type Step } from "./night-table.ts";

/** A rule, the nights, the ends of the row, and the consents at the service. */
type Case = readonly [rule: string, steps: readonly Step[], ends: string, people: string];

const cases: Case[] = [
  [
    "subscribes again by another process, after the service had superseded the row",
    ["ada:+", "person ada:-", "ada:+", "tool ada:+", "ada:+"],
    "succeeded superseded succeeded",
    "ada:+",
  ],
  [
    "subscribes again by another process, after another call had superseded the row",
    ["ada:+", "call ada:-", "ada:+", "tool ada:+", "ada:+"],
    "succeeded superseded succeeded",
    "ada:+",
  ],
  [
    "subscribes again by a call of the client, after another call had superseded the row",
    ["ada:+", "call ada:-", "ada:+", "call ada:+", "ada:+"],
    "succeeded superseded succeeded",
    "ada:+",
  ],
  [
    "is no longer suppressed",
    ["ada:+", "tool ada:+.s", "ada:+", "tool ada:+.x", "ada:+"],
    "succeeded superseded succeeded",
    "ada:+",
  ],
  [
    "opts out by telephone on the night on which the service supersedes the row, and has no other opt-in later",
    ["ada:++", "person ada:-", "ada:+-", "ada:.-", "ada:.- (unchanged)"],
    "succeeded superseded succeeded skipped",
    "ada:--",
  ],
  [
    "opts out again after the service had superseded the row, which left the consent to it",
    ["ada:-", "ada:?", "tool ada:+", "ada:-"],
    "succeeded superseded succeeded",
    "ada:-",
  ],
  [
    "opts out by a row whose other contact had refused",
    ["ada:+ bob:-", "person ada:-", "ada:+ bob:-", "tool bob:+", "bob:-"],
    "succeeded superseded succeeded",
    "ada:- bob:-",
  ],
  [
    "answers the mail of a double opt-in late",
    ["ada:+ (double opt-in)", "ada:+ (double opt-in)", "ada confirms", "ada:+ (double opt-in)"],
    "succeeded succeeded succeeded",
    "ada:+",
  ],
  [
    "subscribes in the user's own table, after the service had superseded the row",
    ["ada:+", "person ada:-", "ada:+", "ada:-", "ada:+"],
    "succeeded superseded succeeded succeeded",
    "ada:+",
  ],
  [
    "subscribes in the user's own table, and the first night of it fails",
    ["ada:-", "ada:+ (refused)", "ada:+ (unchanged)", "ada:+"],
    "succeeded failed succeeded succeeded",
    "ada:+",
  ],
  [
    "subscribes in the user's own table, and several nights of it fail",
    ["ada:0", "ada:+ (refused)", "ada:+ (refused)", "ada:+ (refused)", "ada:+"],
    "succeeded failed failed failed succeeded",
    "ada:+",
  ],
  [
    "changes the address after the service had superseded the row, and subscribes again",
    ["ada:+", "person ada:-", "ada2:+", "tool ada:+", "ada2:+"],
    "succeeded superseded succeeded",
    "ada2:+",
  ],
];

describe("A person is not stuck who", () => {
  it.each(cases)("%s", async (_, steps, ends, people) => {
    expect(await play(steps)).toMatchObject({ ends, people: expect.stringContaining(people) });
  });

  it("answers the mail of a double opt-in late, at a service that shows NON_SUBSCRIBED until then", async () => {
    const send = ({ v1 }: AudienceClient, contact: V1Contact, request: BulkRequest) => {
      const stated = { ...contact, email_opt_in: "SUBSCRIBED", double_opt_in: true } as const;
      return v1.customers.upsert(stated, request);
    };

    const played = await play(["ada:+", "ada:+", "ada confirms", "ada:+"], {
      send,
      variants: { doubleOptIn: "pending" },
    });

    expect(played.ends).toBe("succeeded succeeded succeeded");
  });

  it("has no channel shown, as a service shows few fields", async () => {
    const played = await play(["ada:++", "ada:++"], { variants: { profileAttributes: "documented" } });

    expect(played).toMatchObject({ ends: "succeeded succeeded", looks: "0 1", people: "ada:++" });
  });
});

describe("A direct call brings a person back at once", () => {
  it.each<Case>([
    [
      "and the unchanged row stays superseded, which changes nothing of it",
      ["ada:+", "person ada:-", "ada:+", "tool ada:+", "ada:+ (unchanged)", "ada:+"],
      "succeeded superseded superseded succeeded",
      "ada:+",
    ],
    [
      "during the night on which it comes",
      ["early call ada:-", "ada:0 (absent)", "early call ada:+", "ada:+"],
      "superseded succeeded",
      "ada:+",
    ],
  ])("%s", async (_, steps, ends, people) => {
    expect(await play(steps)).toMatchObject({ ends, people });
  });
});
