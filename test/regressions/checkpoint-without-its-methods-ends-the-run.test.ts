import { AudienceClient, ConfigurationError, type Checkpoint } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";

const complete = {
  get: () => undefined,
  set: () => undefined,
  clear: () => undefined,
  close: () => undefined,
};

it.each([
  ["nothing", undefined],
  ["null", null],
  ["an object without get", { ...complete, get: undefined }],
  ["a set that is no function", { ...complete, set: "no" }],
  ["a clear that is no function", { ...complete, clear: 5 }],
  ["an object without close", { ...complete, close: undefined }],
])(
  "A checkpoint whose open() returns %s ends the run with a ConfigurationError before a row is sent",
  async (_, opened) => {
    const mock = createMockService();
    const audience = new AudienceClient(mock.clientOptions);
    // A program in JavaScript can pass this.
    const checkpoint = { open: async () => opened } as unknown as Checkpoint;
    const run = audience.bulk(
      [{ email: "a@example.com" }],
      (row, request) => audience.v1.customers.upsert(row, request),
      {
        checkpoint,
      },
    );

    const failure: unknown = await run.summary().catch((error: unknown) => error);

    expect(failure).toBeInstanceOf(ConfigurationError);
    expect((failure as ConfigurationError).message).toBe(
      "`open` of the checkpoint must return { get, set, clear, close }.",
    );
    expect(mock.requests).toEqual([]);
  },
);
