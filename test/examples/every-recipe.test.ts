import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AudienceClient, isAudienceError, write } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import {
  ClickUndone,
  everyClick,
  everyFault,
  type EveryClickOptions,
  type MockService,
} from "audience-sdk/mock";
import { readSnapshot } from "audience-sdk/snapshot";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { sendRows } from "../../examples/demo/send-rows.ts";
import { CsvRow } from "../../examples/exports/csv-row.ts";
import { night } from "../../examples/recipes/nightly/night.ts";
import { MemoryTable } from "../snapshot/fixture.ts";
import { csv, mapOf, newsletter, runOnMock } from "./importer-fixture.ts";

const [ada, bo] = ["ada@example.com", "bo@example.com"];
const table = [
  { email: ada, email_opt_in: "SUBSCRIBED" as const },
  { email: bo, email_opt_in: "UNSUBSCRIBED" as const },
];
const list = { id: "readers", name: "Readers" };
const owner = { id: "shop", apiKeys: ["mock-key-of-a-shop"], appId: "mock-app", lists: [list] };
const organizations = [
  { ...owner, contacts: table.map(({ email }) => ({ email, email_opt_in: "SUBSCRIBED" as const })) },
];

let root: string;
beforeAll(async () => void (root = await mkdtemp(join(tmpdir(), "every-recipe-"))));
afterAll(() => rm(root, { recursive: true }));
const newFolder = () => mkdtemp(join(root, "run-"));

/** A job that ends with an error of the package is started again, as a crontab or a person does. */
async function untilDone(job: () => Promise<boolean>): Promise<void> {
  for (let turn = 1; turn <= 3; turn += 1)
    try {
      if (await job()) return;
    } catch (error) {
      if (!isAudienceError(error)) throw error;
    }
  throw new Error("three turns were not enough");
}

/** Who of these people is subscribed again, if she leaves at the service at some moment of the job. */
async function undonePeople(
  job: (mock: MockService) => Promise<unknown>,
  { people, ...options }: EveryClickOptions & { people: readonly string[] },
): Promise<string[]> {
  const undone: string[] = [];
  for (const person of people)
    await everyClick(job, { ...options, people: [person] }).catch((error: unknown) => {
      if (!(error instanceof ClickUndone) || error.entry === undefined) throw error;
      undone.push(person);
    });
  return undone;
}

async function bulkNights(mock: MockService, cities: readonly string[], hasSnapshot: boolean): Promise<void> {
  const folder = await newFolder();
  for (const city of cities)
    await untilDone(async () => {
      await using audience = new AudienceClient(mock.clientOptions);
      using snapshot = hasSnapshot
        ? await readSnapshot(audience, { file: join(folder, "audience.ndjson") })
        : undefined;
      const { failed, unknown } = await audience.bulk(
        table,
        (row) => write.v1.contactGroups.addContact(list.id, { ...row, city }),
        { key: ({ email }) => email, checkpoint: fileCheckpoint(join(folder, "nightly.ckpt")), snapshot },
      );
      return failed + unknown === 0;
    });
}

async function importNight(mock: MockService, hasSnapshot: boolean): Promise<void> {
  const folder = await newFolder();
  const path = await csv(folder, "people.csv", "Email,Newsletter", `${ada},yes`, `${bo},no`);
  await mapOf(path, { Email: "email", Newsletter: newsletter });
  const snapshot = join(folder, "audience.ndjson");
  await untilDone(async () => {
    await using audience = new AudienceClient(mock.clientOptions);
    if (hasSnapshot) (await readSnapshot(audience, { file: snapshot })).close();
    const options = ["--list", list.id, "--resume", join(folder, "ckpt")];
    const { code } = await runOnMock(mock, [
      path,
      ...options,
      ...(hasSnapshot ? ["--snapshot", snapshot] : []),
    ]);
    return code === 0;
  });
}

async function demoTour(mock: MockService): Promise<void> {
  await using audience = new AudienceClient(mock.clientOptions);
  const rows = table.map((contact, index) => ({
    file: "people.csv",
    number: index + 2,
    contact,
    source: new CsvRow({ number: index + 2, headings: ["Email"], cells: [contact.email] }),
  }));
  const { signal } = new AbortController();
  await untilDone(async () => {
    const { failed } = await sendRows(rows, {
      audience,
      listId: list.id,
      signal,
      onRowDone: () => undefined,
    });
    return failed.length === 0;
  });
}

async function nightlyJob(mock: MockService): Promise<void> {
  const folder = await newFolder();
  const people = new MemoryTable();
  for (const { email, email_opt_in } of table) people.setConsent(email, email_opt_in);
  // A row that failed is sent by the next night.
  for (let turn = 1; turn <= 2; turn += 1)
    await untilDone(async () => {
      await using audience = new AudienceClient(mock.clientOptions);
      await night(audience, people, folder);
      return true;
    });
}

// The outbox is tried so in test/recipes, the importer's two nights in importer-refusals.
const recipes: {
  name: string;
  job: (mock: MockService) => Promise<void>;
  undone: string[];
  isListed: boolean;
}[] = [
  { name: "a nightly job beside a website", job: nightlyJob, undone: [], isListed: false },
  {
    name: "bulk with a snapshot",
    job: (mock) => bulkNights(mock, ["Bern", "Basel"], true),
    undone: [],
    isListed: true,
  },
  // Nothing is known of her but what the row says.
  {
    name: "the first night of bulk without one",
    job: (mock) => bulkNights(mock, ["Bern"], false),
    undone: [ada],
    isListed: true,
  },
  { name: "an import with --snapshot", job: (mock) => importNight(mock, true), undone: [], isListed: true },
  {
    name: "the first import without one",
    job: (mock) => importNight(mock, false),
    undone: [ada],
    isListed: true,
  },
  { name: "the demo", job: demoTour, undone: [ada], isListed: true },
];

describe.each(recipes)("The recipe $name", ({ job, undone, isListed }) => {
  it(`subscribes ${undone.length} of those again who leave at the service, at whatever moment`, async () => {
    vi.spyOn(console, "log").mockReturnValue();
    expect(await undonePeople(job, { people: [ada, bo], mock: { organizations } })).toEqual(undone);
  });

  it("loses no row and doubles nothing, whatever single fault it meets", async () => {
    for (const level of ["log", "error"] as const) vi.spyOn(console, level).mockReturnValue();
    await everyFault(
      async (mock) => {
        await job(mock);
        const { contacts, memberships, events, consentHistory } = mock.organization(owner.id);
        const consents = contacts.map(({ email, email_opt_in }) => ({ email, email_opt_in }));
        expect(new Set(consents)).toEqual(new Set(table));
        expect(memberships).toHaveLength(isListed ? table.length : 0);
        expect(new Set(events.map(({ uniqueIdentifier }) => uniqueIdentifier)).size).toBe(events.length);
        expect(consentHistory.filter(({ to }) => to === "SUBSCRIBED")).toHaveLength(1);
      },
      { mock: { organizations: [owner] } },
    );
  });
});
