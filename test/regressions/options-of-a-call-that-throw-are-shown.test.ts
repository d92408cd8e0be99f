import { AudienceClient, ConfigurationError, type CallOptions } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";

it("options of a call whose every read throws reject with a ConfigurationError that does not show what was thrown", async () => {
  const mock = createMockService();
  const { v1 } = new AudienceClient(mock.clientOptions);
  const hostile = () => {
    throw new Error("thrown by the input");
  };

  const error = await failureOf(v1.customers.get("c-1", new Proxy<CallOptions>({}, { get: hostile })));

  expect(error).toBeInstanceOf(ConfigurationError);
  expect(error.message).toBe("The call's options cannot be read: a getter or a proxy throws.");
  expect(mock.requests).toEqual([]);
});
