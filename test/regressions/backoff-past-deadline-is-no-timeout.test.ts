import { AudienceClient, ServerError, TimeoutError } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";
import { failureOf } from "../transport/failure.ts";

it("A backoff that would pass deadlineMs is a TimeoutError at once, with the failure as its cause", async () => {
  const mock = createMockService({ faults: [{ kind: "500-before" }] });
  const audience = new AudienceClient(mock.clientOptions);

  const error = await failureOf(
    audience.v1.events.send({ eventName: "e", contact: { email: "a@b" } }, { deadlineMs: 100 }),
  );

  expect(error).toBeInstanceOf(TimeoutError);
  expect(error).toMatchObject({ timeoutMs: 100, outcome: "unknown", request: { attempts: 1 } });
  expect(error.message).toBe("The call's next attempt would begin after its deadline of 100 ms.");
  expect(error.cause).toBeInstanceOf(ServerError);
  expect(mock.requests).toHaveLength(1);
});
