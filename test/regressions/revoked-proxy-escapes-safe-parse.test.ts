import {
  v1ContactSchema,
  v1EventSchema,
  v1ListContactSchema,
  v2ContactSchema,
  v2IdentifierSchema,
  v2ListQuerySchema,
} from "audience-sdk/schemas";
import { describe, expect, test } from "vitest";
import type * as z from "zod";
import { verdict } from "../schemas/judge.ts";

const consent = { createdAt: "2026-01-31T09:30:00Z", ip: "192.0.2.1", source: "form" };
const channels = { email: { status: "subscribed" } };
const identifier = { type: "email", id: "ada@example.com", channels, consent };

const inputs: [string, z.ZodObject, Record<string, unknown>][] = [
  ["v1ContactSchema", v1ContactSchema, { email: "ada@example.com" }],
  ["v1ListContactSchema", v1ListContactSchema, { email: "ada@example.com" }],
  ["v1EventSchema", v1EventSchema, { eventName: "order", contact: { email: "ada@example.com" } }],
  ["v2ContactSchema", v2ContactSchema, { firstName: "Ada", listIds: [], identifiers: [identifier] }],
  ["v2IdentifierSchema", v2IdentifierSchema, identifier],
  ["v2ListQuerySchema", v2ListQuerySchema, {}],
];

describe.each(inputs)(
  "%s finds an issue, and the client the same, where a revoked proxy stands",
  (_, schema, input) => {
    const revoked = () => {
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      return proxy;
    };

    test.each(Object.keys(schema.shape))("for %s", (field) => {
      const [first] = verdict(schema, { ...input, [field]: revoked() });
      expect(first).toMatch(new RegExp(`^${field} `));
    });

    test("for an unknown field", () => {
      expect(verdict(schema, { ...input, unknown: revoked() })).toHaveLength(1);
    });
  },
);
