import { AudienceClient, ValidationError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";

it.each([[5n], [Symbol("limit")], [{ valueOf: () => expect.fail("is asked") }]])(
  "a list limit that is no number (%s) rejects with the first page, and is never converted",
  async (limit) => {
    const mock = createMockService();
    const { v1 } = new AudienceClient(mock.clientOptions);

    // A caller in JavaScript can pass this.
    const list = v1.customers.list({ limit: limit as unknown as number });

    expect(await failureOf(list)).toBeInstanceOf(ValidationError);
    expect(mock.requests).toEqual([]);
  },
);
