import { expect, it } from "vitest";
import { createFixture, key, rows } from "../bulk/fixture.ts";

it("a checkpoint may give null for a key that it does not have, as Redis and SQL do", async () => {
  const { audience, mock, upsert } = createFixture();
  const values = new Map<string, string>();
  const checkpoint = {
    open: async () => ({
      // Safe: only the compiler forbids it.
      get: (name: string) => (values.get(name) ?? null) as string | undefined,
      set: (name: string, value: string | undefined) =>
        void (value === undefined ? values.delete(name) : values.set(name, value)),
      clear: () => values.clear(),
      close: () => undefined,
    }),
  };

  const nights = [
    await audience.bulk(rows(2), upsert, { checkpoint, key }),
    await audience.bulk(rows(2), upsert, { checkpoint, key }),
  ];

  expect(nights).toMatchObject([{ succeeded: 2 }, { skipped: 2 }]);
  expect(mock.requests).toHaveLength(2);
});
