import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { AudienceClient, type Fetch } from "audience-sdk";
import { createMockService, type MockService } from "audience-sdk/mock";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { night } from "../../examples/recipes/nightly/night.ts";
import { MemoryTable, temporaryFolder } from "./fixture.ts";

const [ada, bo] = ["ada@example.com", "bo@example.com"];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.spyOn(console, "log").mockImplementation(() => undefined);
});

function passHours(hours: number): void {
  vi.setSystemTime(Date.now() + hours * 3_600_000);
}

/** Both are in the table and subscribed, and were sent by a first night. */
async function begin() {
  const mock = createMockService();
  const folder = mkdtempSync(join(temporaryFolder(), "job-"));
  const table = new MemoryTable();
  for (const email of [ada, bo]) table.setConsent(email, "SUBSCRIBED");
  const run = async (fetch: Fetch = mock.fetch) => {
    passHours(23);
    const audience = new AudienceClient({ ...mock.clientOptions, fetch, maxRetries: 0 });
    await night(audience, table, folder);
  };
  await run();
  const written = () => mock.requests.flatMap(({ method, body }) => (method === "POST" ? [body] : []));
  const consents = () => {
    const { contacts } = mock.organization("mock-organization");
    const service = Object.fromEntries(contacts.map(({ email, email_opt_in }) => [email, email_opt_in]));
    return { table: table.consents(), service };
  };
  /** A fetch after whose first response this happens: a page, as the night begins with them. */
  const afterPage = (happens: () => Promise<unknown> | void): Fetch => {
    let isFirst = true;
    return async (url, init) => {
      const response = await mock.fetch(url, init);
      if (isFirst) await happens();
      isFirst = false;
      return response;
    };
  };
  return { mock, table, run, written, consents, afterPage };
}

/** Somebody subscribes on the website: a process of its own, as a function is the key of one alone. */
async function subscribes(
  { mock, table }: { mock: MockService; table: MemoryTable },
  email = ada,
): Promise<void> {
  passHours(0.1);
  table.setConsent(email, "SUBSCRIBED");
  const website = new AudienceClient({ ...mock.clientOptions, apiKey: () => mock.clientOptions.apiKey });
  await website.v1.customers.upsert({ email, email_opt_in: "SUBSCRIBED" });
  passHours(0.1);
}

describe("A night of the recipe beside a website", () => {
  it("sends the table, and again only what has changed", async () => {
    const { table, run, written } = await begin();
    table.setCity(ada, "Basel");

    await run();

    const row = { email: ada, city: "Bern", email_opt_in: "SUBSCRIBED" };
    expect(written()).toEqual([row, { ...row, email: bo }, { ...row, city: "Basel" }]);
  });

  it("leaves who is new since the read to the next night, as she may have left again", async () => {
    const job = await begin();
    const { mock, run, consents, afterPage } = job;
    const cy = "cy@example.com";
    const comesAndLeaves = async () => {
      await subscribes(job, cy);
      mock.unsubscribe(cy);
    };

    await run(afterPage(comesAndLeaves));

    expect(consents().service).toMatchObject({ [cy]: "UNSUBSCRIBED" });
    expect(mock.resubscriptions).toEqual([]);
    await run();
    expect(consents().table).toMatchObject({ [cy]: "UNSUBSCRIBED" });
  });

  it("leaves its second pass to the next night, where the first took over a day", async () => {
    const { mock, table, run, written } = await begin();
    table.setCity(ada, "Basel");

    await run(async (url, init) => {
      const response = await mock.fetch(url, init);
      if (init.method === "POST") {
        table.setCity(bo, "Bonn"); // after the rows of the first pass were read
        passHours(89);
      }
      return response;
    });
    expect(written().slice(2)).toMatchObject([{ city: "Basel" }]);
    await run();

    expect(written().slice(3)).toMatchObject([{ city: "Bonn" }]);
  });

  type Begun = Awaited<ReturnType<typeof begin>>;
  // What happens before the last night, and the fetch of that night, during which more may happen. The weeks of test/properties
  // play who leaves at the service.
  it.each<[string, (job: Begun) => Promise<Fetch | void> | Fetch | void, word: string]>([
    [
      "keeps the opt-out of a website whose call failed, although the page that was read before shows her opt-in",
      ({ table, afterPage }) => afterPage(() => table.setConsent(ada, "UNSUBSCRIBED")),
      "UNSUBSCRIBED",
    ],
    [
      "keeps the opt-in of a website, although the page that was read before shows her refusal",
      (job) => {
        job.mock.unsubscribe(ada);
        return job.afterPage(() => subscribes(job));
      },
      "SUBSCRIBED",
    ],
    [
      "does not end an opt-in of the website by a row that was read before",
      (job) => {
        const { table } = job;
        table.setConsent(ada, "UNSUBSCRIBED");
        vi.spyOn(table, "all").mockImplementationOnce(async () => {
          const rows = await Promise.all([ada, bo].map((email) => table.get(email)));
          await subscribes(job);
          return rows.flatMap((row) => row ?? []);
        });
      },
      "SUBSCRIBED",
    ],
    [
      "sends an opt-out again that it has sent before, where she has subscribed by the website between",
      async (job) => {
        job.table.setConsent(ada, "UNSUBSCRIBED");
        await job.run();
        await subscribes(job);
        job.table.setConsent(ada, "UNSUBSCRIBED");
      },
      "UNSUBSCRIBED",
    ],
  ])("%s", async (_, happens, word) => {
    const job = await begin();

    await job.run((await happens(job)) ?? job.mock.fetch);

    const consents = { [ada]: word, [bo]: "SUBSCRIBED" };
    expect(job.consents()).toEqual({ table: consents, service: consents });
  });
});
