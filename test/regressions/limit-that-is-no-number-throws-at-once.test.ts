import { AudienceClient, ValidationError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";

it.each([[5n], [Symbol("limit")], [{ valueOf: () => expect.fail("is asked") }]])(
  "a limit of a list that is no number (%s) rejects with its page, and is never asked for its value",
  async (limit) => {
    const mock = createMockService();
    const { v1 } = new AudienceClient(mock.clientOptions);

    // As a caller without types may.
    const list = v1.customers.list({ limit: limit as unknown as number });

    expect(await failureOf(list)).toBeInstanceOf(ValidationError);
    expect(mock.requests).toEqual([]);
  },
);
