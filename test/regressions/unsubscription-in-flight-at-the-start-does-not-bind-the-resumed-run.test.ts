import { AudienceClient } from "audience-sdk";
import { createMockService } from "audience-sdk/mock";
import { expect, it, onTestFinished } from "vitest";
import { collectRun, deferred, flushEventLoop, key, LoggedCheckpoint, type Row } from "../bulk/fixture.ts";

const email = "ada@example.com";
const rows: Row[] = [{ email, email_opt_in: "SUBSCRIBED" }];

it("An unsubscription that began before a run, and is in flight when the process is killed, binds the resumed run", async () => {
  const mock = createMockService();
  const checkpoint = new LoggedCheckpoint();
  const { promise: released, resolve: release } = deferred();
  onTestFinished(() => release());
  const killed = new AudienceClient({
    ...mock.clientOptions,
    fetch: async (url, init) => {
      const response = await mock.fetch(url, init);
      await released;
      return response;
    },
  });
  const unsubscription = killed.v1.customers.upsert({ email, email_opt_in: "UNSUBSCRIBED" });
  unsubscription.catch(() => undefined);
  const upserts = ({ v1 }: AudienceClient) =>
    [(row: Row, request: object) => v1.customers.upsert(row, request), { key, checkpoint }] as const;
  collectRun(killed.bulk(rows, ...upserts(killed))).catch(() => undefined);
  // The process gets no further.
  await flushEventLoop();
  const resumed = new AudienceClient(mock.clientOptions);

  const { results } = await collectRun(resumed.bulk(rows, ...upserts(resumed)));

  expect(results).toMatchObject([{ key: email, status: "superseded" }]);
  expect(mock.organization("mock-organization").contacts).toMatchObject([{ email_opt_in: "UNSUBSCRIBED" }]);
});
