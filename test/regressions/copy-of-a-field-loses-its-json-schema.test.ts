import { v1ContactFieldsSchema, v2IdentifierSchema } from "audience-sdk/schemas";
import { describe, expect, it } from "vitest";
import * as z from "zod";

// `.describe()`, `.refine()` and `.extend()` make copies: only the original kept its JSON schema.
describe("A copy of a field shows the same JSON schema as the field", () => {
  it.each<[string, z.ZodType]>([
    ["a text", v1ContactFieldsSchema.shape.first_name.unwrap()],
    ["an e-mail address", v1ContactFieldsSchema.shape.email.unwrap()],
    ["a string or a number", v2IdentifierSchema.shape.id],
    ["a date-time", v2IdentifierSchema.shape.consent.shape.createdAt],
  ])("%s", (_, field) => {
    const shown = z.toJSONSchema(field);

    expect(Object.keys(shown).length).toBeGreaterThan(1);
    expect(z.toJSONSchema(field.refine(() => true))).toEqual(shown);
    expect(z.toJSONSchema(field.describe("of the form"))).toEqual({ ...shown, description: "of the form" });
  });
});
