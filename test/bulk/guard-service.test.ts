import {
  type AudienceClient,
  RateLimiter,
  type BulkOptions,
  type BulkRequest,
  type V1Contact,
} from "audience-sdk";
import type { MockServiceOptions } from "audience-sdk/mock";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  collectRun,
  createFixture,
  deferred,
  key,
  row,
  until,
  type Row,
  v2Contact,
  passUntil,
  passUntilSettled,
  useFakeTime,
} from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";
import { casesOf, play } from "./night-table.ts";

const refused = casesOf(`
  an unsubscription
    ada:+; person ada:-; ada:+ | succeeded superseded | ada:- | 0 1
  an unsubscription by telephone
    ada:.+; person ada:.-; ada:.+ | succeeded superseded | ada:.- | 0 1
  an unsubscription from one of two channels
    ada:++; person ada:.-; ada:++ | succeeded superseded | ada:+- | 0 1
  suppression
    ada:+; tool ada:+.s; ada:+ | succeeded superseded | ada:+.s | 0 1
  suppression, though the row ends one again, as on the night before
    ada:+.x; tool ada:+.s; ada:+.x | succeeded superseded | ada:+.s | 0 1
  NON_SUBSCRIBED
    ada:+; tool ada:0; ada:+ | succeeded superseded | ada:0 | 0 1
  that she is deleted
    ada:+; everyone is deleted; ada:+ | succeeded superseded |  | 0 1
  an unsubscription, where the row leaves the channel to the service
    ada:?; person ada:-; ada:? | succeeded superseded | ada:- | 0 1
  NON_SUBSCRIBED, where the row has subscribed her, and now leaves the channel to the service
    ada:+; tool ada:0; ada:? | succeeded superseded | ada:0 | 0 1
  an unsubscription, though the row changes the consent of another channel
    ada:+0; person ada:-; ada:++ | succeeded superseded | ada:-0 | 0 1
  an unsubscription, though the row names a channel more
    ada:+; person ada:-; ada:++ | succeeded superseded | ada:- | 0 1
  an unsubscription after a double opt-in
    ada:+ (double opt-in); person ada:-; ada:+ (double opt-in) | succeeded superseded | ada:- | 0 1
  an unsubscription before her address changed
    ada:+; person ada:-; ada2:+ | succeeded superseded | ada:- | 0 1
  an unsubscription after her address changed, and changes again
    ada:+; bob:+; person bob:-; ada2:+ | succeeded succeeded superseded | ada:+ bob:- | 0 1 1
  an unsubscription after another call had ended the row's own opt-out, though its opt-in failed on the night before
    ada:-; call ada:+; ada:+ (refused); person ada:-; ada:+ | succeeded failed superseded | ada:- | 0 0 1
  an unsubscription of a contact that the row has had before, and has again
    ada:+; bob:+; person ada:-; ada:+ | succeeded succeeded superseded | ada:- bob:+ | 0 1 1
  an unsubscription of one of the row's two people
    ada:+ bob:+; person bob:-; ada:+ bob:+ | succeeded superseded | ada:+ bob:- | 0 2
  an unsubscription of one of them, as the address of the other changes
    ada:+ bob:+; person ada:-; ada2:+ bob:+ | succeeded superseded | ada:- bob:+ | 0 1
  an unsubscription of one whom the row lacked for a night
    ada:+ bob:+; ada:+; person bob:-; ada:+ bob:+ | succeeded succeeded superseded | ada:+ bob:- | 0 1 2
  an unsubscription after a night of failure
    ada:+; ada:+ (refused); person ada:-; ada:+ (unchanged) | succeeded failed superseded | ada:- | 0 1 1
  NON_SUBSCRIBED after a night of failure
    ada:+; ada:+ (refused); tool ada:0; ada:+ (unchanged) | succeeded failed superseded | ada:0 | 0 1 1
  NON_SUBSCRIBED, which the row had said itself before its opt-in was applied
    ada:0; ada:+; tool ada:0; ada:+ | succeeded succeeded superseded | ada:0 | 0 0 1
  an unsubscription after a night in which her opt-in was new, and failed
    ada:0; ada:+ (refused); person ada:-; ada:+ (unchanged) | succeeded failed superseded | ada:- | 0 0 1
  an unsubscription though the run goes on since before, and its changed row may have been applied
    ada:+ (left); ada:+ (in doubt, left); person ada:-; ada:+ (unchanged) | succeeded unknown superseded | ada:- | 0 1 1
  an unsubscription after a new opt-in that may have been applied
    ada:0; ada:+ (in doubt); person ada:-; ada:+ (unchanged) | succeeded unknown superseded | ada:- | 0 0 1
  an unsubscription after a new opt-in that may have been applied, though the row itself had opted her out before
    ada:-; ada:+ (in doubt); person ada:-; ada:+ (unchanged) | succeeded unknown superseded | ada:- | 0 0 1
`);

const sent = casesOf(`
  the row's own NON_SUBSCRIBED, as its opt-in may not have been applied
    ada:0; ada:+ (in doubt); tool ada:0; ada:+ (unchanged) | succeeded unknown succeeded | ada:+ | 0 0 1
  SUBSCRIBED
    ada:+; ada:+ | succeeded succeeded | ada:+ | 0 1
  the consent of the contact that the row had first, whatever it said of another one meanwhile
    ada:+; bob:-; ada:+ | succeeded succeeded succeeded | ada:+ bob:- | 0 0 1
  NON_SUBSCRIBED, where the row asked her to confirm, and she has not
    ada:+ (double opt-in); tool ada:0; ada:+ (double opt-in) | succeeded succeeded | ada:+ | 0 1
  NON_SUBSCRIBED, where the row never subscribed her
    ada:?; tool ada:0; ada:? | succeeded succeeded | ada:0 | 0 1
  the row's own NON_SUBSCRIBED, as its opt-in failed on the night before
    ada:0; ada:+ (refused); ada:+ | succeeded failed succeeded | ada:+ | 0 0 1
  the row's own UNSUBSCRIBED, as its opt-in failed on the night before
    ada:-; ada:+ (refused); ada:+ | succeeded failed succeeded | ada:+ | 0 0 1
  the row's own UNSUBSCRIBED, as neither of its two decisions since then was applied
    ada:-; ada:0 (refused); ada:+ (refused); ada:+ | succeeded failed failed succeeded | ada:+ | 0 0 0 1
  the row's own UNSUBSCRIBED, though another call has written the same, and another channel
    ada:-; call ada:-+; ada:+ (refused); ada:+ | succeeded failed succeeded | ada:++ | 0 0 1
  the row's own UNSUBSCRIBED, though another call had subscribed her before the row said so
    ada:0; call ada:+; ada:-; ada:+ (refused); ada:+ | succeeded succeeded failed succeeded | ada:+ | 0 0 0 1
  what the row says of a contact whose address has changed, beside another one that is looked up once
    bob:+ ada:+; bob:+ ada2:+ | succeeded succeeded | ada:+ ada2:+ bob:+ | 0 2
  an unsubscription from a channel that the row does not name
    ada:++; ada:+; tool ada:+-; ada:+ | succeeded succeeded succeeded | ada:+- | 0 1 1
  the suppression that the row states itself
    ada:+.s; ada:+.s | succeeded succeeded | ada:+.s | 0 1
  suppression, which the row ends for the first time
    ada:+; tool ada:+.s; ada:+.x | succeeded succeeded | ada:+ | 0 1
  an unsubscription by another call from a channel that the row does not name
    ada:++; ada:+; call ada:+-; ada:+ | succeeded succeeded succeeded | ada:+- | 0 1 1
  SUBSCRIBED, which a second call of the row by fewer names does not ask for again
    ada:++ ada:+; ada:++ ada:+ | succeeded succeeded | ada:++ | 0 1
`);

const noLook = casesOf(`
  a new row
    ada:+ | succeeded | ada:+ | 0
  an unchanged row
    ada:+; person ada:-; ada:+ (unchanged) | succeeded skipped | ada:- | 0 0
  a row whose own consent is new
    ada:0; ada:+ | succeeded succeeded | ada:+ | 0 0
  an opt-out
    ada:-; ada:- | succeeded succeeded | ada:- | 0 0
  NON_SUBSCRIBED
    ada:0; ada:0 | succeeded succeeded | ada:0 | 0 0
  an opt-out after an opt-in
    ada:+; ada:-; ada:- | succeeded succeeded succeeded | ada:- | 0 0 0
  a row without checkConsent
    ada:+; person ada:-; ada:+ (no look) | succeeded succeeded | ada:+ | 0 0
  a row that the service superseded, while it does not change
    ada:+; person ada:-; ada:+; ada:+ (unchanged) | succeeded superseded superseded | ada:- | 0 1 0
  a row that was superseded, and whose own consent changes
    ada:+; person ada:-; ada:+; ada:0 | succeeded superseded succeeded | ada:0 | 0 1 0
  a row that was superseded, and then holds without checkConsent, whatever it leaves to the service
    ada:+?; person ada:-; ada:+?; ada:+? (no look) | succeeded superseded superseded | ada:-0 | 0 1 0
  a row that was superseded, and decides anew without checkConsent what was refused
    ada:++; person ada:-; ada:++; ada:0+ (no look) | succeeded superseded succeeded | ada:0+ | 0 1 0
  a row without an id, as its first night failed
    ada:+ (refused); ada:+ | failed succeeded | ada:+ | 0 0
`);

describe("A changed row is superseded if the service shows", () => {
  it.each(refused)("%s", async (_, steps, ends, people, looks) => {
    for (const isRewritten of [false, true])
      expect(await play(steps, { isRewritten })).toMatchObject({ ends, looks, people });
  });
});

describe("A changed row is sent if the service shows", () => {
  it.each(sent)("%s", async (_, steps, ends, people, looks) => {
    for (const isRewritten of [false, true])
      expect(await play(steps, { isRewritten })).toMatchObject({ ends, looks, people });
  });
});

describe("No look is made for", () => {
  it.each(noLook)("%s", async (_, steps, ends, people, looks) => {
    for (const isRewritten of [false, true])
      expect(await play(steps, { isRewritten })).toMatchObject({ ends, looks, people });
  });
});

describe("A row that is added to a list", () => {
  const addContact = (audience: AudienceClient, contact: V1Contact, request: BulkRequest) =>
    audience.v1.contactGroups.addContact("list", contact as Row, { ...request, consent: "service-decides" });

  it.each(
    casesOf(`
  is looked up
    ada:+; person ada:-; ada:+ | succeeded superseded | ada:- | 0 1
  and leaves the consent to the service is looked up
    ada:?; person ada:-; ada:? | succeeded superseded | ada:- | 0 1
  twice is looked up once
    ada:+ (twice); ada:+ (twice); person ada:-; ada:+ (twice) | succeeded succeeded superseded | ada:- | 0 1 1
`),
  )("%s", async (_, steps, ends, people, looks) => {
    expect(await play(steps, { send: addContact })).toMatchObject({ ends, looks, people });
  });
});

function sendByV2({ v2 }: AudienceClient, contact: V1Contact, request: BulkRequest) {
  const { city, email = "", email_opt_in = "" } = contact;
  return v2.contacts.upsert({ ...v2Contact(email, email_opt_in.toLowerCase()), city }, request);
}

it("A row of v2 costs no look, as its response gives no id", async () => {
  const played = await play(["ada:+", "person ada:-", "ada:+"], { send: sendByV2 });

  expect(played).toMatchObject({ ends: "succeeded succeeded", looks: "0 0" });
});

it("A contact of v2 is not judged by another contact of its row, whose response gives an id", async () => {
  const send = async (audience: AudienceClient, contact: V1Contact, request: BulkRequest) => {
    await sendByV2(audience, contact, request);
    await audience.v1.customers.upsert({ phone: "+15550199", phone_opt_in: "SUBSCRIBED" }, request);
  };

  const played = await play(["ada:+", "ada:+"], { send });

  expect(played).toMatchObject({ ends: "succeeded succeeded", looks: "0 1" });
});

function sendByV1({ v1 }: AudienceClient, contact: V1Contact, request: BulkRequest): Promise<unknown> {
  return v1.customers.upsert(contact, request);
}

it.each([
  ["v1 and then by v2", [sendByV1, sendByV2]],
  ["v2 and then by v1", [sendByV2, sendByV1]],
])("A row that writes a contact by %s is looked up by the id that v1 gave", async (_, sends) => {
  const send = async (audience: AudienceClient, contact: V1Contact, request: BulkRequest) => {
    for (const each of sends) await each(audience, contact, request);
  };

  const played = await play(["ada:+", "person ada:-", "ada:+"], { send });

  expect(played).toMatchObject({ ends: "succeeded superseded", looks: "0 1", people: "ada:-" });
});

it.each([
  ["is looked up by the id that v1 gave on an earlier night", "ada:+; ada:+; person ada:-; ada:+", "0 1 1"],
  [
    "changes to another address and back is looked up by the other one's id",
    "ada:+; bob:+; person bob:-; ada:+",
    "0 0 1",
  ],
])("A row that writes a contact by one family, and later by the other, and %s", async (_, steps, looks) => {
  const isByV1 = ({ city }: V1Contact) => (city === "City 1") === (looks === "0 1 1");
  const send: typeof sendByV1 = (audience, contact, request) =>
    (isByV1(contact) ? sendByV1 : sendByV2)(audience, contact, request);

  expect(await play(steps.split("; "), { send })).toMatchObject({
    ends: "succeeded succeeded superseded",
    looks,
  });
});

it("A person whose call failed on a night that brought another one is looked up as the address changes", async () => {
  const send = async (audience: AudienceClient, contact: V1Contact, request: BulkRequest) => {
    await sendByV1(audience, contact, request).catch(() => undefined);
  };

  const played = await play(["ada:+", "ada:+ bob:+ (refused)", "person ada:-", "ada2:+ bob:+"], { send });

  expect(played).toMatchObject({ ends: "succeeded succeeded superseded", people: "ada:- bob:+" });
});

it("Once a row is superseded, no other contact of it is looked up", async () => {
  const send = async (audience: AudienceClient, contact: V1Contact, request: BulkRequest) => {
    await sendByV1(audience, contact, request).catch(() => undefined);
  };

  const played = await play(["ada:+ bob:+", "person ada:-", "ada:+ bob:+"], { send });

  expect(played).toMatchObject({ ends: "succeeded superseded", looks: "0 1", people: "ada:- bob:+" });
});

it("A row whose first call is refused as in doubt is looked up once for the others", async () => {
  const send = async (audience: AudienceClient, contact: V1Contact, request: BulkRequest) => {
    const isLast = contact.city === "City 3";
    const mailed = sendByV1(audience, { ...contact, double_opt_in: true }, request);
    await (isLast ? mailed.catch(() => undefined) : mailed);
    if (isLast) await sendByV1(audience, contact, request);
    if (isLast) await sendByV1(audience, contact, request);
  };

  const played = await play(["ada:+", "ada:+ (in doubt)", "ada:+"], { send });

  expect(played).toMatchObject({ ends: "succeeded unknown unknown", looks: "0 1 1" });
});

it("A row that only sends events costs no look", async () => {
  const send = ({ v1 }: AudienceClient, { email, city }: V1Contact, request: BulkRequest) =>
    v1.events.send({ eventName: "imported", contact: { email }, eventData: { city } }, request);

  const played = await play(["ada:+", "ada:+"], { send });

  expect(played).toMatchObject({ ends: "succeeded succeeded", looks: "0 0" });
});

it.each([
  ["without a key", (): BulkOptions<Named> => ({ checkpoint: new MemoryCheckpoint() })],
  ["without a checkpoint", (): BulkOptions<Named> => ({ key })],
])("A run %s costs no look", async (_, optionsOf) => {
  const world = createFixture();
  const options = optionsOf();
  await world.audience.bulk([named("Ada")], world.upsert, options);
  world.mock.unsubscribe(row(0).email);

  await world.audience.bulk([named("Ada L.")], world.upsert, options);

  expect(operations(world)).toEqual(["v1.customers.upsert", "v1.customers.upsert"]);
});

it.each(["service", "snapshot"])(
  "What a %s has refused stays refused on later nights, without a look too",
  async (reason) => {
    const world = createFixture();
    const options = await firstNight(world);
    world.mock.unsubscribe(row(0).email);
    await world.audience.bulk([named("Ada L.")], world.upsert, options);
    const lines = options.checkpoint.lines.map((line) =>
      line.replace("superseded-service", `superseded-${reason}`),
    );
    const later = { ...options, checkpoint: new MemoryCheckpoint(lines), checkConsent: false };

    const third = await collectRun(world.audience.bulk([named("Ada L.")], world.upsert, later));
    const fourth = await collectRun(world.audience.bulk([named("A. L.")], world.upsert, later));

    expect(third.results).toEqual([
      { index: 0, key: row(0).email, item: named("Ada L."), status: "superseded", reason },
    ]);
    expect(fourth.results).toMatchObject([{ status: "superseded", reason }]);
    expect(writes(world)).toHaveLength(1);
  },
);

it("A row that the service supersedes has the contact that the service shows, and its next night has none", async () => {
  const world = createFixture();
  const options = await firstNight(world);
  world.mock.unsubscribe(row(0).email);

  const second = await collectRun(world.audience.bulk([named("Ada L.")], world.upsert, options));
  const third = await collectRun(world.audience.bulk([named("Ada L.")], world.upsert, options));

  expect(second.results).toMatchObject([
    {
      status: "superseded",
      reason: "service",
      service: { type: "profile", attributes: { email: row(0).email, email_opt_in: "UNSUBSCRIBED" } },
      error: { code: "aborted", outcome: "not-sent" },
    },
  ]);
  expect(third.results).toEqual([
    { index: 0, key: row(0).email, item: named("Ada L."), status: "superseded", reason: "service" },
  ]);
  expect(operations(world)).toEqual(["v1.customers.upsert", "v1.customers.get"]);
});

it("A row whose contact is deleted at the service has no `service`", async () => {
  const world = createFixture();
  const options = await firstNight(world);
  world.mock.reset();

  const { results } = await collectRun(world.audience.bulk([named("Ada L.")], world.upsert, options));

  expect(results).toMatchObject([{ status: "superseded", reason: "service" }]);
  expect(results[0]).not.toHaveProperty("service");
  expect(operations(world)).toEqual(["v1.customers.get"]);
});

describe("A row whose look fails", () => {
  /** A text is the body of a gateway's 404. */
  const failures: [string, Partial<ClientOptions>, object, string | MockServiceOptions["faults"]][] = [
    [
      "with 500s",
      { maxRetries: 1 },
      { code: "server", status: 500 },
      [{ kind: "500-before", operation: get, times: 2 }],
    ],
    ["with a 404 of a gateway", {}, { code: "not_found", status: 404 }, "<h1>Not Found</h1>"],
    ["with a 404 that says nothing", {}, { code: "not_found", status: 404 }, "null"],
    [
      "with a timeout",
      { maxRetries: 0, timeoutMs: 50 },
      { code: "timeout" },
      [{ kind: "hang", operation: get, times: 1 }],
    ],
    [
      "with a broken body",
      {},
      { code: "unexpected_response" },
      [{ kind: "wrong-json", operation: get, times: 1 }],
    ],
  ];

  it.each([
    ["run is aborted", "aborted", (stop: AbortController) => stop.abort()],
    ["client is closed", "closed", (_: AbortController, audience: AudienceClient) => audience.close()],
  ])("because the %s meanwhile is not sent, and looked up on the next night", async (_, code, end) => {
    const world = createFixture();
    const options = await firstNight(world);
    world.mock.addFault({ kind: "hang", operation: get, times: 1 });
    const stop = new AbortController();
    const { audience, upsert } = createFixture({}, world.mock.clientOptions);
    const run = collectRun(
      audience.bulk(namedPeople(["Ada L."]), upsert, { ...options, signal: stop.signal }),
    );
    await vi.waitFor(() => expect(operations(world)).toContain(get));

    await end(stop, audience);
    const { results, error } = await run;
    const next = await world.audience.bulk(namedPeople(["Ada L."]), world.upsert, options);

    expect([results, error]).toMatchObject([[], { code, outcome: "not-sent" }]);
    expect(next).toMatchObject({ succeeded: 1 });
    expect(operations(world)).toEqual(["v1.customers.upsert", get, get, "v1.customers.upsert"]);
  });

  it.each(failures)(
    "%s fails, is neither sent nor recorded, and is looked up on the next night",
    async (...args) => {
      const [, clientOptions, cause, given = []] = args;
      const world = createFixture();
      const options = await firstNight(world);
      const before = options.checkpoint.lines;
      const isGateway = typeof given === "string";
      for (const fault of isGateway ? [] : given) world.mock.addFault(fault);
      const fetch = isGateway ? gatewayOf(world, given) : world.mock.fetch;
      const audience = world.audience.withOptions({ ...clientOptions, fetch });
      const stopWhen = vi.fn(() => false);

      const { results, error } = await collectRun(
        audience.bulk([named("Ada L.")], (item, request) => audience.v1.customers.upsert(item, request), {
          ...options,
          stopWhen,
        }),
      );

      expect(error).toBeUndefined();
      expect(results).toMatchObject([{ status: "failed", error: { ...notLookedUp, cause } }]);
      expect(results[0]?.error).toMatchObject({ request: { operation: "v1.customers.upsert", attempts: 0 } });
      expect(stopWhen.mock.calls).toMatchObject([[cause]]);
      expect(writes(world)).toHaveLength(1);
      expect(rowLines(options.checkpoint.lines)).toEqual(rowLines(before));
      world.mock.unsubscribe(row(0).email);
      const next = await world.audience.bulk([named("Ada L.")], world.upsert, options);
      expect(next).toMatchObject({ superseded: 1 });
    },
  );

  it("with a wait of over an hour ends the run, with an error that says that the row was not sent", async () => {
    const world = createFixture();
    const options = await firstNight(world);
    world.mock.addFault({ kind: "429", operation: get, times: 1, retryAfter: 3_601 });

    const { results, error } = await collectRun(
      world.audience.bulk([named("Ada L.")], world.upsert, { ...options, stopWhen: () => false }),
    );

    expect(error).toMatchObject({ code: "rate_limit", retryAfterMs: 3_601_000 });
    expect(results).toMatchObject([
      {
        status: "failed",
        error: { outcome: "not-sent", request: { attempts: 0 }, cause: { code: "rate_limit" } },
      },
    ]);
    expect(writes(world)).toHaveLength(1);
  });

  it("with a 401 ends the run, as every other row would meet it", async () => {
    const world = createFixture();
    const options = await firstNight(world, ["Ada", "Bob", "Cleo"]);
    const fetch = async (url: string, init: RequestInit) =>
      init.method === "GET" ? Response.json({}, { status: 401 }) : await world.mock.fetch(url, init);
    const audience = world.audience.withOptions({ fetch });

    const { results, error } = await collectRun(
      audience.bulk(
        namedPeople(["Ada L.", "Bob L.", "Cleo L."]),
        (item, request) => audience.v1.customers.upsert(item, request),
        {
          ...options,
          concurrency: 1,
        },
      ),
    );

    expect(error).toMatchObject({ code: "authentication", status: 401 });
    expect(results).toMatchObject([{ status: "failed", error: { outcome: "not-sent", cause: error } }]);
    expect(writes(world)).toHaveLength(3);
  });
});

it.each([{ is_suppressed: "true" }, { is_suppressed: 1 }, { email_opt_in: "Unsubscribed " }])(
  "A refusal that the service shows as %j is one too",
  async (shown) => {
    const world = createFixture();
    const fetch = async (url: string, init: RequestInit) => {
      const response = await world.mock.fetch(url, init);
      if (init.method !== "GET") return response;
      const { data } = (await response.json()) as { data: { attributes: object } };
      return Response.json({ data: { ...data, attributes: { ...data.attributes, ...shown } } });
    };
    const audience = world.audience.withOptions({ fetch });
    const options = await firstNight(world);
    const call = (item: Named, request: BulkRequest) => audience.v1.customers.upsert(item, request);

    const { results } = await collectRun(audience.bulk([named("Ada L.")], call, options));

    expect(results).toMatchObject([{ status: "superseded", reason: "service" }]);
  },
);

describe("A channel that the service does not show", () => {
  it("is not judged, and a run says so in one line", async () => {
    const lines: string[] = [];
    const world = createFixture({}, { logger: { warn: (line) => lines.push(line) } });
    const audience = world.audience.withOptions({ fetch: withoutConsents(world) });
    const options = await firstNight(world, ["Ada", "Bob"]);
    const call = (item: Named, request: BulkRequest) =>
      audience.v1.customers.upsert({ ...item, phone: item.phone, phone_opt_in: "SUBSCRIBED" }, request);
    await audience.bulk(namedPeople(["Ada", "Bob"], "+"), call, options);
    lines.length = 0;

    const summary = await audience.bulk(namedPeople(["Ada L.", "Bob L."], "+"), call, options);

    expect(summary).toMatchObject({ succeeded: 2 });
    expect(lines.filter((line) => line.includes("does not show"))).toEqual([
      expect.stringContaining("the service does not show the consent of email and phone"),
    ]);
  });

  it("hides no refusal of another one, and is named alone", async () => {
    const lines: string[] = [];
    const world = createFixture({}, { logger: { warn: (line) => lines.push(line) } });
    const audience = world.audience.withOptions({ fetch: withoutConsents(world, "email_opt_in") });
    const options = { key, checkpoint: new MemoryCheckpoint() };
    const call = (item: Named, request: BulkRequest) =>
      audience.v1.customers.upsert({ ...item, phone_opt_in: "SUBSCRIBED" }, request);
    await audience.bulk(namedPeople(["Ada"], "+"), call, options);
    world.mock.unsubscribe(namedPeople(["Ada"], "+")[0]!.phone!);

    lines.length = 0;

    const summary = await audience.bulk(namedPeople(["Ada L."], "+"), call, options);

    expect(summary).toMatchObject({ superseded: 1 });
    expect(lines).toEqual([expect.stringContaining("does not show the consent of email: rows are not")]);
    expect(writes(world)).toHaveLength(1);
  });
});

it("A row is looked up with the key and the base URL of the view that writes it", async () => {
  const organizations = ["acme", "globex"].map((id) => ({
    id,
    apiKeys: [`mock-key-of-${id}`],
    appId: "app",
  }));
  const world = createFixture({ organizations }, { apiKey: "mock-key-of-acme" });
  const view = world.audience.withOptions({ apiKey: "mock-key-of-globex" });
  // A name stands for any key.
  const options = { key, checkpoint: new MemoryCheckpoint(), organization: "both" };
  const call = (item: Named, request: BulkRequest) => view.v1.customers.upsert(item, request);
  await world.audience.bulk([named("Ada")], call, options);

  const summary = await world.audience.bulk([named("Ada L.")], call, options);

  expect(summary).toMatchObject({ succeeded: 1 });
  expect(operations(world)).toEqual(["v1.customers.upsert", "v1.customers.get", "v1.customers.upsert"]);
});

it("The look waits for the writes to the contact before it", async () => {
  const world = createFixture();
  const options = await firstNight(world);
  const { promise: isOpen, resolve: open } = deferred();
  const log: string[] = [];
  const audience = world.audience.withOptions({
    fetch: async (url, init) => {
      log.push(`${init.method} begins`);
      if (log.length === 1) await isOpen;
      const response = await world.mock.fetch(url, init);
      log.push(`${init.method} ends`);
      return response;
    },
  });
  const write = audience.v1.customers.upsert({ ...row(0), last_name: "Lovelace" });
  await until(() => log.length === 1);

  const run = collectRun(
    audience.bulk([named("Ada L.")], (item, request) => audience.v1.customers.upsert(item, request), options),
  );
  await until(() => options.checkpoint.log.includes("append"));
  open();
  await Promise.all([write, run]);

  expect(log).toEqual(["POST begins", "POST ends", "GET begins", "GET ends", "POST begins", "POST ends"]);
});

describe("A look that is over a minute old when its row may leave", () => {
  const minuteMs = 60_000;
  beforeEach(useFakeTime);
  afterEach(() => void vi.useRealTimers());

  /** A night of one changed row, of which `limit` requests leave in two minutes. */
  async function slowNight(
    limit: number,
    between: (world: ReturnType<typeof createFixture>) => void,
    call = sendByV1,
  ) {
    const world = createFixture();
    const options = await firstNight(world);
    const rateLimiter = new RateLimiter({ windows: [{ limit, intervalMs: 2 * minuteMs }], reserve: 0 });
    const { audience } = createFixture({}, { ...world.mock.clientOptions, rateLimiter });
    for (let others = 1; others < limit; others++) await audience.v1.contactGroups.get("mock-list");
    const night = (item: Named, request: BulkRequest) => call(audience, item, request);
    const run = collectRun(audience.bulk([named("Ada L.")], night, options));
    await passUntil(() => rateLimiter.usage().queued === 1);
    between(world);
    return { world, options, ...(await passUntilSettled(run)) };
  }

  it("is made again, and the row is sent", async () => {
    const { world, results } = await slowNight(2, () => {});

    expect(results).toMatchObject([{ status: "succeeded" }]);
    expect(operations(world).slice(2)).toEqual([get, get, "v1.customers.upsert"]);
  });

  it("is made again, and sees who has left meanwhile", async () => {
    const { world, results } = await slowNight(2, ({ mock }) => mock.unsubscribe(row(0).email));

    expect(results).toMatchObject([{ status: "superseded", reason: "service" }]);
    expect(operations(world).slice(2)).toEqual([get, get]);
  });

  it("is not made again for a further call of the row: it would show the first one", async () => {
    const twice = async (...args: Parameters<typeof sendByV1>) => {
      await sendByV1(...args);
      return await sendByV1(...args);
    };

    const { world, results } = await slowNight(2, () => {}, twice);

    expect(results).toMatchObject([{ status: "succeeded" }]);
    expect(operations(world).slice(2)).toEqual([get, get, "v1.customers.upsert", "v1.customers.upsert"]);
  });

  it("is made three times more, and then the row fails, is not sent, and is looked up on the next night", async () => {
    const { world, options, results } = await slowNight(1, () => {});
    world.mock.unsubscribe(row(0).email);

    expect(results).toMatchObject([
      {
        status: "failed",
        error: {
          ...notLookedUp,
          cause: {
            code: "timeout",
            outcome: "not-applied",
            timeoutMs: minuteMs,
            message:
              "The row waited for over a minute after its look, three times: what it showed was too old.",
          },
        },
      },
    ]);
    expect(operations(world)).toEqual(["v1.customers.upsert", get, get, get, get]);
    expect(await world.audience.bulk([named("Ada L.")], world.upsert, options)).toMatchObject({
      superseded: 1,
    });
  });
});

type Named = Row & { first_name: string; phone?: string };
type ClientOptions = NonNullable<ConstructorParameters<typeof AudienceClient>[0]>;
const get = "v1.customers.get";

/** The error of a row that was not sent because its look failed. */
const notLookedUp = {
  code: "connection",
  outcome: "not-sent",
  reason: "other",
  message:
    "Not sent: the contact could not be looked up, so it may have unsubscribed. The next run looks again.",
};

function named(first_name: string): Named {
  return { ...row(0), first_name };
}

/** With `+` they have phones. */
function namedPeople(names: readonly string[], phone = ""): Named[] {
  return names.map((first_name, index) => ({
    ...row(index),
    first_name,
    ...(phone && { phone: `+1555010${index}` }),
  }));
}

/** A night in which every row succeeds. Returns the options of the next one. */
async function firstNight({ audience, upsert }: ReturnType<typeof createFixture>, names = ["Ada"]) {
  const options = { key, checkpoint: new MemoryCheckpoint() };
  await audience.bulk(namedPeople(names), upsert, options);
  return options;
}

function operations({ mock }: ReturnType<typeof createFixture>) {
  return mock.requests.map(({ operation }) => operation);
}

function writes({ mock }: ReturnType<typeof createFixture>) {
  return mock.requests.filter(({ method }) => method === "POST");
}

/** The lines of a journal that are about rows. */
function rowLines(lines: readonly string[]) {
  return lines.filter((line) => /^\["(sends|ends|row)"/.test(line));
}

/** A fetch that responds to reads as a gateway that knows no such path. */
function gatewayOf({ mock }: ReturnType<typeof createFixture>, body: string) {
  return async (url: string, init: RequestInit) => {
    if (init.method !== "GET") return await mock.fetch(url, init);
    const type = body.startsWith("<") ? "text/html" : "application/json";
    return new Response(body, { status: 404, headers: { "content-type": type } });
  };
}

/** A fetch whose profiles lack these attributes. */
function withoutConsents({ mock }: ReturnType<typeof createFixture>, ...names: string[]) {
  const hidden = names.length > 0 ? names : ["email_opt_in", "phone_opt_in", "is_suppressed"];
  return async (url: string, init: RequestInit) => {
    const response = await mock.fetch(url, init);
    if (init.method !== "GET") return response;
    const body = (await response.json()) as { data: { attributes: Record<string, unknown> } };
    for (const name of hidden) delete body.data.attributes[name];
    return Response.json(body);
  };
}
