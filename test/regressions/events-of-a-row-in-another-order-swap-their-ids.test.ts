import type { BulkRequest } from "audience-sdk";
import { expect, it } from "vitest";
import { collectRun, createFixture, key, LoggedCheckpoint, row, type Row } from "../bulk/fixture.ts";

it("an event of a row keeps its id when the row's other events come in another order after a kill", async () => {
  const { audience, mock } = createFixture();
  const checkpoint = new LoggedCheckpoint();
  const sendAll = (names: string[]) => async (item: Row, request: BulkRequest) => {
    for (const eventName of names)
      await audience.v1.events.send({ eventName, contact: { email: item.email } }, request);
  };
  await audience.bulk([row(0)], sendAll(["welcomed"]), { checkpoint, key });
  // As if the process had been killed after the first event.
  for (const [name, value] of checkpoint.values)
    if (name.startsWith("row:")) checkpoint.values.set(name, value.replace("succeeded ", "sent "));

  const { results } = await collectRun(
    audience.bulk([row(0)], sendAll(["ordered", "welcomed"]), { checkpoint, key }),
  );

  expect(results).toMatchObject([{ status: "succeeded" }]);
  const { events } = mock.organization("mock-organization");
  expect(events.map(({ eventName }) => eventName)).toEqual(["welcomed", "ordered"]);
});
