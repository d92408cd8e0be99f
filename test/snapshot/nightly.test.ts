import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { AudienceClient, type Fetch } from "audience-sdk";
import { createMockService, everyClick, type MockService } from "audience-sdk/mock";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { night } from "../../examples/recipes/nightly/night.ts";
import { failingFrom, MemoryTable, temporaryFolder } from "./fixture.ts";

const [ada, bo] = ["ada@example.com", "bo@example.com"];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.spyOn(console, "log").mockImplementation(() => undefined);
});
afterEach(() => void vi.useRealTimers());

function passHours(hours: number): void {
  vi.setSystemTime(Date.now() + hours * 3_600_000);
}

/** Both are in the table and subscribed, and were sent by a first night. */
async function begin(mock = createMockService(), hoursBetween = 23) {
  const folder = mkdtempSync(join(temporaryFolder(), "job-"));
  const table = new MemoryTable();
  for (const email of [ada, bo]) table.setConsent(email, "SUBSCRIBED");
  const run = async (fetch: Fetch = mock.fetch) => {
    passHours(hoursBetween);
    const audience = new AudienceClient({ ...mock.clientOptions, fetch, maxRetries: 0 });
    await night(audience, table, folder);
  };
  await run();
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
  return { mock, table, run, consents, afterPage };
}

/** Ada subscribes again on the website: a process of its own, as a function is the key of one alone. */
async function returns(mock: MockService, table: MemoryTable): Promise<void> {
  passHours(0.1);
  table.setConsent(ada, "SUBSCRIBED");
  const website = new AudienceClient({ ...mock.clientOptions, apiKey: () => mock.clientOptions.apiKey });
  await website.v1.customers.upsert({ email: ada, email_opt_in: "SUBSCRIBED" });
}

const both = (consents: Record<string, string>) => ({ table: consents, service: consents });

describe("A night of the recipe beside a website", () => {
  it("sends the table, and again only what has changed", async () => {
    const { mock, table, run } = await begin();
    table.setCity(ada, "Basel");

    await run();

    const written = mock.requests.flatMap(({ method, body }) => (method === "POST" ? [body] : []));
    const row = { email: ada, city: "Bern", email_opt_in: "SUBSCRIBED" };
    expect(written).toEqual([row, { ...row, email: bo }, { ...row, city: "Basel" }]);
  });

  it("takes over who has left at the service, although her row does not change", async () => {
    const { mock, run, consents } = await begin();
    mock.unsubscribe(ada);

    await run();

    expect(consents()).toEqual(both({ [ada]: "UNSUBSCRIBED", [bo]: "SUBSCRIBED" }));
  });

  it("takes over who has left at the service between the page and her row", async () => {
    const { mock, table, run, consents, afterPage } = await begin();
    table.setCity(ada, "Basel");

    await run(afterPage(() => mock.unsubscribe(ada)));

    expect(consents()).toEqual(both({ [ada]: "UNSUBSCRIBED", [bo]: "SUBSCRIBED" }));
  });

  it("keeps the opt-out of a website whose call failed, although the page that was read before shows her opt-in", async () => {
    const { table, run, consents, afterPage } = await begin();

    await run(afterPage(() => table.setConsent(ada, "UNSUBSCRIBED")));

    expect(consents()).toEqual(both({ [ada]: "UNSUBSCRIBED", [bo]: "SUBSCRIBED" }));
  });

  it("keeps the opt-in of a website, although the page that was read before shows her refusal", async () => {
    const { mock, table, run, consents, afterPage } = await begin();
    mock.unsubscribe(ada);

    await run(afterPage(() => returns(mock, table)));

    expect(consents()).toEqual(both({ [ada]: "SUBSCRIBED", [bo]: "SUBSCRIBED" }));
  });

  it("does not end an opt-in of the website by a row that was read before", async () => {
    const { mock, table, run, consents } = await begin();
    table.setConsent(ada, "UNSUBSCRIBED");
    vi.spyOn(table, "all").mockImplementationOnce(async () => {
      const rows = await Promise.all([ada, bo].map((email) => table.get(email)));
      await returns(mock, table);
      return rows.flatMap((row) => row ?? []);
    });

    await run();

    expect(consents()).toEqual(both({ [ada]: "SUBSCRIBED", [bo]: "SUBSCRIBED" }));
  });

  it("takes over who has left since a read that was cut off the night before", async () => {
    const { mock, run, consents } = await begin();
    // One contact a page: hers is the first.
    const pages = async (url: string, init: RequestInit) =>
      await mock.fetch(url.replace("limit=100", "limit=1"), init);
    await expect(run(failingFrom(2, pages))).rejects.toThrow("The connection to");
    mock.unsubscribe(ada);

    await run(pages);

    expect(consents()).toEqual(both({ [ada]: "UNSUBSCRIBED", [bo]: "SUBSCRIBED" }));
  });

  it("takes over who has left, come back by the website and left again since the last night", async () => {
    const { mock, table, run, consents } = await begin();
    mock.unsubscribe(ada);
    await run();
    await returns(mock, table);
    mock.unsubscribe(ada);

    await run();

    expect(consents()).toEqual(both({ [ada]: "UNSUBSCRIBED", [bo]: "SUBSCRIBED" }));
  });

  it("sends an opt-out again that it has sent before, where she has subscribed by the website between", async () => {
    const { mock, table, run, consents } = await begin();
    table.setConsent(ada, "UNSUBSCRIBED");
    await run();
    await returns(mock, table);
    table.setConsent(ada, "UNSUBSCRIBED");

    await run();

    expect(consents()).toEqual(both({ [ada]: "UNSUBSCRIBED", [bo]: "SUBSCRIBED" }));
  });
});

it("The recipe for a nightly job subscribes nobody again, whenever she leaves at the service", async () => {
  const { requests, runs } = await everyClick(async (mock: MockService) => {
    const { table, run } = await begin(mock, 0.001);
    table.setCity(ada, "Basel");
    table.setCity(bo, "Basel");
    await run();
  });

  expect({ requests, runs }).toEqual({ requests: 8, runs: 1 + 2 * 10 });
});
