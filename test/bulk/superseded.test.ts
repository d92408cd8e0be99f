import { AudienceClient, RateLimiter, type BulkOptions, type BulkRequest } from "audience-sdk";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  collectRun,
  deferred,
  flushEventLoop,
  LoggedCheckpoint,
  row,
  rows,
  createFixture,
  until,
  type Row,
  key,
  gated,
} from "./fixture.ts";

const ada = row(0);
const organization = "mock-organization";
type World = ReturnType<typeof createFixture>;

/** An unsubscription of the contact through each call that carries consent. */
const unsubscriptions: [string, (world: World) => Promise<unknown>][] = [
  [
    "v1.customers.upsert",
    ({ audience }) => audience.v1.customers.upsert({ email: ada.email, email_opt_in: "UNSUBSCRIBED" }),
  ],
  [
    "v1.contactGroups.addContact",
    ({ audience }) =>
      audience.v1.contactGroups.addContact("mock-list", { email: ada.email, email_opt_in: "UNSUBSCRIBED" }),
  ],
  [
    "v2.contacts.upsert",
    ({ audience }) =>
      audience.v2.contacts.upsert({
        firstName: "Ada",
        listIds: [],
        identifiers: [
          {
            type: "email",
            id: ada.email,
            channels: { email: { status: "unsubscribed" } },
            consent: { createdAt: "2026-01-01T00:00:00Z", ip: "192.0.2.1", source: "preferences" },
          },
        ],
      }),
  ],
];

/** A run whose first row waits until `write` has ended, once the run has begun. */
async function runBehind<R = Row>(
  world: World,
  {
    write,
    items = [ada] as unknown as R[],
    call = (item, request) => world.upsert(item as Row, request),
    options = {},
  }: {
    write: (world: World) => Promise<unknown>;
    items?: R[];
    call?: (item: R, request: BulkRequest) => Promise<unknown>;
    options?: BulkOptions<R>;
  },
) {
  async function* source() {
    await write(world);
    yield* items;
  }
  return await collectRun(world.audience.bulk(source(), call, options));
}

const consentOf = ({ mock }: World, email = ada.email) =>
  mock.organization(organization).contacts.find((contact) => contact.email === email)?.email_opt_in;

/** A write of Ada's contact that states a consent for another address, and then for hers. */
function twoAddresses(other: string, own: string) {
  const of = (id: string, status: string) => ({
    type: "email" as const,
    id,
    channels: { email: { status } },
    consent: { createdAt: "2026-01-01T00:00:00Z", ip: "192.0.2.1", source: "preferences" },
  });
  const identifiers = [of("other@example.com", other), of(ada.email, own)];
  return ({ audience }: World) => audience.v2.contacts.upsert({ firstName: "Ada", listIds: [], identifiers });
}

describe("A row whose consent differs from one that another call of the client wrote after the run began", () => {
  it.each(unsubscriptions)("is superseded and not sent, after %s", async (_, write) => {
    const world = createFixture();

    const { results, error } = await runBehind(world, { write });

    expect(error).toBeUndefined();
    expect(results).toMatchObject([
      {
        status: "superseded",
        error: {
          code: "aborted",
          outcome: "not-sent",
          message:
            "Another call has written the contact's consent after the run began: the row was not sent, or not sent again.",
        },
      },
    ]);
    expect(world.mock.requests).toHaveLength(1);
    expect(consentOf(world)).toBe("UNSUBSCRIBED");
  });

  it.each(unsubscriptions)("is superseded by a call of a view of the client: %s", async (_, write) => {
    const world = createFixture();
    const view = { ...world, audience: world.audience.withOptions({ maxRetries: 0 }) };

    const { results } = await runBehind(world, { write: () => write(view) });

    expect(results).toMatchObject([{ status: "superseded" }]);
  });

  it.each([
    ["by phone", { phone: "+1 555 0100", phone_opt_in: "SUBSCRIBED" }, "15550100"],
    ["by e-mail in another case", { email: "ADA@example.com", email_opt_in: "SUBSCRIBED" }, undefined],
  ] as const)("is superseded after %s", async (_, item, phone) => {
    const world = createFixture();
    const write = () =>
      world.audience.v1.customers.upsert(
        phone
          ? { phone, phone_opt_in: "UNSUBSCRIBED" }
          : { email: "ada@example.com", email_opt_in: "UNSUBSCRIBED" },
      );

    const { results } = await runBehind(world, {
      write,
      items: [item],
      call: (contact, request) => world.audience.v1.customers.upsert({ ...contact }, request),
    });

    expect(results).toMatchObject([{ status: "superseded" }]);
    expect(world.mock.requests).toHaveLength(1);
  });

  it("is superseded where only the response showed that it is the same contact", async () => {
    const world = createFixture();
    const { audience } = world;
    await audience.v1.customers.upsert({ ...ada, phone: "+15550100", phone_opt_in: "SUBSCRIBED" });

    const { results } = await runBehind(world, {
      write: () =>
        audience.v1.customers.upsert({
          phone: "+15550100",
          phone_opt_in: "SUBSCRIBED",
          email_opt_in: "UNSUBSCRIBED",
        }),
    });

    expect(results).toMatchObject([{ status: "superseded" }]);
    expect(consentOf(world)).toBe("UNSUBSCRIBED");
  });

  it.each([
    [
      "an e-mail consent that is left to the service",
      (world: World, item: Row, request: BulkRequest) =>
        world.audience.v1.contactGroups.addContact(
          "mock-list",
          { email: item.email },
          { ...request, consent: "service-decides" },
        ),
    ],
    [
      "no consent at all",
      (world: World, item: Row, request: BulkRequest) =>
        world.audience.v1.customers.upsert({ email: item.email, first_name: "Ada" }, request),
    ],
  ])("is superseded with %s", async (_, call) => {
    const world = createFixture();

    const { results } = await runBehind(world, {
      write: unsubscriptions[0]![1],
      call: (item, request) => call(world, item, request),
    });

    expect(results).toMatchObject([{ status: "superseded" }]);
    expect(consentOf(world)).toBe("UNSUBSCRIBED");
  });

  it.each([
    [
      "v1.contactGroups.addContact",
      ({ audience }: World) =>
        audience.v1.contactGroups.addContact(
          "mock-list",
          { email: ada.email },
          { consent: "service-decides" },
        ),
    ],
    [
      "v1.request",
      ({ audience }: World) =>
        audience.v1.request(
          {
            method: "POST",
            path: "/api/v1/contact-groups/mock-list/contacts",
            body: { email: ada.email },
          },
          { consent: "service-decides" },
        ),
    ],
  ])("is superseded where that call left the consent to the service: %s", async (_, write) => {
    const world = createFixture();

    const { results } = await runBehind(world, { write });

    expect(results).toMatchObject([{ status: "superseded" }]);
    expect(world.mock.requests).toHaveLength(1);
  });

  it("is superseded where `is_suppressed` differs", async () => {
    const world = createFixture();

    const { results } = await runBehind(world, {
      write: ({ audience }) => audience.v1.customers.upsert({ ...ada, is_suppressed: true }),
    });

    expect(results).toMatchObject([{ status: "superseded" }]);
    expect(world.mock.organization(organization).contacts).toMatchObject([{ is_suppressed: true }]);
  });

  it("is superseded where the outcome of that call is unknown", async () => {
    const world = createFixture({ faults: [{ kind: "reset-after", times: 1 }] });
    const write = ({ audience }: World) =>
      unsubscriptions[0]![1]({ ...world, audience: audience.withOptions({ maxRetries: 0 }) }).catch(() => 0);

    const { results } = await runBehind(world, { write });

    expect(results).toMatchObject([{ status: "superseded" }]);
    expect(consentOf(world)).toBe("UNSUBSCRIBED");
  });

  it.each([
    ["SUBSCRIBED", "UNSUBSCRIBED"],
    ["UNSUBSCRIBED", "SUBSCRIBED"],
  ] as const)("is superseded after %s and then %s with an unknown outcome", async (known, unknown) => {
    const world = createFixture();
    const write = async ({ audience, mock }: World) => {
      await audience.v1.customers.upsert({ ...ada, email_opt_in: known });
      mock.addFault({ kind: "reset-before", times: 1 });
      const once = audience.withOptions({ maxRetries: 0 });
      await once.v1.customers.upsert({ ...ada, email_opt_in: unknown }).catch(() => 0);
    };

    const { results } = await runBehind(world, { write, items: [ada, row(1)] });

    expect(results.map(({ status }) => status)).toEqual(["superseded", "succeeded"]);
  });

  it("is superseded where only one of its contact's names was written", async () => {
    const world = createFixture();
    const item = { ...ada, phone: "+1 555 0100", phone_opt_in: "SUBSCRIBED" } as const;

    const { results } = await runBehind(world, { write: unsubscriptions[0]![1], items: [item] });

    expect(results).toMatchObject([{ status: "superseded" }]);
  });

  it.each([
    [
      "its phone",
      { phone: "+\u0668\u0668\u0660 \u0661\u0667\u0661\u0661 234567" },
      { phone: "8801711234567" },
    ],
    [
      "its address",
      { email: "zo\u00eb@m\u00fcnchen.example" },
      { email: "ZOE\u0308@xn--mnchen-3ya.example" },
    ],
  ])("is superseded where %s was written in another spelling", async (_, own, other) => {
    const world = createFixture();
    const write = ({ audience }: World) =>
      audience.v1.customers.upsert({ ...other, email_opt_in: "UNSUBSCRIBED", phone_opt_in: "UNSUBSCRIBED" });
    const item = { ...own, email_opt_in: "SUBSCRIBED", phone_opt_in: "SUBSCRIBED" } as const;

    const { results } = await runBehind(world, { write, items: [item] });

    expect(results).toMatchObject([{ status: "superseded" }]);
    expect(world.mock.requests).toHaveLength(1);
  });

  it("is superseded where that call stated two statuses of its channel", async () => {
    const world = createFixture();

    const { results } = await runBehind(world, { write: twoAddresses("unsubscribed", "subscribed") });

    expect(results).toMatchObject([{ status: "superseded" }]);
  });

  it("is superseded although an earlier row that agreed was sent meanwhile", async () => {
    const world = createFixture();
    const agreeing: Row = { ...ada, email_opt_in: "UNSUBSCRIBED" };

    const { results } = await runBehind(world, {
      write: unsubscriptions[0]![1],
      items: [agreeing, ada],
      options: { concurrency: 1 },
    });

    expect(results.map(({ status }) => status)).toEqual(["succeeded", "superseded"]);
  });

  it("waits for the end of that call while it is in flight", async () => {
    const world = createFixture();
    const { fetch, open } = gated(world.mock.fetch);
    const slow = world.audience.withOptions({ fetch });
    let sent: Promise<unknown> | undefined;
    const ended = runBehind(world, {
      write: async () => void (sent = unsubscriptions[0]![1]({ ...world, audience: slow })),
    });
    await until(() => sent !== undefined);

    open();

    expect((await ended).results).toMatchObject([{ status: "superseded" }]);
    expect(consentOf(world)).toBe("UNSUBSCRIBED");
  });

  it("is superseded by a row of another run", async () => {
    const world = createFixture();

    const { results } = await runBehind(world, {
      write: ({ audience, upsert }) =>
        audience.bulk([{ ...ada, email_opt_in: "UNSUBSCRIBED" } as const], upsert).summary(),
    });

    expect(results).toMatchObject([{ status: "superseded" }]);
  });

  it("is superseded although it already waited for the rate limit", async () => {
    const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 200 }] });
    const world = createFixture({}, { rateLimiter });
    await world.audience.v1.customers.list();
    const ended = collectRun(world.audience.bulk(rows(2), world.upsert, { concurrency: 1 }));
    await until(() => rateLimiter.usage().queued === 1);

    await world.audience.v1.customers.upsert({ ...row(1), email_opt_in: "UNSUBSCRIBED" });

    expect((await ended).results.map(({ status }) => status)).toEqual(["succeeded", "superseded"]);
    expect(consentOf(world, row(1).email)).toBe("UNSUBSCRIBED");
  });

  it("is counted by summary and progress, and does not end the run", async () => {
    const world = createFixture();
    const progress: unknown[] = [];
    async function* source() {
      await unsubscriptions[0]![1](world);
      yield* rows(2);
    }

    const summary = await world.audience.bulk(source(), world.upsert, {
      concurrency: 1,
      onProgress: ({ done, succeeded, superseded }) => progress.push({ done, succeeded, superseded }),
      stopWhen: () => true,
    });

    expect(summary).toMatchObject({ total: 2, succeeded: 1, superseded: 1, failed: 0 });
    expect(progress).toEqual([
      { done: 1, succeeded: 0, superseded: 1 },
      { done: 2, succeeded: 1, superseded: 1 },
    ]);
  });
});

describe("A row of several calls", () => {
  it("is superseded where one of them is, although its function continues", async () => {
    const world = createFixture();

    const { results } = await runBehind(world, {
      write: unsubscriptions[0]![1],
      call: (item, request) => world.upsert(item, request).catch(() => "gone on"),
    });

    expect(results).toMatchObject([{ status: "superseded" }]);
  });

  it("stays superseded where its calls state different consents, and neither has changed", async () => {
    const world = createFixture();
    const options = { key, checkpoint: new LoggedCheckpoint() };
    const both = async (item: Row, request: BulkRequest) => {
      await world.upsert({ ...item, email_opt_in: "NON_SUBSCRIBED" }, request).catch(() => undefined);
      await world.upsert(item, request);
    };
    const first = await runBehind(world, { write: unsubscriptions[0]![1], call: both, options });

    const second = await world.audience.bulk([{ ...ada, first_name: "Ada" }], both, options);

    expect(first.results).toMatchObject([{ status: "superseded" }]);
    expect(second).toMatchObject({ superseded: 1 });
    expect(consentOf(world)).toBe("UNSUBSCRIBED");
  });

  it("is unknown where a call that is not repeatable was sent before", async () => {
    const world = createFixture();
    const { audience } = world;

    const { results } = await runBehind(world, {
      write: unsubscriptions[0]![1],
      call: async (item, request) => {
        await audience.v1.customers.upsert(
          { ...item, email: "other@example.com", double_opt_in: true },
          request,
        );
        await world.upsert(item, request);
      },
    });

    expect(results).toMatchObject([{ status: "unknown", error: { code: "aborted" } }]);
  });
});

it("A row is checked again right before it is sent, and a superseded row releases its permit", async () => {
  const world = createFixture();
  const { audience, mock } = world;
  await audience.v1.customers.upsert({ ...ada, phone: "+15550100", phone_opt_in: "SUBSCRIBED" });
  const { promise: opened, resolve: open } = deferred();
  const checkpoint = new LoggedCheckpoint();
  const record = checkpoint.set.bind(checkpoint);
  checkpoint.set = async (name, value) => {
    await record(name, value);
    if (value?.startsWith("sent ")) await opened;
  };
  const ended = collectRun(audience.bulk([ada], world.upsert, { key, checkpoint }));
  await until(() => checkpoint.states.get(ada.email) === "sent");

  // Through another identifier of the contact, as only the response shows.
  const phone = { phone: "+15550100", phone_opt_in: "SUBSCRIBED", email_opt_in: "UNSUBSCRIBED" } as const;
  await audience.v1.customers.upsert(phone);
  open();

  expect((await ended).results).toMatchObject([{ status: "superseded" }]);
  expect(mock.requests).toHaveLength(2);
  expect(checkpoint.states.get(ada.email)).toBe("superseded");
});

describe("A row is sent", () => {
  it.each([
    ["whose consent equals the written one", { ...ada, email_opt_in: "UNSUBSCRIBED" as const }],
    ["of another contact", row(1)],
    [
      "whose phone is another",
      { phone: "+1 555 0199", phone_opt_in: "SUBSCRIBED" } as unknown as Row,
      ({ audience }: World) =>
        audience.v1.customers.upsert({ phone: "+1 555 0100", phone_opt_in: "UNSUBSCRIBED" }),
    ],
    [
      "whose consent equals the one that was written over the other family",
      { ...ada, email_opt_in: "UNSUBSCRIBED" as const },
      unsubscriptions[2]![1],
    ],
    [
      "whose consent equals that of both addresses of the contact",
      ada,
      twoAddresses("subscribed", "subscribed"),
    ],
  ])("%s", async (_, item, write = unsubscriptions[0]![1]) => {
    const world = createFixture();

    const { results } = await runBehind(world, { write, items: [item] });

    expect(results).toMatchObject([{ status: "succeeded" }]);
    expect(world.mock.requests).toHaveLength(2);
  });

  it("whose consent equals the last of two that were written", async () => {
    const world = createFixture();

    const { results } = await runBehind(world, {
      write: async ({ audience }) => {
        await audience.v1.customers.upsert({ ...ada, email_opt_in: "UNSUBSCRIBED" });
        await audience.v1.customers.upsert(ada);
      },
    });

    expect(results).toMatchObject([{ status: "succeeded" }]);
  });

  it("where the other call carried no consent, or another channel's", async () => {
    const world = createFixture();

    const { results } = await runBehind(world, {
      write: async ({ audience }) => {
        await audience.v1.customers.upsert({ email: ada.email, first_name: "Ada" });
        await audience.v1.customers.upsert({ email: ada.email, phone_opt_in: "UNSUBSCRIBED" });
        await audience.v1.events.send({ eventName: "seen", contact: { email: ada.email } });
      },
      call: (item, request) =>
        world.audience.v1.customers.upsert({ ...item, phone_opt_in: "UNSUBSCRIBED" }, request),
    });

    expect(results).toMatchObject([{ status: "succeeded" }]);
  });

  it("where the other call ended before the run began, or was not applied", async () => {
    const world = createFixture();
    await unsubscriptions[0]![1](world);
    const refused = world.audience.withOptions({
      fetch: (url, init) => world.mock.fetch(url.replace("customer/create", "nowhere"), init),
    });

    const { results } = await runBehind(world, {
      write: () => unsubscriptions[0]![1]({ ...world, audience: refused }).catch(() => 0),
    });

    expect(results).toMatchObject([{ status: "succeeded" }]);
  });

  it("where only the run's own rows wrote another consent", async () => {
    const world = createFixture();
    const items = [ada, { ...ada, email_opt_in: "UNSUBSCRIBED" } as Row, ada];

    const { results } = await collectRun(world.audience.bulk(items, world.upsert, { concurrency: 1 }));

    expect(results.map(({ status }) => status)).toEqual(["succeeded", "succeeded", "succeeded"]);
  });

  it("is superseded although its call has options without `request`", async () => {
    const world = createFixture();
    const items = [ada, { ...ada, email_opt_in: "UNSUBSCRIBED" } as Row, ada];
    const call = (item: Row) => world.audience.v1.customers.upsert(item, { timeoutMs: 1_000 });

    const { results } = await collectRun(world.audience.bulk(items, call, { concurrency: 1 }));

    expect(results.map(({ status }) => status)).toEqual(["succeeded", "succeeded", "succeeded"]);
  });

  it("is superseded although its function does not pass `request` on", async () => {
    const world = createFixture();
    const items = [ada, { ...ada, email_opt_in: "UNSUBSCRIBED" } as Row, ada];

    const { results } = await collectRun(
      world.audience.bulk(items, (item) => world.audience.v1.customers.upsert(item), { concurrency: 1 }),
    );

    expect(results.map(({ status }) => status)).toEqual(["succeeded", "succeeded", "succeeded"]);
  });
});

describe("With a checkpoint", () => {
  /** A run over the checkpoint in its own process, as on one night. */
  async function night(
    { mock }: World,
    item: Row & { first_name?: string },
    checkpoint: LoggedCheckpoint,
    write?: (world: World) => Promise<unknown>,
  ) {
    const world = { ...createFixture({}, mock.clientOptions), mock };
    const { results, error } = await runBehind(world, {
      write: async () => await write?.(world),
      items: [item],
      options: { key, checkpoint },
    });
    expect(error).toBeUndefined();
    return results[0]?.status;
  }

  it("stays superseded in later runs until its own consent changes, whatever other fields change", async () => {
    const world = createFixture();
    const checkpoint = new LoggedCheckpoint();

    const nights = [
      await night(world, ada, checkpoint, unsubscriptions[0]![1]),
      await night(world, ada, checkpoint),
      await night(world, { ...ada, first_name: "Ada" }, checkpoint),
      await night(world, { ...ada, first_name: "Ada" }, checkpoint),
      await night(world, { ...ada, email_opt_in: "NON_SUBSCRIBED" }, checkpoint),
      await night(world, { ...ada, email_opt_in: "NON_SUBSCRIBED", first_name: "Ada" }, checkpoint),
    ];

    expect(nights).toEqual([
      "superseded",
      "superseded",
      "superseded",
      "superseded",
      "succeeded",
      "succeeded",
    ]);
    expect(world.mock.requests.map(({ body }) => (body as Row).email_opt_in)).toEqual([
      "UNSUBSCRIBED",
      "NON_SUBSCRIBED",
      "NON_SUBSCRIBED",
    ]);
  });

  it("a consent that was written after the row supersedes it in the next run too", async () => {
    const world = createFixture();
    const checkpoint = new LoggedCheckpoint();
    const { audience, upsert } = world;
    for await (const { status } of audience.bulk([ada], upsert, { key, checkpoint })) {
      expect(status).toBe("succeeded");
      await unsubscriptions[0]![1](world);
    }

    const nights = [
      await night(world, { ...ada, first_name: "Ada" }, checkpoint),
      await night(world, { ...ada, email_opt_in: "NON_SUBSCRIBED" }, checkpoint),
      await night(world, { ...ada, email_opt_in: "NON_SUBSCRIBED", first_name: "Ada" }, checkpoint),
    ];

    expect(nights).toEqual(["superseded", "succeeded", "succeeded"]);
  });

  it("and so it does after a run in which the row was invalid", async () => {
    const world = createFixture();
    const checkpoint = new LoggedCheckpoint();
    const bad = { ...ada, first_name: "x".repeat(101) };

    const nights = [
      await night(world, bad, checkpoint, unsubscriptions[0]![1]),
      await night(world, { ...ada, first_name: "Ada" }, checkpoint),
    ];

    expect(nights).toEqual(["invalid", "superseded"]);
    expect(consentOf(world)).toBe("UNSUBSCRIBED");
  });

  it("and so it does for a row that leaves its consent to the service in both runs", async () => {
    const world = createFixture();
    const checkpoint = new LoggedCheckpoint();
    const [before, after] = ["Ada", "Ada L."].map(
      (first_name) => ({ email: ada.email, first_name }) as unknown as Row,
    );
    for await (const { status } of world.audience.bulk([before!], world.upsert, { key, checkpoint })) {
      expect(status).toBe("succeeded");
      await unsubscriptions[0]![1](world);
    }

    const nights = [await night(world, after!, checkpoint), await night(world, ada, checkpoint)];

    expect(nights).toEqual(["superseded", "succeeded"]);
  });

  it("a change of another channel's consent does not end the supersession", async () => {
    const world = createFixture();
    const checkpoint = new LoggedCheckpoint();

    const nights = [
      await night(world, ada, checkpoint, unsubscriptions[0]![1]),
      await night(world, { ...ada, is_suppressed: false } as Row, checkpoint),
    ];

    expect(nights).toEqual(["superseded", "superseded"]);
  });

  it("a consent that was written before a kill supersedes the row in the resumed run", async () => {
    const world = createFixture();
    const checkpoint = new LoggedCheckpoint();
    const dying = { ...createFixture({}, world.mock.clientOptions), mock: world.mock };
    const { promise: opened } = deferred();
    void runBehind(dying, {
      write: unsubscriptions[0]![1],
      items: [row(1), ada],
      call: async () => await opened,
      options: { key, checkpoint, concurrency: 1 },
    });
    await until(() => world.mock.requests.length === 1 && checkpoint.values.size > 1);

    const status = await night(world, ada, checkpoint);

    expect(status).toBe("superseded");
    expect(consentOf(world)).toBe("UNSUBSCRIBED");
  });

  it("a consent that was in flight at the kill supersedes the row, because it may have been applied", async () => {
    const world = createFixture();
    const checkpoint = new LoggedCheckpoint();
    const dying = new AudienceClient({
      ...world.mock.clientOptions,
      fetch: async (url, init) => {
        await world.mock.fetch(url, init);
        return await deferred<Response>().promise;
      },
    });
    const { promise: opened } = deferred();
    void collectRun(dying.bulk([row(1)], async () => await opened, { key, checkpoint }));
    await until(() => checkpoint.log.length > 0);
    const dead = new AbortController();
    onTestFinished(() => dead.abort());
    dying.v1.customers
      .upsert({ ...ada, email_opt_in: "UNSUBSCRIBED" }, { signal: dead.signal })
      .catch(() => undefined);
    await until(() => world.mock.requests.length === 1);

    const status = await night(world, ada, checkpoint);

    expect(status).toBe("superseded");
  });

  it("a row that is new the next night is sent: its consent may be the later one", async () => {
    const world = createFixture();
    const checkpoint = new LoggedCheckpoint();

    const nights = [
      await night(world, row(1), checkpoint, unsubscriptions[0]![1]),
      await night(world, ada, checkpoint),
    ];

    expect(nights).toEqual(["succeeded", "succeeded"]);
  });

  it("a consent is recorded before its request is sent", async () => {
    const world = createFixture();
    const checkpoint = new LoggedCheckpoint();
    const record = checkpoint.set.bind(checkpoint);
    const sentBefore: number[] = [];
    checkpoint.set = async (name, value, options) => {
      await flushEventLoop();
      if (name.startsWith("consent:")) sentBefore.push(world.mock.requests.length);
      await record(name, value, options);
    };

    // Behind the first row, which is read before the checkpoint is open.
    async function* source() {
      yield row(1);
      await until(() => world.mock.requests.length === 1);
      await unsubscriptions[0]![1](world);
    }
    await collectRun(world.audience.bulk(source(), world.upsert, { key, checkpoint }));

    expect(sentBefore[0]).toBe(1);
    expect(world.mock.requests).toHaveLength(2);
  });

  it("a consent whose write ended before the run began is not recorded", async () => {
    const world = createFixture();
    const checkpoint = new LoggedCheckpoint();
    await unsubscriptions[0]![1](world);

    await world.audience.bulk([row(1)], world.upsert, { key, checkpoint });

    expect([...checkpoint.values.keys()]).toEqual(["run", "row:row-1@example.com"]);
  });

  it("the run ends once the consents that were written during it are recorded", async () => {
    const world = createFixture();
    const checkpoint = new LoggedCheckpoint();
    const record = checkpoint.set.bind(checkpoint);
    checkpoint.set = async (name, value, options) => {
      if (name.startsWith("consent:")) await new Promise((resolve) => setTimeout(resolve, 20));
      await record(name, value, options);
      if (name.startsWith("consent:")) checkpoint.log.push(name.replace(/UUID:.*/, "UUID"));
    };

    // Behind the first row, which is read before the checkpoint is open.
    async function* source() {
      yield row(1);
      await until(() => world.mock.requests.length === 1);
      await unsubscriptions[0]![1](world);
    }
    await collectRun(world.audience.bulk(source(), world.upsert, { key, checkpoint }));

    const email = `consent:email:${ada.email}`;
    // Before the write, and after it, also under the name in the response.
    const withoutRows = checkpoint.log.filter((line) => !line.includes(": "));
    expect(withoutRows).toEqual(["open", email, email, email, "consent:contactUUID", "close"]);
  });

  it("a consent that is written while the end of a run waits for another is recorded", async () => {
    const world = createFixture();
    const { promise: recorded, resolve: record } = deferred();
    let isEnding = false;
    class SlowCheckpoint extends LoggedCheckpoint {
      override async set(name: string, value: string | undefined, options?: { flush?: boolean | undefined }) {
        if (isEnding) await recorded;
        await super.set(name, value, options);
      }
    }
    const checkpoint = new SlowCheckpoint();
    const writes: PromiseLike<unknown>[] = [];
    const write = (email: string) =>
      writes.push(world.audience.v1.customers.upsert({ email, email_opt_in: "UNSUBSCRIBED" }));
    const leave = async () => {
      for await (const _ of world.audience.bulk([ada], world.upsert, { key, checkpoint })) {
        isEnding = true;
        write(row(1).email);
        break;
      }
    };
    const left = leave();
    await until(() => writes.length === 1);
    await flushEventLoop();

    write(row(2).email);
    await flushEventLoop();
    record();
    await left;
    await Promise.all(writes);

    expect([...checkpoint.values.keys()]).toEqual(
      expect.arrayContaining([1, 2].map((index) => `consent:email:${row(index).email}`)),
    );
  });

  it("a consent that was not applied supersedes no row", async () => {
    const world = createFixture();
    const checkpoint = new LoggedCheckpoint();

    const status = await night(world, ada, checkpoint, (own) => {
      const refused = own.audience.withOptions({
        fetch: (url, init) => world.mock.fetch(url.replace("customer/create", "nowhere"), init),
      });
      return unsubscriptions[0]![1]({ ...own, audience: refused }).catch(() => 0);
    });

    expect(status).toBe("succeeded");
    expect([...checkpoint.values.keys()].filter((name) => name.startsWith("consent:"))).toEqual([]);
  });
});
