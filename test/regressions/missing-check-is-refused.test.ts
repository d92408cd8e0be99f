import { AudienceClient } from "audience-sdk";
import { v1ContactSchema } from "audience-sdk/schemas";
import { expect, it } from "vitest";

it.each([
  ["undefined", undefined],
  ["an object", v1ContactSchema],
])("bulk.check with %s as its check is refused, and no row is checked", async (kind, check) => {
  const { bulk } = new AudienceClient({ baseUrl: "https://api.example.com" });
  const rows = [{ email: "ada@example.com" }];
  // A caller in JavaScript can pass this.
  await expect(bulk.check(rows, check as unknown as () => { success: true })).rejects.toMatchObject({
    code: "configuration",
    message: `The check of bulk.check must be a function, not ${kind}.`,
  });
});
