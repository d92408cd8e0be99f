import { AudienceClient, ConfigurationError, type Checkpoint } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it } from "vitest";

const complete = { id: "import", stateOf: () => undefined, record: () => undefined, close: () => undefined };

it.each([
  ["nothing", undefined],
  ["null", null],
  ["an object without stateOf", { ...complete, stateOf: undefined }],
  ["a record that is no function", { ...complete, record: "no" }],
  ["an id that is no text", { ...complete, id: 5 }],
])(
  "A checkpoint that opens as %s ends the run before a row is sent, with an error of ours",
  async (_, opened) => {
    const mock = createMockService();
    const audience = new AudienceClient(mock.clientOptions);
    // As a program without types would give it.
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
    expect((failure as ConfigurationError).message).toMatch(/^`open` of the checkpoint must give .*stateOf/);
    expect(mock.requests).toEqual([]);
  },
);
