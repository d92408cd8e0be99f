import { v2ContactSchema } from "audience-sdk/schemas";
import { describe, expect, it } from "vitest";
import { verdict } from "../schemas/judge.ts";

const hostile = () => {
  throw new Error("hands off");
};
const identifier = {
  type: "email",
  id: "ada@example.com",
  channels: { email: { status: "subscribed" } },
  consent: { createdAt: "2026-01-31T09:30:00Z", ip: "192.0.2.1", source: "form" },
};

describe("An identifier of the wrong kind that throws when it is read has its issue, and nothing escapes safeParse", () => {
  it.each([
    ["a proxy of an array", new Proxy([], { get: hostile })],
    ["a Date", Object.defineProperty(new Date(0), "type", { get: hostile })],
    ["a Map", Object.defineProperty(new Map(), "type", { get: hostile })],
  ])("%s", (_, value) => {
    const contact = { firstName: "Ada", listIds: [], identifiers: [identifier, value] };
    expect(verdict(v2ContactSchema, contact)).toEqual(["identifiers.1 invalid_type"]);
  });

  it("and so have channels", () => {
    const channels = Object.defineProperty(new Map(), "email", { get: hostile });
    const contact = { firstName: "Ada", listIds: [], identifiers: [{ ...identifier, channels }] };
    expect(verdict(v2ContactSchema, contact)).toContain("identifiers.0.channels invalid_type");
  });
});
