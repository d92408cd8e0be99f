import { type AudienceClient, type BulkOptions, ConfigurationError, type V1Contact } from "audience-sdk";
import type { MockServiceOptions } from "audience-sdk/mock";
import { readSnapshot } from "audience-sdk/snapshot";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { MemoryCheckpoint } from "../bulk/memory-checkpoint.ts";
import { createAudience } from "./fixture.ts";

type Row = V1Contact & { email: string };
type ClientOptions = NonNullable<ConstructorParameters<typeof AudienceClient>[0]>;

const subscribed = (index: number, fields: Partial<Row> = {}): Row => ({
  email: `Person-${index}@example.com`,
  email_opt_in: "SUBSCRIBED",
  ...fields,
});

/** An audience of three, a snapshot of it, and runs over its rows. */
async function job(
  happens: (mock: ReturnType<typeof createAudience>["mock"]) => void,
  options: MockServiceOptions = {},
) {
  const made = createAudience(3, options);
  happens(made.mock);
  const snapshot = await readSnapshot(made.audience, { file: made.file });
  onTestFinished(() => snapshot.close());
  /** Of the rows that were held back. */
  const messages: string[] = [];
  const run = async (
    rows: readonly Row[],
    bulkOptions: BulkOptions<Row> = {},
    clientOptions: ClientOptions = {},
  ) => {
    const audience = made.client(clientOptions);
    const results: string[] = [];
    const call = (row: Row, request: object) => audience.v1.customers.upsert(row, request);
    for await (const result of audience.bulk(rows, call, { snapshot, ...bulkOptions })) {
      const isHeld = result.status === "superseded";
      results[result.index] = isHeld ? `superseded by ${result.reason}` : result.status;
      if (isHeld && result.error) messages.push(result.error.message);
    }
    return results;
  };
  const optIns = () => made.mock.organization("acme").contacts.map(({ email_opt_in }) => email_opt_in);
  return { ...made, snapshot, run, messages, optIns };
}

const organization = "acme";
const unsubscribe = (mock: ReturnType<typeof createAudience>["mock"]) =>
  mock.unsubscribe("id-1", { organization, channel: "email" });
const held = "superseded by snapshot";

describe("A snapshot holds back the opt-ins of contacts that it shows as refused", () => {
  it("without a checkpoint", async () => {
    const { run, messages, optIns } = await job(unsubscribe);

    expect(await run([subscribed(0), subscribed(1), subscribed(2)])).toEqual([
      "succeeded",
      held,
      "succeeded",
    ]);
    expect(messages).toEqual([
      "The snapshot shows that the contact has refused: the row was not sent, or not sent again.",
    ]);
    expect(optIns()).toEqual(["SUBSCRIBED", "UNSUBSCRIBED", "SUBSCRIBED"]);
  });

  it("on the first night of a checkpoint, and unchanged on the next at no cost", async () => {
    const { run, mock } = await job(unsubscribe);
    const options = { key: ({ email }: Row) => email, checkpoint: new MemoryCheckpoint() };

    expect(await run([subscribed(0), subscribed(1)], options)).toEqual(["succeeded", held]);
    const before = mock.requests.length;
    expect(await run([subscribed(0), subscribed(1)], { ...options, snapshot: undefined })).toEqual([
      "skipped",
      held,
    ]);
    expect(mock.requests.length).toBe(before);
  });

  it("changed, it waits until its own consent changes", async () => {
    const { run, optIns } = await job(unsubscribe);
    const options = { key: ({ email }: Row) => email, checkpoint: new MemoryCheckpoint() };
    await run([subscribed(1)], options);

    const changed = await run([subscribed(1, { city: "Ulm" })], { ...options, snapshot: undefined });
    const refused = await run([subscribed(1, { email_opt_in: "UNSUBSCRIBED" })], options);

    expect([changed, refused]).toEqual([[held], ["succeeded"]]);
    expect(optIns()[1]).toBe("UNSUBSCRIBED");
  });

  it.each([
    [
      "an unsubscription from the phone",
      { phone_opt_in: "UNSUBSCRIBED" },
      subscribed(1, { phone: "+49171000", phone_opt_in: "SUBSCRIBED" }),
    ],
    ["a suppression", { is_suppressed: true }, subscribed(1)],
    ["a suppression that is shown as text", { is_suppressed: "true" }, subscribed(1)],
    ["a suppression that is shown as a number", { is_suppressed: 1 }, subscribed(1)],
    [
      "an unsubscription, where the row leaves the channel to the service",
      { email_opt_in: "UNSUBSCRIBED" },
      { email: "person-1@example.com" },
    ],
    ["a suppression that the row lifts", { is_suppressed: true }, subscribed(1, { is_suppressed: false })],
  ] as const)("by %s", async (_, shown, row) => {
    const { client, file, mock, run } = await job(() => {});
    const data = [{ id: "id-1", email: "person-1@example.com", email_opt_in: "SUBSCRIBED", ...shown }];
    using snapshot = await readSnapshot(client({ fetch: async () => Response.json({ data }) }), { file });
    const before = mock.requests.length;

    expect(await run([row], { snapshot })).toEqual([held]);
    expect(mock.requests.length).toBe(before);
  });

  it.each([
    ["an opt-out", subscribed(1, { email_opt_in: "UNSUBSCRIBED" })],
    ["a suppression", { email: "person-1@example.com", email_opt_in: "UNSUBSCRIBED", is_suppressed: true }],
    ["somebody whom it does not know", subscribed(7)],
    [
      "somebody whom it shows as NON_SUBSCRIBED",
      subscribed(2, { phone: "+491710000002", phone_opt_in: "SUBSCRIBED" }),
    ],
  ] as const)("and never %s", async (_, row) => {
    const { run } = await job(unsubscribe);

    expect(await run([row])).toEqual(["succeeded"]);
  });

  it("knows a contact by its phone too", async () => {
    const { run } = await job(unsubscribe);
    const row = { email: "other@example.com", email_opt_in: "SUBSCRIBED", phone: "+49 171 0000001" } as const;

    expect(await run([row])).toEqual([held]);
  });

  it("of two contacts that a row may mean, one refusal is enough", async () => {
    const { run } = await job(unsubscribe);

    expect(await run([subscribed(0, { phone: "+491710000001", phone_opt_in: "NON_SUBSCRIBED" })])).toEqual([
      held,
    ]);
  });
});

describe("A snapshot and what is recorded", () => {
  it("a row whose id is known is looked up at the service instead", async () => {
    const { run, mock, optIns } = await job(() => {});
    const options = { key: ({ email }: Row) => email, checkpoint: new MemoryCheckpoint() };
    await run([subscribed(1)], { ...options, snapshot: undefined });
    unsubscribe(mock);

    expect(await run([subscribed(1, { city: "Ulm" })], options)).toEqual(["superseded by service"]);
    expect(optIns()[1]).toBe("UNSUBSCRIBED");
  });

  it("a row whose id is known is sent if the service shows that the person has come back since", async () => {
    const { client, file, run, audience, mock, optIns } = await job(() => {});
    const options = { key: ({ email }: Row) => email, checkpoint: new MemoryCheckpoint() };
    await run([subscribed(1)], { ...options, snapshot: undefined });
    unsubscribe(mock);
    using snapshot = await readSnapshot(client(), { file });
    await audience.v1.customers.upsert(subscribed(1));

    expect(await run([subscribed(1, { city: "Ulm" })], { ...options, snapshot })).toEqual(["succeeded"]);
    expect(mock.organization("acme").contacts[1]).toMatchObject({ city: "Ulm" });
    expect(optIns()[1]).toBe("SUBSCRIBED");
  });

  it("without looks a row whose id is known is judged, too", async () => {
    const { client, file, run, mock, optIns } = await job(() => {});
    const options = {
      key: ({ email }: Row) => email,
      checkpoint: new MemoryCheckpoint(),
      checkConsent: false,
    };
    await run([subscribed(1)], { ...options, snapshot: undefined });
    unsubscribe(mock);
    using snapshot = await readSnapshot(client(), { file });

    expect(await run([subscribed(1, { city: "Ulm" })], { ...options, snapshot })).toEqual([
      "superseded by snapshot",
    ]);
    expect(optIns()[1]).toBe("UNSUBSCRIBED");
  });

  it("a row of v2 is held back each night, and its own opt-out is no refusal of the person", async () => {
    const { client, file, audience, mock } = await job(() => {});
    const v2 = client({ baseUrlV2: "https://api2.example", appId: "app-acme" });
    const checkpoint = new MemoryCheckpoint();
    const night = async (status: "subscribed" | "unsubscribed", city: string) => {
      using snapshot = await readSnapshot(audience, { file });
      const consent = { createdAt: "2026-01-01T00:00:00Z", ip: "10.0.0.1", source: "form" };
      const row = { firstName: "Ada", city, listIds: [], email: "person-1@example.com" };
      const results: string[] = [];
      const run = v2.bulk(
        [row],
        ({ email, ...contact }, request) =>
          v2.v2.contacts.upsert(
            {
              ...contact,
              identifiers: [{ type: "email", id: email, channels: { email: { status } }, consent }],
            },
            request,
          ),
        { key: ({ email }) => email, fingerprint: (each) => [each, status], checkpoint, snapshot },
      );
      for await (const end of run) results.push(end.status === "superseded" ? end.reason : end.status);
      return results.join();
    };

    expect(await night("subscribed", "Ulm")).toBe("succeeded");
    mock.unsubscribe("id-1", { organization, channel: "email" });
    expect(await night("subscribed", "Bonn")).toBe("snapshot");
    expect(await night("unsubscribed", "Bonn")).toBe("succeeded");
    expect(await night("subscribed", "Bonn")).toBe("succeeded");
    expect(mock.organization("acme").contacts[1]?.email_opt_in).toBe("SUBSCRIBED");
  });

  it("a suppression of its own is no refusal of the person", async () => {
    const { client, file, run } = await job(() => {});
    const options = { key: ({ email }: Row) => email, checkpoint: new MemoryCheckpoint() };
    // Add-to-list and upsert give an id; a response without one leaves the row to the snapshot.
    const nameless = {
      fetch: async () =>
        Response.json(
          { data: { type: "profile", id: "person-1@example.com", attributes: {} } },
          { status: 201 },
        ),
    };
    await run([subscribed(1, { is_suppressed: true })], { ...options, snapshot: undefined }, nameless);
    const data = [
      { id: "id-1", email: "person-1@example.com", email_opt_in: "SUBSCRIBED", is_suppressed: true },
    ];
    using snapshot = await readSnapshot(client({ fetch: async () => Response.json({ data }) }), { file });

    expect(
      await run([subscribed(1, { is_suppressed: false })], { ...options, snapshot, checkConsent: false }),
    ).toEqual(["succeeded"]);
  });

  it("a channel that it does not show is named once", async () => {
    const warn = vi.fn();
    const { client, file, run } = await job(() => {});
    const data = [0, 1].map((index) => ({
      id: `id-${index}`,
      email: `person-${index}@example.com`,
      is_suppressed: false,
    }));
    using snapshot = await readSnapshot(client({ fetch: async () => Response.json({ data }) }), { file });

    const ends = await run(
      [subscribed(0), subscribed(1)],
      { snapshot },
      { logger: { debug: warn, info: warn, warn, error: warn } },
    );

    expect(ends).toEqual(["succeeded", "succeeded"]);
    const lines = warn.mock.calls.map(([line]) => String(line));
    expect(lines.filter((line) => line.includes("does not show the consent of email"))).toHaveLength(1);
  });
});

describe("A run refuses a snapshot by which nobody can be judged, and sends nothing", () => {
  const dayMs = 86_400_000;
  it.each([
    ["of over a day ago", dayMs + 1_000],
    ["of a time that lies ahead", -dayMs - 1_000],
  ])("one %s", async (_, laterMs) => {
    const { run, mock } = await job(() => {});
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + laterMs });
    onTestFinished(() => void vi.useRealTimers());
    const before = mock.requests.length;

    const ends = run([subscribed(0)]);

    await expect(ends).rejects.toThrow(ConfigurationError);
    await expect(ends).rejects.toThrow(/^The snapshot was read at .+ Read a new one/);
    expect(mock.requests.length).toBe(before);
  });

  it.each([
    [
      "another service",
      { baseUrl: "https://staging.example" },
      {},
      "The snapshot belongs to another service",
    ],
    ["another key", { apiKey: "mock-key-globex" }, {}, "The snapshot was recorded with another key"],
    [
      "another key, whatever the run names",
      { apiKey: "mock-key-globex" },
      { organization },
      "recorded with another key",
    ],
    [
      "v1, where the client has none",
      { baseUrl: undefined, baseUrlV2: "https://api2.example", appId: "a" },
      {},
      "was recorded with v1",
    ],
  ])("one of %s", async (_, clientOptions, options, message) => {
    const { client, snapshot, mock } = await job(() => {});
    const audience = client(clientOptions);
    const before = mock.requests.length;

    const run = audience.bulk([subscribed(0)], async () => {}, { snapshot, ...options });

    await expect(run.summary()).rejects.toThrow(message);
    expect(mock.requests.length).toBe(before);
  });

  it("one of another name; with its own it is taken", async () => {
    const { client, file, run } = await job(() => {});
    using snapshot = await readSnapshot(client(), { file, organization });

    await expect(run([subscribed(0)], { snapshot })).rejects.toThrow(
      'belongs to the organization "acme", and this run names none',
    );
    expect(await run([subscribed(0)], { snapshot, organization })).toEqual(["succeeded"]);
  });

  it("one that shows no consent", async () => {
    const { run } = await job(() => {}, { variants: { v1ListedConsents: false } });

    await expect(run([subscribed(0)])).rejects.toThrow("shows a consent");
  });

  it("but an empty one is taken", async () => {
    const { client, file, run } = await job(() => {});
    using snapshot = await readSnapshot(client({ fetch: async () => Response.json({ data: [] }) }), { file });

    expect(await run([subscribed(0)], { snapshot })).toEqual(["succeeded"]);
  });

  it("something else than a snapshot", async () => {
    const { audience } = await job(() => {});
    // Safe: the test gives what the compiler refuses.
    const options = { snapshot: "audience.ndjson" } as unknown as BulkOptions<Row>;

    expect(() => audience.bulk([subscribed(0)], async () => {}, options)).toThrow(
      "snapshot must be a snapshot",
    );
  });
});
