import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";

it("A loop that is left while the checkpoint reads the next row ends without an error", async () => {
  const audience = new AudienceClient(createMockService().clientOptions);
  const values = new Map<string, string | undefined>();
  let cutOff: (error: Error) => void = () => undefined;
  let isAsked: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => (isAsked = resolve));
  const checkpoint = {
    open: async () => ({
      get: (key: string) => {
        if (key === "row:bob@example.com") isAsked();
        if (key === "row:bob@example.com") return new Promise<never>((_, reject) => (cutOff = reject));
        return values.get(key);
      },
      set: (key: string, value: string | undefined) => void values.set(key, value),
      clear: () => values.clear(),
      // As a database does whose connection ends.
      close: () => cutOff(new Error("the connection is closed")),
    }),
  };
  const rows = ["ada", "bob", "eve"].map((name) => ({
    email: `${name}@example.com`,
    email_opt_in: "SUBSCRIBED" as const,
  }));
  const run = audience.bulk(rows, (row, request) => audience.v1.customers.upsert(row, request), {
    checkpoint,
    key: ({ email }) => email,
  });

  const statuses: string[] = [];
  for await (const { status } of run) {
    statuses.push(status);
    await asked;
    break;
  }

  expect(statuses).toEqual(["succeeded"]);
});
