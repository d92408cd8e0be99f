import {
  RateLimiter,
  type AudienceClient,
  type BulkOptions,
  type BulkRequest,
  type V1Contact,
  type V2Contact,
} from "audience-sdk";
import { expect, it } from "vitest";
import { createFixture, key, row, type Row } from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";
import { play } from "./night-table.ts";

// Nights of rows whose calls are no single upsert; the others are in nights.test.ts.

const optOut: Row = { ...row(0), email_opt_in: "UNSUBSCRIBED" };
const consentOf = ({ mock }: Pick<ReturnType<typeof createFixture>, "mock">) =>
  mock.organization("mock-organization").contacts[0]?.email_opt_in;

it.each<
  [
    string,
    BulkOptions<Row>,
    (audience: AudienceClient) => (item: Row, request: BulkRequest) => Promise<unknown>,
  ]
>([
  [
    "its own signal ends in the queue",
    {},
    ({ v1 }) =>
      async (item, request) => {
        const signal = AbortSignal.any([request.signal, AbortSignal.timeout(50)]);
        await v1.customers.upsert(item, { ...request, signal });
      },
  ],
  [
    "whose isCurrent was aborted",
    {
      isCurrent: async () =>
        Boolean(await otherOf().v1.contactGroups.get("x", { signal: AbortSignal.abort() })),
    },
    ({ v1 }) =>
      (item, request) =>
        v1.customers.upsert(item, request),
  ],
  [
    "whose isCurrent was refused for its rate",
    { isCurrent: async () => Boolean(await otherOf().v1.contactGroups.get("x", { maxRetries: 0 })) },
    ({ v1 }) =>
      (item, request) =>
        v1.customers.upsert(item, request),
  ],
])("A row that %s does not override an opt-out of that night on the next", async (_, options, callOf) => {
  const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 300 }] });
  const world = createFixture({}, { rateLimiter });
  const { audience, upsert } = world;
  const checkpoint = new MemoryCheckpoint();
  await audience.v1.contactGroups.get("mock-list");
  const ends: string[] = [];
  for await (const { status } of audience.bulk([row(0)], callOf(audience), { key, checkpoint, ...options })) {
    ends.push(status);
    await audience.v1.customers.upsert(optOut);
  }

  const next = await audience.bulk([row(0)], upsert, { key, checkpoint });

  expect(ends).toEqual(["failed"]);
  expect(next).toMatchObject({ superseded: 1 });
  expect(consentOf(world)).toBe("UNSUBSCRIBED");
});

function otherOf(): AudienceClient {
  return createFixture({ faults: [{ kind: "429" }] }).audience;
}

it("A row whose function reads its contact first does not forget the opt-out that another call wrote", async () => {
  const { audience: real, mock } = createFixture();
  const bodies: unknown[] = [];
  // A path that the mock does not have.
  const fetch = async (_: string, { method, body }: { method: string; body?: string }) => {
    if (method !== "GET") bodies.push(JSON.parse(body!));
    return Response.json({});
  };
  const audience = real.withOptions({ fetch });
  const path = "/api/v1/customer/123";
  const contact = { contactUUID: "123" };
  const readAndWrite = async ({ first_name }: { id: string; first_name: string }, request: BulkRequest) => {
    await audience.v1.request({ method: "GET", path }, request);
    const body = { email_opt_in: "SUBSCRIBED", first_name };
    await audience.v1.request({ method: "PUT", path, body, contact }, { ...request, repeatable: true });
  };
  const night = (first_name: string) =>
    audience.bulk(
      ["a", "b"].map((id) => ({ id, first_name })),
      readAndWrite,
      { checkpoint, key: ({ id }) => id, concurrency: 1, checkConsent: false },
    );
  const checkpoint = new MemoryCheckpoint();
  for await (const { index } of night("Ada"))
    if (index === 1)
      await audience.v1.request({ method: "PATCH", path, body: { email_opt_in: "UNSUBSCRIBED" }, contact });

  const second = await night("Ada L.");

  expect(second).toMatchObject({ superseded: 2 });
  expect(bodies.at(-1)).toEqual({ email_opt_in: "UNSUBSCRIBED" });
  expect(mock.requests).toEqual([]);
});

it("A row is superseded by a call that names its contact by the id alone, which an earlier night has recorded", async () => {
  const { audience, mock, upsert } = createFixture();
  const checkpoint = new MemoryCheckpoint();
  const options = { key, checkpoint, checkConsent: false };
  await audience.bulk([row(0)], upsert, options);
  const [contact] = mock.organization("mock-organization").contacts;
  async function* source() {
    const path = `/api/v1/customer/${contact!.id}`;
    const custom = audience.withOptions({ fetch: async () => Response.json({}) }).v1;
    await custom.request({ method: "PATCH", path, body: {}, contact: { contactUUID: contact!.id } });
    yield { ...row(0), first_name: "Ada" };
  }

  const second = await audience.bulk(source(), upsert, options);

  expect(second).toMatchObject({ superseded: 1 });
  expect(mock.requests).toHaveLength(1);
});

it.each([
  ["to create a contact", "/api/v1/customer/create"],
  ["to add it to a list", "/api/v1/contact-groups/list/contacts"],
])("A custom request of a row %s gives the id by which the contact is looked up", async (_, path) => {
  const send = ({ v1 }: AudienceClient, body: V1Contact, request: BulkRequest) =>
    v1.request({ method: "POST", path, body }, { ...request, repeatable: true });

  const played = await play(["ada:+", "ada:+", "person ada:-", "ada:+"], { send });

  expect(played).toMatchObject({ ends: "succeeded succeeded superseded", looks: "0 1 1", people: "ada:-" });
});

it("A row whose call with the consent failed on a night is superseded by an opt-out that was written after it", async () => {
  const world = createFixture();
  const { audience } = world;
  const options = { checkpoint: new MemoryCheckpoint(), key, stopWhen: () => false };
  let listId = "gone";
  const call = async (item: Row, request: BulkRequest) => {
    await audience.v1.events.send({ eventName: "imported", contact: { email: item.email } }, request);
    return await audience.v1.contactGroups.addContact(listId, item, request);
  };
  const ends: string[] = [];
  for await (const { status } of audience.bulk([row(0)], call, options)) {
    ends.push(status);
    await audience.v1.customers.upsert(optOut);
  }
  listId = "mock-list";

  const second = await audience.bulk([row(0)], call, options);

  expect(ends).toEqual(["unknown"]);
  expect(second).toMatchObject({ superseded: 1 });
  expect(consentOf(world)).toBe("UNSUBSCRIBED");
});

it("A superseded row whose consent has changed is sent with all its calls, also those without a consent", async () => {
  const world = createFixture();
  const { audience, mock } = world;
  const options = { checkpoint: new MemoryCheckpoint(), key };
  const call = async (item: Row & { first_name: string }, request: BulkRequest) => {
    const { email, email_opt_in, first_name } = item;
    await audience.v1.contactGroups.addContact("mock-list", { email, email_opt_in }, request);
    return await audience.v1.customers.upsert({ email, first_name }, request);
  };
  const night = (email_opt_in: Row["email_opt_in"], first_name: string) =>
    audience.bulk([{ ...row(0), email_opt_in, first_name }], call, options);
  for await (const _ of night("SUBSCRIBED", "Ada"))
    await audience.v1.customers.upsert({ ...row(0), email_opt_in: "NON_SUBSCRIBED" });

  const nights = [await night("SUBSCRIBED", "Ada L."), await night("UNSUBSCRIBED", "A. L.")];

  expect(nights).toMatchObject([{ superseded: 1 }, { succeeded: 1 }]);
  expect(mock.organization("mock-organization").contacts).toMatchObject([
    { email_opt_in: "UNSUBSCRIBED", first_name: "A. L." },
  ]);
});

it("A v2 status with a line break is no newer on the next night", async () => {
  const { audience, mock } = createFixture();
  const checkpoint = new MemoryCheckpoint();
  const upsert = (status: string, firstName: string, request?: BulkRequest) => {
    const consent = { createdAt: "2026-01-01T00:00:00Z", ip: "192.0.2.1", source: "import" };
    const channels = { email: { status } };
    const identifiers = [{ type: "email" as const, id: "ada@example.com", channels, consent }];
    return audience.v2.contacts.upsert({ firstName, listIds: [], identifiers }, request);
  };
  const send = (night: number, request: BulkRequest) => upsert("subscribed\n", `Ada ${night}`, request);
  const ends: string[] = [];
  for (const night of [1, 2]) {
    for await (const { status } of audience.bulk([night], send, { key: () => "ada", checkpoint })) {
      ends.push(status);
      if (night === 1) await upsert("unsubscribed", "Ada");
    }
  }

  expect(ends).toEqual(["succeeded", "superseded"]);
  expect(mock.requests.map(({ body }) => (body as V2Contact).firstName)).toEqual(["Ada 1", "Ada"]);
});

it.each([
  ["was refused as in doubt", { double_opt_in: true }, undefined, ["unknown", "unknown", "succeeded"]],
  ["passed its deadline in the queue", {}, { deadlineMs: 50 }, ["succeeded", "failed", "succeeded"]],
])(
  "After a night in which the row %s, its opt-out is newer than a consent of that night",
  async (...args) => {
    const [, more, options, expected] = args;
    const isInDoubt = options === undefined;
    const rateLimiter = new RateLimiter({ windows: [{ limit: 2, intervalMs: 300 }] });
    const world = createFixture(
      isInDoubt
        ? { faults: [{ kind: "500-after", operation: "v1.contactGroups.addContact", times: 1 }] }
        : {},
      { rateLimiter },
    );
    const { audience } = world;
    const checkpoint = new MemoryCheckpoint();
    const ends: string[] = [];
    const night = async (item: Row, { call, written }: { call?: object; written?: Row } = {}) => {
      if (call) for (let each = 0; each < 3; each++) await audience.v1.contactGroups.get("mock-list");
      const send = (contact: Row, request: BulkRequest) =>
        audience.v1.contactGroups.addContact("mock-list", contact, { ...request, ...call });
      for await (const { status } of audience.bulk([item], send, { key, checkpoint })) {
        ends.push(status);
        if (written) await audience.v1.customers.upsert(written);
      }
    };
    const neither = { ...row(0), email_opt_in: "NON_SUBSCRIBED", ...more } as const;

    await night({ ...neither, first_name: "1" } as Row);
    await night({ ...neither, first_name: "2" } as Row, {
      ...(options && { call: options }),
      written: row(0),
    });
    await night(optOut);

    expect(ends).toEqual(expected);
    expect(consentOf(world)).toBe("UNSUBSCRIBED");
  },
);

interface Member {
  readonly id: string;
  readonly contact: { readonly email_opt_in?: "SUBSCRIBED"; readonly first_name: string };
}

it("A new row of the contact that states no consent does not make an opt-out forgotten", async () => {
  const { audience, mock } = createFixture();
  const email = "ada@example.com";
  const options = { checkpoint: new MemoryCheckpoint(), key: ({ id }: Member) => id, concurrency: 1 };
  const night = (items: readonly Member[]) =>
    audience.bulk(
      items,
      ({ contact }, request) => audience.v1.customers.upsert({ email, ...contact }, request),
      options,
    );
  const member = (first_name: string): Member => ({
    id: "member",
    contact: { email_opt_in: "SUBSCRIBED", first_name },
  });
  for await (const _ of night([member("Ada")]))
    await audience.v1.customers.upsert({ email, email_opt_in: "UNSUBSCRIBED" });

  const profile = (first_name: string): Member => ({ id: "profile", contact: { first_name } });

  const nights = [await night([profile("Ada L."), member("Ada L.")]), await night([profile("A. L.")])];

  // The effect of a missing opt-in on a contact is not documented.
  expect(nights).toMatchObject([{ succeeded: 1, superseded: 1 }, { superseded: 1 }]);
  expect(mock.organization("mock-organization").contacts).toMatchObject([{ email_opt_in: "UNSUBSCRIBED" }]);
});
