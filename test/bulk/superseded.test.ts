import { RateLimiter, type BulkOptions, type BulkRequest, type V1Client } from "audience-sdk";
import { describe, expect, it } from "vitest";
import {
  collectRun,
  deferred,
  row,
  rows,
  createFixture,
  until,
  type Row,
  key,
  gated,
  v2Contact,
} from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";
import { play } from "./night-table.ts";

const ada = row(0);
const organization = "mock-organization";
type World = ReturnType<typeof createFixture>;
type Call = (world: World, item?: Row, request?: BulkRequest) => Promise<unknown>;

const optOut = { email: ada.email, email_opt_in: "UNSUBSCRIBED" } as const;
const unsubscribe = ({ audience }: World) => audience.v1.customers.upsert(optOut);
const unsubscribeByV2 = ({ audience }: World) =>
  audience.v2.contacts.upsert(v2Contact(ada.email, "unsubscribed"));

/** An unsubscription of the contact through each call that carries consent. */
const unsubscriptions: [string, (world: World) => Promise<unknown>][] = [
  ["v1.customers.upsert", unsubscribe],
  [
    "v1.contactGroups.addContact",
    ({ audience }) => audience.v1.contactGroups.addContact("mock-list", optOut),
  ],
  ["v2.contacts.upsert", unsubscribeByV2],
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
function twoAddresses(other: string, own: string): Call {
  const contact = v2Contact(ada.email, own);
  const identifiers = [...v2Contact("other@example.com", other).identifiers, ...contact.identifiers];
  return ({ audience }, _, request) => audience.v2.contacts.upsert({ ...contact, identifiers }, request);
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
            "Another call has written the contact's consent, and the row may be older: the row was not sent, or not sent again.",
        },
      },
    ]);
    expect(world.mock.requests).toHaveLength(1);
    expect(consentOf(world)).toBe("UNSUBSCRIBED");
  });

  const left = { consent: "service-decides" } as const;
  const phoned = { phone: "+15550100", phone_opt_in: "SUBSCRIBED" } as const;
  it.each<[string, (world: World) => Promise<unknown>, Call?]>([
    [
      "only the response showed that it is the same contact",
      async ({ audience: { v1 } }) => {
        await v1.customers.upsert({ ...ada, ...phoned });
        await v1.customers.upsert({ ...phoned, email_opt_in: "UNSUBSCRIBED" });
      },
    ],
    [
      "that call left the consent to the service",
      ({ audience: { v1 } }) => v1.contactGroups.addContact("mock-list", { email: ada.email }, left),
    ],
    [
      "that call, a custom request, left the consent to the service",
      ({ audience: { v1 } }) => {
        const path = "/api/v1/contact-groups/mock-list/contacts";
        return v1.request({ method: "POST", path, body: { email: ada.email } }, left);
      },
    ],
    [
      "`is_suppressed` differs",
      ({ audience }) => audience.v1.customers.upsert({ ...ada, is_suppressed: true }),
    ],
    [
      "the outcome of that call is unknown",
      async ({ audience, mock }) => {
        mock.addFault({ kind: "reset-after", times: 1 });
        await audience.v1.customers.upsert(optOut, { maxRetries: 0 }).catch(() => 0);
      },
    ],
    [
      "a later call was refused",
      async ({ audience, mock }) => {
        await audience.v1.customers.upsert(optOut);
        mock.addFault({ kind: "redirect", times: 1 });
        await audience.v1.customers.upsert(ada).catch(() => 0);
      },
    ],
    ["that call stated two statuses of its channel", twoAddresses("unsubscribed", "subscribed")],
    [
      "that call stated the row's two statuses of its channel the other way round",
      twoAddresses("subscribed", "unsubscribed"),
      twoAddresses("unsubscribed", "subscribed"),
    ],
  ])(
    "is superseded where %s",
    async (_, write, call: Call = (own, item, request) => own.upsert(item!, request!)) => {
      const world = createFixture();
      const state = () => [world.mock.requests.length, consentOf(world)];
      let written: unknown[] = [];

      const { results } = await runBehind(world, {
        write: async () => {
          await write(world);
          written = state();
        },
        call: (item, request) => call(world, item, request),
      });

      expect(results).toMatchObject([{ status: "superseded" }]);
      expect(state()).toEqual(written);
    },
  );

  it("is superseded as a whole, and its error names the opt-out that was not sent", async () => {
    const world = createFixture();
    const item = { ...ada, email_opt_in: "UNSUBSCRIBED", ...phoned } as const;

    const { results } = await runBehind(world, {
      items: [item],
      write: ({ audience }) => audience.v1.customers.upsert({ ...phoned, phone_opt_in: "UNSUBSCRIBED" }),
      call: (contact, request) => world.audience.v1.customers.upsert(contact, request),
    });

    expect(results).toMatchObject([
      {
        status: "superseded",
        error: {
          message: expect.stringMatching(/Nor was its opt-out of email: send that by a call of its own\.$/),
        },
      },
    ]);
    expect(world.mock.requests).toHaveLength(1);
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
      write: unsubscribe,
      call: (item, request) => call(world, item, request),
    });

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

    const { results } = await runBehind(world, { write: unsubscribe, items: [item] });

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

  it("is superseded although an earlier row that agreed was sent meanwhile", async () => {
    const world = createFixture();
    const agreeing: Row = { ...ada, email_opt_in: "UNSUBSCRIBED" };

    const { results } = await runBehind(world, {
      write: unsubscribe,
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
      write: async () => void (sent = unsubscribe({ ...world, audience: slow })),
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
      await unsubscribe(world);
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
      write: unsubscribe,
      call: (item, request) => world.upsert(item, request).catch(() => "gone on"),
    });

    expect(results).toMatchObject([{ status: "superseded" }]);
  });

  it("stays superseded where its calls state different consents, and neither has changed", async () => {
    const world = createFixture();
    const options = { key, checkpoint: new MemoryCheckpoint() };
    const both = async (item: Row, request: BulkRequest) => {
      await world.upsert({ ...item, email_opt_in: "NON_SUBSCRIBED" }, request).catch(() => undefined);
      await world.upsert(item, request);
    };
    const first = await runBehind(world, { write: unsubscribe, call: both, options });

    const second = await world.audience.bulk([{ ...ada, first_name: "Ada" }], both, options);

    expect(first.results).toMatchObject([{ status: "superseded" }]);
    expect(second).toMatchObject({ superseded: 1 });
    expect(consentOf(world)).toBe("UNSUBSCRIBED");
  });

  it.each<[string, (v1: V1Client, item: Row, request: BulkRequest) => PromiseLike<unknown>]>([
    ["subscribes", (v1, item, request) => v1.customers.upsert(item, request)],
    [
      "leaves the consent to the service",
      (v1, { email }, request) =>
        v1.contactGroups.addContact("mock-list", { email }, { ...request, consent: "service-decides" }),
    ],
  ])("that unsubscribes, as another call has, is superseded where its next call %s", async (_, overrides) => {
    const world = createFixture();
    const options = { key, checkpoint: new MemoryCheckpoint() };
    for await (const _result of world.audience.bulk([ada, row(9)], world.upsert, {
      ...options,
      concurrency: 1,
    })) {
      await world.audience.v1.customers.upsert({ email: ada.email, email_opt_in: "UNSUBSCRIBED" });
      break;
    }
    const both = async (item: Row, request: BulkRequest) => {
      await world.upsert({ ...item, email_opt_in: "UNSUBSCRIBED" }, request);
      await overrides(world.audience.v1, item, request);
    };

    const goesOn = await world.audience.bulk([{ ...ada, first_name: "Ada" }], both, options);

    expect(goesOn).toMatchObject({ superseded: 1 });
    expect(consentOf(world)).toBe("UNSUBSCRIBED");
  });

  it.each([
    ["applied", "was applied", undefined],
    ["unknown", "may have been applied", "500-after"],
    ["not-applied", "was refused", "redirect"],
    ["not-sent", "is invalid", "invalid"],
    ["not-sent", "only reads", "read"],
  ] as const)("has the outcome %s where the call before it %s", async (outcome, _, kind) => {
    const world = createFixture({}, { maxRetries: 0 });

    const { results } = await runBehind(world, {
      write: unsubscribe,
      call: async (item, request) => {
        const email = kind === "invalid" ? "no address" : "other@example.com";
        if (kind === "read") await world.audience.v1.contactGroups.get("mock-list", request);
        else if (kind && kind !== "invalid") world.mock.addFault({ kind, times: 1 });
        if (kind === "read") return await world.upsert(item, request);
        await world.upsert({ ...item, email }, request).catch(() => undefined);
        await world.upsert(item, request);
      },
    });

    expect(results).toMatchObject([{ status: "superseded", reason: "process", error: { outcome } }]);
    expect(consentOf(world)).toBe("UNSUBSCRIBED");
  });

  it("is unknown where a call that is not repeatable was sent before", async () => {
    const world = createFixture();
    const { audience } = world;

    const { results } = await runBehind(world, {
      write: unsubscribe,
      call: async (item, request) => {
        await audience.v1.customers.upsert(
          { ...item, email: "other@example.com", double_opt_in: true },
          request,
        );
        await world.upsert(item, request);
      },
    });

    expect(results).toMatchObject([{ status: "unknown", error: { code: "aborted", outcome: "unknown" } }]);
  });

  it("is reported as superseded, though the run is aborted before its function ends", async () => {
    const world = createFixture();
    const stop = new AbortController();

    const { results } = await runBehind(world, {
      write: unsubscribe,
      call: async (item, request) => {
        await world.upsert(item, request).finally(() => stop.abort());
      },
      options: { signal: stop.signal },
    });

    expect(results).toMatchObject([{ status: "superseded", reason: "process" }]);
  });

  it("is judged afresh by the next run where it was superseded, and its function did not await it", async () => {
    const world = createFixture();
    const options = { key, checkpoint: new MemoryCheckpoint() };
    const forget = async (item: Row, request: BulkRequest) => void world.upsert(item, request);
    const first = await runBehind(world, { write: unsubscribe, call: forget, options });

    const next = await runBehind(world, {
      write: ({ audience }) => audience.v1.customers.upsert(ada),
      options,
    });

    expect(first.results).toMatchObject([{ status: "unknown" }]);
    expect(next.results).toMatchObject([{ status: "succeeded" }]);
  });
});

it("A row is checked again right before it is sent, and a superseded row releases its permit", async () => {
  const rateLimiter = new RateLimiter();
  const world = createFixture({}, { rateLimiter });
  const { audience, mock } = world;
  await audience.v1.customers.upsert({ ...ada, phone: "+15550100", phone_opt_in: "SUBSCRIBED" });
  const { promise: opened, resolve: open } = deferred();
  let [isCalled, isRecording] = [false, false];
  class SlowCheckpoint extends MemoryCheckpoint {
    override append = async (text: string, isFlushed: boolean) => {
      await super.append(text, isFlushed);
      if (!isCalled || isRecording) return;
      isRecording = true;
      await opened;
    };
  }
  const call = (item: Row, request: BulkRequest) => {
    isCalled = true;
    return world.upsert(item, request);
  };
  const ended = collectRun(audience.bulk([ada], call, { key, checkpoint: new SlowCheckpoint() }));
  await until(() => isRecording);

  // Through another identifier of the contact, as only the response shows.
  const phone = { phone: "+15550100", phone_opt_in: "SUBSCRIBED", email_opt_in: "UNSUBSCRIBED" } as const;
  await audience.v1.customers.upsert(phone);
  open();

  expect((await ended).results).toMatchObject([{ status: "superseded" }]);
  expect(mock.requests).toHaveLength(2);
  expect(rateLimiter.usage().inFlight).toBe(0);
});

describe("A row is sent", () => {
  it.each([
    ["whose consent equals the written one", { ...ada, email_opt_in: "UNSUBSCRIBED" as const }],
    ["of another contact", row(1)],
    [
      "of another contact, whose address differs in its domain, after a slash",
      { ...ada, email: "ada/list@example.com" },
      ({ audience }: World) => audience.v1.customers.upsert({ ...optOut, email: "ada/list@example.org" }),
    ],
    [
      "whose phone is another",
      { phone: "+1 555 0199", phone_opt_in: "SUBSCRIBED" } as unknown as Row,
      ({ audience }: World) =>
        audience.v1.customers.upsert({ phone: "+1 555 0100", phone_opt_in: "UNSUBSCRIBED" }),
    ],
    [
      "whose consent equals the one that was written over the other family",
      { ...ada, email_opt_in: "UNSUBSCRIBED" as const },
      unsubscribeByV2,
    ],
    [
      "whose consent equals that of both addresses of the contact",
      ada,
      twoAddresses("subscribed", "subscribed"),
    ],
  ])("%s", async (_, item, write = unsubscribe) => {
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
    await unsubscribe(world);
    const refused = world.audience.withOptions({
      fetch: (url, init) => world.mock.fetch(url.replace("customer/create", "nowhere"), init),
    });

    const { results } = await runBehind(world, {
      write: () => unsubscribe({ ...world, audience: refused }).catch(() => 0),
    });

    expect(results).toMatchObject([{ status: "succeeded" }]);
  });

  it("where only the run's own rows wrote another consent", async () => {
    const world = createFixture();
    const items = [ada, { ...ada, email_opt_in: "UNSUBSCRIBED" } as Row, ada];

    const { results } = await collectRun(world.audience.bulk(items, world.upsert, { concurrency: 1 }));

    expect(results.map(({ status }) => status)).toEqual(["succeeded", "succeeded", "succeeded"]);
  });
});

it("A row that was read before an unsubscription is superseded, and the others are sent", async () => {
  const world = createFixture();
  const run = world.audience.bulk(rows(30), world.upsert, { concurrency: 2 });

  for await (const { index } of run)
    if (index === 5) await world.audience.v1.customers.upsert({ ...row(20), email_opt_in: "UNSUBSCRIBED" });

  expect(consentOf(world, row(20).email)).toBe("UNSUBSCRIBED");
  expect(await run).toMatchObject({ succeeded: 29, superseded: 1 });
});

it("A row that leaves the consent to the service is superseded by a call that left it too, and whose outcome is unknown", async () => {
  const world = createFixture({
    faults: [{ kind: "reset-after", operation: "v1.contactGroups.addContact", times: 1 }],
  });
  const leave = (request?: object) =>
    world.audience.v1.contactGroups.addContact(
      "mock-list",
      { email: ada.email },
      { ...request, consent: "service-decides" },
    );

  const { results } = await runBehind(world, {
    write: () => leave().catch(() => 0),
    call: (_, request) => leave(request),
  });

  // A second time would have made the new contact a subscriber.
  expect(results).toMatchObject([{ status: "superseded" }]);
  expect(consentOf(world)).toBe("NON_SUBSCRIBED");
});

it("Once a row is superseded, none of its further calls is sent", async () => {
  const world = createFixture();
  const { audience, mock } = world;

  const { results } = await runBehind(world, {
    write: unsubscribe,
    call: async (item, request) => {
      await Promise.allSettled([
        world.upsert(item, request),
        audience.v1.events.send({ eventName: "imported", contact: { email: "other@example.com" } }, request),
      ]);
    },
  });

  expect(results.map(({ status }) => status)).toEqual(["superseded"]);
  expect(mock.requests.map(({ operation }) => operation)).toEqual(["v1.customers.upsert"]);
});

it.each(["", " ", "n/a", "+"])(
  "A write with the phone %j supersedes no row of another person",
  async (phone) => {
    const world = createFixture();
    const write = (email: string, status: string, request?: BulkRequest) => {
      const contact = v2Contact(email, status);
      const [byEmail] = contact.identifiers;
      const byPhone = { ...byEmail!, type: "phone", id: phone, channels: { phone: { status } } } as const;
      return world.audience.v2.contacts.upsert({ ...contact, identifiers: [byEmail!, byPhone] }, request);
    };

    const { results } = await runBehind(world, {
      write: () => write("stranger@example.com", "subscribed"),
      items: rows(3),
      call: ({ email }, request) => write(email, "unsubscribed", request),
      options: { concurrency: 1 },
    });

    expect(results.map(({ status }) => status)).toEqual(["succeeded", "succeeded", "succeeded"]);
    expect(world.mock.requests).toHaveLength(4);
  },
);

describe("A superseded row says why, and what it has not sent", () => {
  const notSent = "the row was not sent, or not sent again.";

  it.each([
    ["ada:+; person ada:-; ada:+", `The service shows that the contact has refused: ${notSent}`],
    ["ada:+; everyone is deleted; ada:+", `The service has no contact with this id any more: ${notSent}`],
    [
      "ada:+; person ada:-; ada:+; ada:+ (no look)",
      `The contact had refused on an earlier night, and the row says what it said then: ${notSent}`,
    ],
    [
      "ada:++; person ada:.-; ada:-+",
      `The service shows that the contact has refused: ${notSent} Nor was its opt-out of email: send that by a call of its own.`,
    ],
    [
      "early call ada:++; ada:--",
      `Another call has written the contact's consent, and the row may be older: ${notSent} Nor was its opt-out of email and phone: send that by a call of its own.`,
    ],
    [
      "early call ada:-; ada:+.s",
      `Another call has written the contact's consent, and the row may be older: ${notSent} Nor was its opt-out of is_suppressed: send that by a call of its own.`,
    ],
    ["ada:+ (not current)", "isCurrent returned false: the row was not sent, or not sent again."],
  ])("%s", async (steps, message) => {
    const { results } = await play(steps.split("; "));

    expect(results.at(-1)).toMatchObject({ error: { message, outcome: "not-sent", code: "aborted" } });
  });
});
