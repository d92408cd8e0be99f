import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";

it.each(['{"email":{"statuses":["UNSUBSCR', '{"email":5}', "null"])(
  "A record of a consent that is damaged (%s) ends the run, and its contact is not subscribed again",
  async (damaged) => {
    const mock = createMockService();
    const audience = new AudienceClient(mock.clientOptions);
    const values = new Map([
      ["run", JSON.stringify({ id: "run-1", number: 1, isKeyed: true })],
      ["consent:email:ada@example.com", damaged],
    ]);
    const checkpoint = {
      open: async () => ({
        get: (key: string) => values.get(key),
        set: (key: string, value: string | undefined) =>
          void (value ? values.set(key, value) : values.delete(key)),
        clear: () => values.clear(),
        close: () => undefined,
      }),
    };

    const run = audience.bulk(
      [{ email: "ada@example.com", email_opt_in: "SUBSCRIBED" as const }],
      (row, request) => audience.v1.customers.upsert(row, request),
      { checkpoint, key: ({ email }) => email },
    );

    const error = await failureOf(run.summary());
    expect(error).toMatchObject({ code: "configuration" });
    expect(error.message).toContain("no valid record of a consent");
    expect(mock.requests).toEqual([]);
  },
);
