import { join } from "node:path";
import { type AudienceClient, type BulkOptions, type V1Contact, write } from "audience-sdk";
import type { MockServiceOptions } from "audience-sdk/mock";
import { readSnapshot } from "audience-sdk/snapshot";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { v2Contact } from "../bulk/fixture.ts";
import { createAudience } from "./fixture.ts";

type Row = V1Contact & { email: string };
type ClientOptions = NonNullable<ConstructorParameters<typeof AudienceClient>[0]>;

const subscribed = (index: number, fields: Partial<Row> = {}): Row => ({
  email: `Person-${index}@example.com`,
  email_opt_in: "SUBSCRIBED",
  ...fields,
});
const organization = "acme";

/** An audience of three, a snapshot of it, and runs over its rows. */
async function job(options: MockServiceOptions = {}) {
  const made = createAudience(3, options);
  made.mock.unsubscribe("id-1", { organization, channel: "email" });
  const snapshot = await readSnapshot(made.audience, { file: made.file });
  onTestFinished(() => snapshot.close());
  const run = async (rows: Row[], bulkOptions: BulkOptions<Row> = {}, clientOptions: ClientOptions = {}) => {
    const ends: unknown[] = [];
    const audience = made.client(clientOptions);
    const toWrite = (row: Row) => write.v1.customers.upsert(row);
    for await (const { index, kept, reason, status } of audience.bulk(rows, toWrite, {
      snapshot,
      ...bulkOptions,
    }))
      ends[index] = kept ?? reason ?? status;
    return ends;
  };
  /** A snapshot of what the list shows of these contacts. */
  const shown = async (...data: object[]) =>
    await readSnapshot(made.client({ fetch: async () => Response.json({ data }) }), {
      file: join(made.folder, "shown.ndjson"),
      organization,
    });
  return { ...made, snapshot, run, shown };
}

it.each([
  ["a channel that the look does not show", { email_opt_in: null }],
  ["a channel that the look shows by a word that is not documented", { email_opt_in: "OPTED_OUT" }],
  ["an address that the contact no longer has", { email: "moved@example.com" }],
])("A refusal of the snapshot stands for %s", async (_, shownNow) => {
  const { mock, run } = await job();
  const fetch: ClientOptions["fetch"] = async (url, init) => {
    const response = await mock.fetch(url, init);
    if (init.method !== "GET") return response;
    const profile = (await response.json()) as { data: { attributes: object } };
    Object.assign(profile.data.attributes, shownNow);
    return Response.json(profile);
  };

  expect(await run([subscribed(1)], {}, { fetch })).toEqual([{ email: "service" }]);
  expect(mock.organization(organization).contacts[1]).toMatchObject({ email_opt_in: "UNSUBSCRIBED" });
  expect(mock.resubscriptions).toEqual([]);
});

it.each([
  ["an unsubscription", { email_opt_in: "UNSUBSCRIBED" }, "snapshot"],
  ["an unsubscription in any case", { email_opt_in: "unsubscribed" }, "snapshot"],
  ["a suppression", { is_suppressed: true }, "snapshot"],
  ["a suppression that is shown as text", { is_suppressed: "true" }, "snapshot"],
  ["none of the channel of the row", { phone_opt_in: "UNSUBSCRIBED" }, "succeeded"],
  ["none, as nobody has consented", { email_opt_in: "NON_SUBSCRIBED" }, "succeeded"],
])("A refusal is known by what the list shows, where nobody can be looked up: %s", async (_, fields, end) => {
  const { client, shown } = await job();
  const ada = { id: "id-0", email: "person-0@example.com", email_opt_in: "SUBSCRIBED" };
  using snapshot = await shown({ ...ada, ...fields });
  const v2 = client({ baseUrl: undefined, baseUrlV2: "https://api2.example", appId: "app-acme" });
  expect.assertions(1);
  const toWrite = (email: string) => write.v2.contacts.upsert(v2Contact(email, "subscribed"));

  for await (const { reason, status } of v2.bulk([ada.email], toWrite, { snapshot, organization }))
    expect(reason ?? status).toBe(end);
});

describe("A run refuses a snapshot by which nobody can be judged, and sends nothing", () => {
  const dayMs = 86_400_000;
  it.each([
    ["of over a day ago", dayMs + 1_000],
    ["of a time that lies ahead", -dayMs - 1_000],
  ])("one %s", async (_, laterMs) => {
    const { run, mock } = await job();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + laterMs });
    const before = mock.requests.length;

    const ends = run([subscribed(0)]);

    await expect(ends).rejects.toMatchObject({ code: "configuration" });
    await expect(ends).rejects.toThrow(/^The snapshot was begun at .+ Read a new one/);
    expect(mock.requests.length).toBe(before);
  });

  const v2Alone = { baseUrl: undefined, baseUrlV2: "https://api2.example", appId: "a" };
  it.each<[string, ClientOptions, BulkOptions<Row>, string]>([
    [
      "another key, whatever the run names",
      { apiKey: "mock-key-globex" },
      { organization },
      "recorded with another key",
    ],
    [
      "v1, where the client has none",
      v2Alone,
      {},
      "name the organization as `organization` in `readSnapshot`, which then begins afresh, and in this run",
    ],
  ])("one of %s", async (_, clientOptions, options, message) => {
    const { run, mock } = await job();
    const before = mock.requests.length;

    await expect(run([subscribed(0)], options, clientOptions)).rejects.toThrow(message);
    expect(mock.requests.length).toBe(before);
  });

  it("one of another name; with its own it is taken", async () => {
    const { client, file, run } = await job();
    using snapshot = await readSnapshot(client(), { file, organization });

    await expect(run([subscribed(0)], { snapshot })).rejects.toThrow(
      'belongs to the organization "acme", and this run names none',
    );
    expect(await run([subscribed(0)], { snapshot, organization })).toEqual(["succeeded"]);
  });

  it("one that shows no consent, but takes an empty one", async () => {
    const { run, shown } = await job({ variants: { v1ListedConsents: false } });
    await expect(run([subscribed(0)])).rejects.toThrow("shows a consent");
    using snapshot = await shown();

    expect(await run([subscribed(0)], { snapshot, organization })).toEqual(["succeeded"]);
  });
});
