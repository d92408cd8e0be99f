import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { AudienceClient, write } from "audience-sdk";
import { fileCheckpoint } from "audience-sdk/checkpoint";
import type { MockService } from "audience-sdk/mock";
import { readSnapshot } from "audience-sdk/snapshot";
import { afterAll, beforeAll, describe, vi } from "vitest";
import { runDemo } from "../../examples/demo/demo.ts";
import { night } from "../../examples/recipes/nightly/night.ts";
import { MemoryTable } from "../snapshot/fixture.ts";
import { csv, mapOf, newsletter, runOnMock } from "./importer-fixture.ts";
import { ada, bo, list, type Recipe, table, tryEverything, untilDone } from "./try-everything.ts";

let root: string;
beforeAll(async () => void (root = await mkdtemp(join(tmpdir(), "every-recipe-"))));
afterAll(() => rm(root, { recursive: true }));
const newFolder = () => mkdtemp(join(root, "run-"));

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

/** The whole tour, on a terminal that says yes, against the service that the environment names. */
async function demoTour(mock: MockService): Promise<void> {
  const folder = await newFolder();
  await csv(
    folder,
    "people.csv",
    "Email,Klaviyo ID,Email Marketing Consent",
    `${ada},1,SUBSCRIBED`,
    `${bo},2,UNSUBSCRIBED`,
  );
  const { clientOptions, close } = await mock.listen();
  await untilDone(async () => {
    const terminal = (): PassThrough & { isTTY: true } =>
      Object.assign(new PassThrough(), { isTTY: true as const });
    const [input, output, errors] = [terminal(), terminal(), terminal()];
    input.end("y\n");
    for (const stream of [output, errors]) stream.resume();
    // It reads them at once, so that each run has its own.
    vi.stubEnv("AUDIENCE_BASE_URL", clientOptions.baseUrl);
    vi.stubEnv("AUDIENCE_API_KEY", clientOptions.apiKey);
    vi.stubEnv("AUDIENCE_RATE_LIMIT", "60x");
    const args = ["--live", "--list", list.id, "--data", folder];
    return (await runDemo({ args, input, output, errors, signal: new AbortController().signal })) === 0;
  });
  await close();
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

const leaves = { consents: { [ada]: "SUBSCRIBED", [bo]: "UNSUBSCRIBED" } };
const leavesListed = { ...leaves, listed: 2 };

// test/recipes tries what needs a framework or a server, and importer-refusals the importer's two nights.
const recipes: ({ name: string } & Recipe)[] = [
  { name: "a nightly job beside a website", job: nightlyJob, leaves, undone: [] },
  {
    name: "bulk with a snapshot",
    job: (mock) => bulkNights(mock, ["Bern", "Basel"], true),
    leaves: leavesListed,
    undone: [],
  },
  // Nothing is known of her but what the row says.
  {
    name: "the first night of bulk without one",
    job: (mock) => bulkNights(mock, ["Bern"], false),
    leaves: leavesListed,
    undone: [ada],
  },
  {
    name: "an import with --snapshot",
    job: (mock) => importNight(mock, true),
    leaves: leavesListed,
    undone: [],
  },
  {
    name: "the first import without one",
    job: (mock) => importNight(mock, false),
    leaves: leavesListed,
    undone: [ada],
  },
  { name: "the demo", job: demoTour, leaves: { ...leavesListed, events: 2 }, undone: [ada] },
];

describe.each(recipes)("The recipe $name", (recipe) => {
  tryEverything(recipe);
});
