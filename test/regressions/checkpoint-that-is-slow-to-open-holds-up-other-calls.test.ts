import { AbortError } from "audience-sdk";
import { expect, it } from "vitest";
import {
  collectRun,
  createFixture,
  deferred,
  LoggedCheckpoint,
  row,
  rows,
  until,
  key,
  gated,
} from "../bulk/fixture.ts";

/** A checkpoint that opens when the test says so. */
function slowCheckpoint() {
  const opened = new LoggedCheckpoint();
  const { promise, resolve: open } = deferred();
  const checkpoint = {
    open: async () => {
      await promise;
      return await opened.open();
    },
  };
  return { checkpoint, opened, open };
}

it("a consent is written while a run's checkpoint opens, and then supersedes the run's row and is recorded", async () => {
  const { audience, mock, upsert } = createFixture();
  const { checkpoint, opened, open } = slowCheckpoint();
  const ended = collectRun(audience.bulk([row(0)], upsert, { key, checkpoint }));

  await audience.v1.customers.upsert({ ...row(0), email_opt_in: "UNSUBSCRIBED" });
  open();

  expect((await ended).results).toMatchObject([{ status: "superseded" }]);
  expect(mock.requests).toHaveLength(1);
  expect(opened.values.get(`consent:email:${row(0).email}`)).toContain("UNSUBSCRIBED");
});

it("a consent that is in flight when the checkpoint opens is recorded, as it may be applied", async () => {
  const { audience, mock, upsert } = createFixture();
  const gate = gated(mock.fetch);
  const slow = audience.withOptions({ fetch: gate.fetch });
  const { checkpoint, opened, open } = slowCheckpoint();
  const ended = collectRun(audience.bulk([row(1)], upsert, { key, checkpoint }));
  const written = slow.v1.customers.upsert({ ...row(0), email_opt_in: "UNSUBSCRIBED" });

  open();
  await ended;

  expect(opened.values.get(`consent:email:${row(0).email}`)).toContain("UNSUBSCRIBED");
  gate.open();
  await written;
});

it("an abort ends a run whose checkpoint has not opened, and the checkpoint is closed when it opens", async () => {
  const { audience, mock, upsert } = createFixture();
  const { checkpoint, opened, open } = slowCheckpoint();
  const stop = new AbortController();
  const ended = collectRun(audience.bulk(rows(2), upsert, { key, checkpoint, signal: stop.signal }));

  stop.abort();

  expect((await ended).error).toBeInstanceOf(AbortError);
  open();
  await until(() => opened.log.at(-1) === "close");
  expect(mock.requests).toEqual([]);
});
