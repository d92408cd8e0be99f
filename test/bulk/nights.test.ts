import {
  type AudienceClient,
  type BulkOptions,
  type BulkRequest,
  RateLimiter,
  type V1Contact,
  type V2Contact,
} from "audience-sdk";
import { describe, expect, it } from "vitest";
import { createFixture, key, row, type Row, v2Contact } from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";
import { casesOf, play } from "./night-table.ts";

const ada = row(0);

const laterCalls = casesOf(`
  supersedes the row on the next night
    ada:+; call ada:-; ada:+; ada:0; ada:0 | succeeded superseded succeeded succeeded | ada:0
  supersedes a row that was superseded by it, whatever else changes, until its own consent does
    early call ada:-; ada:+; ada:+ (unchanged); ada:+; ada:+ (unchanged); ada:0; ada:0 | superseded superseded superseded superseded succeeded succeeded | ada:0
  supersedes a row that names another channel only now
    ada:+; call ada:-; ada:++ | succeeded superseded | ada:-
  supersedes a row that changes the consent of another channel
    early call ada:-; ada:+0; ada:++ | superseded superseded | ada:-
  supersedes a channel that the row lacked that night
    ada:++; ada:+; call ada:.-; ada:++ | succeeded succeeded superseded | ada:+-
  supersedes a row that leaves the consent to the service
    ada:?; call ada:-; ada:?; ada:+ | succeeded superseded succeeded | ada:+
  supersedes a row that stated a consent, and then leaves it to the service
    ada:+; call ada:-; ada:?; ada:? (unchanged); ada:? | succeeded superseded superseded superseded | ada:-
  supersedes a row that lacked its consent for a night, and states it again
    ada:+; call ada:-; ada:?; ada:+ | succeeded superseded superseded | ada:-
  supersedes a row that was superseded, lacked its consent for a night, and states it again
    early call ada:-; ada:+; ada:?; ada:+ | superseded superseded superseded | ada:-
  does not supersede another consent after such a night
    early call ada:-; ada:+; ada:?; ada:0 | superseded superseded succeeded | ada:0
  does not supersede a status that comes back: it is as new as another one
    ada:+; ada:0; call ada:-; ada:+ | succeeded succeeded succeeded | ada:+
  does not supersede a channel that the row states for the first time
    ada:+; ada:+; call ada:.+; ada:+- | succeeded succeeded succeeded | ada:+-
  does not supersede a row that states a consent after it had left it to the service
    early call ada:+; ada:?; ada:- | superseded succeeded | ada:-
  does not supersede a changed opt-out, though the row names another consent first
    early call ada:0; ada:.+ ada:+; ada:.+ ada:- | superseded succeeded | ada:-
  does not supersede an opt-out by telephone, though the address has changed as well
    early call ada:.+; ada:+0; ada2:+- | superseded succeeded | ada2:+-
  of a telephone alone supersedes a row by e-mail that says the same, as the row leaves it to the service
    early call ada:++; ada:+; ada:+; ada:- | superseded superseded succeeded | ada:-+
  supersedes a row that names the telephone and leaves its consent to the service
    early call ada:+-; ada:+?; ada:0? | superseded superseded | ada:+-
  supersedes a row that fails that night
    ada:0; ada:+ (refused); call ada:-; ada:+ | succeeded failed superseded | ada:-
  does not supersede the opt-out that follows a night of failure
    ada:0 (refused); call ada:+; ada:- | failed succeeded | ada:-
  does not supersede an opt-out that failed on the next night, and comes on the one after it
    ada:+; call ada:0; ada:- (refused); ada:- (unchanged) | succeeded failed succeeded | ada:-
  of a better consent does not supersede the row on later nights
    ada:0; call ada:+; ada:0; call ada:+; ada:- | succeeded succeeded succeeded | ada:-
  of a better consent does not supersede the row on later nights, without a look either
    ada:0; call ada:+; ada:0 (no look) | succeeded succeeded | ada:0
  of a better consent holds a row that it superseded, without a look
    early call ada:+; ada:0; ada:0 (no look) | superseded superseded | ada:+
  of an opt-out supersedes a row that leaves the consent to the service, while the service shows no opt-in
    ada:?; call ada:-; tool ada:0; ada:? | succeeded superseded | ada:0
  does not supersede what a row leaves to the service, if another of its calls decides it anew
    ada:0; call ada:0; ada:0 ada:+ ada:? | succeeded succeeded | ada:+
  of an opt-out supersedes a row that says neither, until a further call brings the person back
    ada:0; call ada:-; ada:0; call ada:+; ada:0 | succeeded superseded succeeded | ada:0
  supersedes an opt-out of the same run, and not on the next night, when the service knows the contact
    ada:0; early call ada:+; ada:-; ada:- | succeeded superseded succeeded | ada:-
  supersedes the row on each later night, also without a look
    ada:+; call ada:-; ada:+ (no look); ada:+ (no look) | succeeded superseded superseded | ada:-
  of NON_SUBSCRIBED does not supersede an opt-out on later nights
    ada:-; call ada:0; ada:- | succeeded succeeded | ada:-
  of the end of a suppression does not supersede the row on later nights, without a look either
    ada:+; call ada:+.x; ada:+ (no look) | succeeded succeeded | ada:+
  does not supersede an opt-in that is new in its channel, though the row has another one
    ada:+0; call ada:+-; ada:++ | succeeded succeeded | ada:++
  of one channel is not forgotten as another call says the same of another
    ada:++; call ada:?-; call ada:-?; ada:0+ (no look) | succeeded superseded | ada:--
  does not supersede a row that is new on the next night
    early call ada:-; ada:+ (absent); ada:+ | superseded succeeded | ada:+
`);

describe("A consent that another call wrote during a night", () => {
  it.each(laterCalls)("%s", async (_, steps, ends, people) => {
    for (const isRewritten of [false, true])
      expect(await play(steps, { isRewritten })).toMatchObject({ ends, people });
  });
});

describe("After a night on which a row failed before its call, and another call wrote its contact", () => {
  it.each([
    ["the unchanged row is superseded", ada, "superseded", "UNSUBSCRIBED"],
    [
      "a changed row is sent, as its decision is new",
      { ...ada, first_name: "Ada" },
      "succeeded",
      "SUBSCRIBED",
    ],
  ])("%s", async (_, tonight, status, consent) => {
    const { audience, mock, upsert } = createFixture();
    const options = { key, checkpoint: new MemoryCheckpoint() };
    const failing = async (_item: Row, _request: BulkRequest) => {
      throw new Error("the database is down");
    };
    const statuses: string[] = [];
    for await (const result of audience.bulk([ada], failing, options)) {
      statuses.push(result.status);
      await audience.v1.customers.upsert({ email: ada.email, email_opt_in: "UNSUBSCRIBED" });
    }

    const second = await audience.bulk([tonight], upsert, options);

    expect(statuses).toEqual(["failed"]);
    expect(second).toMatchObject({ [status]: 1 });
    expect(mock.organization("mock-organization").contacts).toMatchObject([{ email_opt_in: consent }]);
  });
});

const households = casesOf(`
  a new decision about one person is none about another
    ada:+ bob:+; call bob:-; ada:- bob:+ | succeeded superseded | ada:- bob:-
  a status is new for a person, whoever else of the row has stated it before
    ada:0 bob:+; call ada:-; ada:+ bob:+ | succeeded succeeded | ada:+ bob:+
  a person whom the row lacked for a night has decided nothing since
    ada:- bob:+; call bob:-; ada:-; ada:- bob:+ | succeeded succeeded superseded | ada:- bob:-
  a person whom a failed night did not reach has decided nothing since
    ada:- bob:+; call bob:-; ada:- bob:+ (refused); ada:- bob:+ | succeeded failed superseded | ada:- bob:-
  a person whose address changes has made no new decision
    ada:+; call ada2:-; ada2:+ | succeeded superseded | ada:+ ada2:-
`);

describe("Of a row that writes several people", () => {
  it.each(households)("%s", async (_, steps, ends, people) => {
    for (const isRewritten of [false, true])
      expect(await play(steps, { isRewritten })).toMatchObject({ ends, people });
  });

  it("a new person is no decision about another, where both are written at once", async () => {
    const [both, meanwhile] = ["ada:+ bob:0", ["ada:+", "call ada:-"]];
    const sent: Promise<unknown>[] = [];
    const send = async (audience: AudienceClient, contact: V1Contact, request: BulkRequest) => {
      sent.push(audience.v1.customers.upsert(contact, request));
      if (contact.email === "bob@example.com" || sent.length === 1) await Promise.all(sent);
    };

    expect(await play([...meanwhile, both], { send })).toMatchObject({
      ends: "succeeded superseded",
      people: expect.stringContaining("ada:-"),
    });
  });
});

const endedEarly = casesOf(`
  a consent binds the run that goes on
    ada:0 (left); call ada:-; ada:+ | succeeded superseded | ada:-
  a row that the run had not met is bound, until its own consent changes
    (left); call ada:-; ada:+ (left); ada:+; ada:0 | succeeded superseded superseded succeeded | ada:0
  an opt-in that has changed meanwhile is bound, until it changes again
    ada:0 (left); (absent, left); call ada:-; ada:+; ada:+; ada:+?; ada:0 | succeeded succeeded superseded superseded superseded succeeded | ada:0
  an opt-out that has changed meanwhile is sent
    ada:+ (left); call ada:0; ada:-; ada:- (unchanged) | succeeded succeeded skipped | ada:-
  an opt-out that has changed meanwhile is sent each night, though a call came right before it was read
    ada:+ (left); call ada:+; early call ada:0; ada:- (left); ada:- | succeeded succeeded succeeded | ada:-
  a look does not release a row from it before the run is over
    ada:+ (left); call ada:-; ada:+ (left); tool ada:+; ada:+; ada:+ | succeeded superseded superseded succeeded | ada:+
  an opt-in of another channel is bound, though the row opts out of one
    ada:+0 (left); call ada:0-; ada:-+; ada:-+ | succeeded superseded superseded | ada:0-
`);

describe("After an early end of a run", () => {
  it.each(endedEarly)("%s", async (_, steps, ends, people) => {
    for (const isRewritten of [false, true])
      expect(await play(steps, { isRewritten })).toMatchObject({ ends, people });
  });
});

const cases = casesOf(`
  subscribes again by another process, after the service had superseded the row
    ada:+; person ada:-; ada:+; tool ada:+; ada:+ | succeeded superseded succeeded | ada:+
  subscribes again by another process, after another call had superseded the row
    ada:+; call ada:-; ada:+; tool ada:+; ada:+ | succeeded superseded succeeded | ada:+
  subscribes again by a call of the client, after another call had superseded the row
    ada:+; call ada:-; ada:+; call ada:+; ada:+ | succeeded superseded succeeded | ada:+
  is no longer suppressed
    ada:+; tool ada:+.s; ada:+; tool ada:+.x; ada:+ | succeeded superseded succeeded | ada:+
  opts out by telephone on the night on which the service supersedes the row, and has no other opt-in later
    ada:++; person ada:-; ada:+-; ada:.-; ada:.- (unchanged) | succeeded superseded succeeded skipped | ada:--
  opts out again after the service had superseded the row, which left the consent to it
    ada:-; ada:?; tool ada:+; ada:- | succeeded superseded succeeded | ada:-
  opts out by a row whose other contact had refused
    ada:+ bob:-; person ada:-; ada:+ bob:-; tool bob:+; bob:- | succeeded superseded succeeded | ada:- bob:-
  answers the mail of a double opt-in late
    ada:+ (double opt-in); ada:+ (double opt-in); ada confirms; ada:+ (double opt-in) | succeeded succeeded succeeded | ada:+
  subscribes in the user's own table, after the service had superseded the row
    ada:+; person ada:-; ada:+; ada:-; ada:+ | succeeded superseded succeeded succeeded | ada:+
  subscribes in the user's own table, and the first night of it fails
    ada:-; ada:+ (refused); ada:+ (unchanged); ada:+ | succeeded failed succeeded succeeded | ada:+
  subscribes in the user's own table, and several nights of it fail
    ada:0; ada:+ (refused); ada:+ (refused); ada:+ (refused); ada:+ | succeeded failed failed failed succeeded | ada:+
  subscribes again by another process, though an opt-out and an opt-in of the row had failed before another call's opt-out
    ada:+; ada:- (refused); ada:+ (refused); call ada:-; tool ada:+; ada:?; ada:+ | succeeded failed failed succeeded succeeded | ada:+
  changes the address after the service had superseded the row, and subscribes again
    ada:+; person ada:-; ada2:+; tool ada:+; ada2:+ | succeeded superseded succeeded | ada2:+
`);

describe("A person is not stuck who", () => {
  it.each(cases)("%s", async (_, steps, ends, people) => {
    for (const isRewritten of [false, true])
      expect(await play(steps, { isRewritten })).toMatchObject({
        ends,
        people: expect.stringContaining(people),
      });
  });

  it("answers the mail of a double opt-in late, at a service that shows NON_SUBSCRIBED until then", async () => {
    const send = ({ v1 }: AudienceClient, contact: V1Contact, request: BulkRequest) => {
      const stated = { ...contact, email_opt_in: "SUBSCRIBED", double_opt_in: true } as const;
      return v1.customers.upsert(stated, request);
    };

    const played = await play(["ada:+", "ada:+", "ada confirms", "ada:+"], {
      send,
      variants: { doubleOptIn: "pending" },
    });

    expect(played.ends).toBe("succeeded succeeded succeeded");
  });

  it("has no channel shown, as a service shows few fields", async () => {
    const played = await play(["ada:++", "ada:++"], { variants: { profileAttributes: "documented" } });

    expect(played).toMatchObject({ ends: "succeeded succeeded", looks: "0 1", people: "ada:++" });
  });
});

describe("A direct call brings a person back at once", () => {
  it.each(
    casesOf(`
  and the unchanged row stays superseded, which changes nothing of it
    ada:+; person ada:-; ada:+; tool ada:+; ada:+ (unchanged); ada:+ | succeeded superseded superseded succeeded | ada:+
  during the night on which it comes
    early call ada:-; ada:0 (absent); early call ada:+; ada:+ | superseded succeeded | ada:+
`),
  )("%s", async (_, steps, ends, people) => {
    for (const isRewritten of [false, true])
      expect(await play(steps, { isRewritten })).toMatchObject({ ends, people });
  });
});

const optOut: Row = { ...ada, email_opt_in: "UNSUBSCRIBED" };
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

it.each([
  ["by the id alone, which an earlier night has recorded", ""],
  ["by this id with blanks around it", " "],
])("A row is superseded by a call that names its contact %s", async (_, blank) => {
  const { audience, mock, upsert } = createFixture();
  const checkpoint = new MemoryCheckpoint();
  const options = { key, checkpoint, checkConsent: false };
  await audience.bulk([row(0)], upsert, options);
  const [contact] = mock.organization("mock-organization").contacts;
  async function* source() {
    const path = `/api/v1/customer/${contact!.id}`;
    const custom = audience.withOptions({ fetch: async () => Response.json({}) }).v1;
    const contactUUID = blank + contact!.id + blank;
    await custom.request({ method: "PATCH", path, body: {}, contact: { contactUUID } });
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
  const upsert = (status: string, firstName: string, request?: BulkRequest) =>
    audience.v2.contacts.upsert({ ...v2Contact("ada@example.com", status), firstName }, request);
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
