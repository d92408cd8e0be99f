// "service": a look at the service, at most a minute before a row leaves.
import {
  AudienceClient,
  type BulkOptions,
  RateLimiter,
  type V1Contact,
  type Write,
  write,
} from "audience-sdk";
import type { MockServiceOptions } from "audience-sdk/mock";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  collectRun,
  createFixture,
  passUntil,
  passUntilSettled,
  row,
  rows,
  until,
  useFakeTime,
  v2Contact,
} from "./fixture.ts";
import { MemoryCheckpoint } from "./memory-checkpoint.ts";
import { addresses, contact, endOf, peopleOf, snapshotOf } from "./people.ts";

type World = ReturnType<typeof createFixture>;
type Options = BulkOptions<V1Contact>;
const [get, post] = ["v1.customers.get", "v1.customers.upsert"] as const;
const ada = addresses["ada"]!;

/** How the rows of a night ended, what ended it, and what its operations were. */
async function night(
  { audience, mock }: Pick<World, "audience" | "mock">,
  contacts: readonly V1Contact[],
  options: Options = {},
) {
  const before = mock.requests.length;
  const { results, error } = await collectRun(
    audience.bulk(contacts, (each) => write.v1.customers.upsert(each), options),
  );
  const operations = mock.requests.slice(before).map(({ operation }) => operation);
  return { results, error, ends: results.map(endOf), operations };
}

/** Rows of people that the service has, each named anew each night. */
const named = (name: string, count = 1): V1Contact[] =>
  rows(count).map((each) => ({ ...each, first_name: name }));

/** A night in which every row succeeds; the options of the next one. */
async function firstNight(world: World, contacts = named("Ada")) {
  const options = {
    key: ({ email, phone }: V1Contact) => email ?? phone!,
    checkpoint: new MemoryCheckpoint(),
  };
  expect((await night(world, contacts, options)).error).toBeUndefined();
  return options;
}

function withLines(mockOptions: MockServiceOptions = {}) {
  const lines: string[] = [];
  const world = createFixture(mockOptions, { logger: { warn: (line) => lines.push(line) } });
  return { ...world, lines };
}

/** A fetch whose looks show this beside, or in place of, what the service shows. */
function showing({ mock }: World, shown: object) {
  return async (url: string, init: RequestInit) => {
    const response = await mock.fetch(url, init);
    if (init.method !== "GET") return response;
    const { data } = (await response.json()) as { data: { attributes: object } };
    return Response.json({ data: { ...data, attributes: { ...data.attributes, ...shown } } });
  };
}

describe("A row is looked up", () => {
  const idOf = ({ mock }: World, email: string) =>
    mock.organization("mock-organization").contacts.find((each) => each.email === email)!.id;
  const lookedUp = ({ mock }: World) =>
    mock.requests.flatMap(({ operation, path }) => (operation === get ? [path.split("/").at(-1)] : []));

  it("also by the id that an earlier night recorded: she has moved to another contact", async () => {
    const world = createFixture();
    const options = { ...(await firstNight(world)), key: () => "key" };
    await night(world, [row(0)], options);
    const { id: earlier } = world.mock.organization("mock-organization").contacts[0]!;
    world.mock.unsubscribe(row(0).email);
    await world.audience.v1.customers.upsert(row(1));

    const snapshot = await snapshotOf(world.audience);

    const { ends } = await night(world, [row(1)], { ...options, snapshot });

    expect(ends).toEqual(["superseded:service"]);
    expect(lookedUp(world)).toEqual([idOf(world, row(1).email), earlier]);
    // The contact that she has left is deleted.
    const audience = world.audience.withOptions({
      fetch: async (url, init) =>
        url.endsWith(earlier) ? Response.json({}, { status: 404 }) : await world.mock.fetch(url, init),
    });
    const after = await night({ ...world, audience }, [row(1)], { ...options, snapshot });
    expect(after.ends).toEqual(["succeeded"]);
  });

  it("and goes with the refusal where it names a second address beside the one that has refused", async () => {
    const world = createFixture();
    const options = { ...(await firstNight(world)), key: () => "key" };
    const { email } = row(0);
    const identifier = (id: string) => ({ ...v2Contact(id, "subscribed").identifiers[0]!, id });
    const both = ({ first_name }: V1Contact) => [
      write.v1.customers.upsert({ ...row(0), first_name }),
      write.v2.contacts.upsert({
        ...v2Contact(email, "subscribed"),
        identifiers: [identifier(email), identifier("b@example.com")],
      }),
    ];
    await collectRun(world.audience.bulk([{ first_name: "Ada" }], both, options));
    world.mock.unsubscribe(email);

    const { results } = await collectRun(world.audience.bulk([{ first_name: "A." }], both, options));

    expect(results.map(endOf)).toEqual(["succeeded email:service"]);
    const { identifiers } = world.mock.requests.at(-1)!.body as ReturnType<typeof v2Contact>;
    expect(identifiers.map(({ channels }) => channels["email"]?.status)).toEqual([
      "unsubscribed",
      "subscribed",
    ]);
  });

  it("and goes where it only refuses the number that it names in place of a refused one", async () => {
    const world = createFixture();
    const options = await firstNight(world, [contact("++")]);
    world.mock.unsubscribe(ada.phone, { channel: "phone" });

    const toWrites = (each: V1Contact) => [contact("+"), each].map((one) => write.v1.customers.upsert(one));

    const { results } = await collectRun(world.audience.bulk([contact("+-", "ada3")], toWrites, options));

    expect(results.map(endOf)).toEqual(["succeeded"]);
  });

  it("not where it sends an event alone, though an earlier night knows its contact", async () => {
    const world = createFixture();
    const options = await firstNight(world);
    world.mock.unsubscribe(row(0).email);
    const event = ({ email }: V1Contact) =>
      write.v1.events.send({ eventName: "seen", contact: { email: email! } });

    const { results } = await collectRun(world.audience.bulk(rows(1), event, options));

    expect(results.map(endOf)).toEqual(["succeeded"]);
    expect(results[0]?.formerId).toBeUndefined();
    expect(world.mock.requests.at(-2)?.operation).toBe(post);
  });

  it("and is superseded where the contact of the snapshot and of the earlier night is gone", async () => {
    const world = createFixture();
    const options = await firstNight(world);
    await night(world, [row(0)], options);
    const snapshot = await snapshotOf(world.audience);
    world.mock.reset();

    const { ends, results } = await night(world, [{ ...row(0), city: "Bern" }], { ...options, snapshot });

    expect(ends).toEqual(["superseded:service"]);
    expect(String(results[0]?.error)).toContain("The service has no contact with this id any more: ");
    expect(world.mock.organization("mock-organization").contacts).toEqual([]);
  });

  it("not without looks, but for people whom the snapshot shows as refused", async () => {
    const world = createFixture();
    await firstNight(world, [...named("Ada", 3), contact("++s")]);
    world.mock.unsubscribe(row(1).email);
    const snapshot = await snapshotOf(world.audience);
    // Back again, which only a look shows.
    world.mock.asksAgain(row(1).email);
    await world.audience.v1.customers.upsert(row(1));
    world.mock.unsubscribe(row(2).email);

    const { ends, operations } = await night(world, [...named("A.", 3), contact("++x")], {
      snapshot,
      checkConsent: false,
      concurrency: 1,
    });

    expect(ends).toEqual(["succeeded", "succeeded", "succeeded", "succeeded is_suppressed:service"]);
    expect(operations).toEqual([post, get, post, post, get, post]);
    expect(world.mock.resubscriptions).toMatchObject([{ email: row(2).email }]);
  });
});

describe("An opt-out that names another address without a word is looked up, and sent all the same", () => {
  const variants = { phoneOptInOmitted: "SUBSCRIBED" } as const;

  it("with the refusal that the look shows, whatever the service makes of an omitted one", async () => {
    const world = createFixture({ variants });
    const options = await firstNight(world, [contact("++")]);
    world.mock.unsubscribe(ada.phone, { channel: "phone" });

    const { ends, operations } = await night(world, [contact("-?")], options);

    expect([ends, operations]).toEqual([["succeeded phone:service"], [get, post]]);
    expect(peopleOf(world.mock)).toBe("ada:--");
    expect(world.mock.resubscriptions).toEqual([]);
  });

  it("where the look shows a refusal at an address that it leaves", async () => {
    const world = createFixture();
    const options = await firstNight(world, [contact("++")]);
    world.mock.unsubscribe(ada.phone, { channel: "phone" });

    const { ends } = await night(world, [contact("-?", "ada3")], options);

    expect(ends).toEqual(["succeeded"]);
  });

  it("without the suppression of the contact whose addresses it leaves", async () => {
    const world = createFixture();
    const options = await firstNight(world, [contact("++s")]);

    await night(world, [contact("-?", "ada4")], { ...options, key: () => ada.email });

    expect(world.mock.requests.at(-1)?.body).not.toHaveProperty("is_suppressed");
  });

  it.each([
    ["the look fails", () => Response.json({}, { status: 500 })],
    ["the contact is gone", () => Response.json({}, { status: 404 })],
  ])("where %s", async (_, response) => {
    const world = createFixture();
    const options = await firstNight(world, [contact("++")]);
    const audience = world.audience.withOptions({
      maxRetries: 0,
      fetch: async (url, init) => (init.method === "GET" ? response() : await world.mock.fetch(url, init)),
    });

    // Of an event there is nothing to hold back.
    const event = write.v1.events.send({ eventName: "left", contact: { email: ada.email } });
    const toWrites = (each: V1Contact) => [event, write.v1.customers.upsert(each)];

    const { results } = await collectRun(audience.bulk([contact("-?")], toWrites, options));

    expect(results.map(endOf)).toEqual(["succeeded"]);
    expect(peopleOf(world.mock)).toBe("ada:-+");
  });
});

it("`service` is the contact as it was shown of a kept row and of one that is superseded, and of no other", async () => {
  const world = createFixture();
  const options = await firstNight(world, named("Ada", 2));
  world.mock.unsubscribe(row(0).email);
  const shown = { type: "profile", attributes: { email: row(0).email, email_opt_in: "UNSUBSCRIBED" } };

  const kept = await night(world, named("A."), options);
  const skipped = await night(world, named("A."), options);
  const asItIs = await night(world, named("A.", 2).slice(1), options);
  const moved = await night(world, [{ ...row(1) }], { ...options, key: () => row(0).email });
  const optOut = { ...row(0), email_opt_in: "UNSUBSCRIBED" } as const;
  const byRun = await night(world, [optOut, ...named("B.")], { ...options, checkConsent: false });
  // Nobody can be shown.
  world.mock.reset();
  const gone = await night(world, named("C."), options);

  expect([kept, moved].map(({ results }) => results[0])).toMatchObject([
    { status: "succeeded", service: shown },
    {
      status: "superseded",
      reason: "service",
      service: shown,
      error: { code: "aborted", outcome: "not-sent" },
    },
  ]);
  expect(asItIs.operations).toEqual([get, post]);
  for (const result of [skipped, asItIs, byRun, gone].flatMap(({ results }) => results))
    expect(result.service).toBeUndefined();
  expect(byRun.ends.toSorted()).toEqual(["succeeded", "succeeded email:run"]);
  expect(gone.ends).toEqual(["superseded:service"]);
});

it("`service` is of two contacts that were looked up the one that has refused", async () => {
  const world = createFixture();
  const options = { ...(await firstNight(world, [contact(".+")])), key: () => ada.phone };
  await night(world, [contact(".+")], options);
  await world.audience.v1.customers.upsert(contact("+", "ada2"));
  const snapshot = await snapshotOf(world.audience);
  world.mock.unsubscribe(ada.phone, { channel: "phone" });

  const { results } = await night(world, [{ ...contact("+", "ada2"), ...contact(".+") }], {
    ...options,
    snapshot,
  });

  expect(results).toMatchObject([
    { kept: { phone: "service" }, service: { attributes: { phone_opt_in: "UNSUBSCRIBED" } } },
  ]);
});

const refusing = { ...row(0), email_opt_in: "UNSUBSCRIBED" as const };
it.each<[string, V1Contact, string, first: string, later: string]>([
  ["is so, also after one of no documented word", row(1), "PAUSED", "superseded:service", " email:run"],
  ["is not so after one of an opt-in", row(1), "SUBSCRIBED", "superseded:service", ""],
  ["is so after such a look if a row says it", refusing, "SUBSCRIBED", "succeeded", " email:run"],
])(
  "What a look shows as refused %s: for later rows, whatever their keys",
  async (_, item, shown, first, later) => {
    const world = createFixture();
    const key = ({ city }: V1Contact) => city!;
    const options = { key, checkpoint: new MemoryCheckpoint(), concurrency: 1 };
    const inCities = (...all: V1Contact[]) => all.map((each, index) => ({ ...each, city: `City ${index}` }));
    await night(world, inCities(row(0), row(0)), options);
    world.mock.unsubscribe(row(0).email);
    const shows = showing(world, { email_opt_in: shown });
    let looks = first === "succeeded" ? 1 : 0;
    const fetch = async (url: string, init: RequestInit) =>
      await (init.method === "GET" && looks++ > 0 ? shows : world.mock.fetch)(url, init);
    const audience = world.audience.withOptions({ fetch });

    // Of the last one no contact is known.
    const { ends } = await night({ ...world, audience }, inCities(item, ...named("A."), row(0)), options);

    expect(ends).toEqual([first, `succeeded${later}`, `succeeded${later}`]);
  },
);

it("A suppression that a look shows is not that of a later row with the same number", async () => {
  const world = createFixture();
  const options = await firstNight(world, [contact("++s"), contact("+", "ada2")]);
  const keyOf = ({ email }: V1Contact) => (email === addresses["ada4"]!.email ? ada.email : "a new key");
  const night2 = [contact("++", "ada4"), contact("++x", "ada2")];

  const { ends } = await night(world, night2, { ...options, key: keyOf, concurrency: 1 });

  expect(ends).toEqual(["superseded:service", "succeeded"]);
});

const of = (signsAndName: string) => contact(...(signsAndName.split(" ") as [string, string?]));
it.each<[string, first: string, then: string, since: string[], item: string, end: string]>([
  ["is not that of another contact with the number", "++s", "+ ada2", [], "++x ada2", ""],
  ["is that of a row that names its number alone", ".+", ".+s bob", [], ".+x bob", " is_suppressed:service"],
  ["is lifted by a look, also at a number that the row adds", "+.s", "+ bob", ["+.x"], "++x", ""],
])("A suppression in the snapshot %s", async (_, first, then, since, item, end) => {
  const world = createFixture();
  const key = ({ email = ada.phone }: V1Contact) => email;
  const options = { ...(await firstNight(world, [of(first)])), key, checkConsent: false };
  await world.audience.v1.customers.upsert(of(then));
  const snapshot = await snapshotOf(world.audience);
  await night(world, since.map(of));

  expect((await night(world, [of(item)], { ...options, snapshot })).ends).toEqual([`succeeded${end}`]);
});

it.each([
  ["the service", true],
  ["the snapshot alone, as v2 has no look", false],
])(
  "A row that gives a contact, found by its e-mail in a snapshot, another number does not lift the refusal of the one before: by %s",
  async (_, canLook) => {
    const { audience, mock } = createFixture();
    await audience.v1.customers.upsert(contact("++"));
    mock.unsubscribe(ada.phone, { channel: "phone" });
    const snapshot = await snapshotOf(audience, "acme");
    const number = "+15550009999";
    const v2 = v2Contact(ada.email, "subscribed");
    const phone = { ...v2.identifiers[0]!, type: "phone" as const, id: number };
    const identifiers = [...v2.identifiers, { ...phone, channels: { phone: { status: "subscribed" } } }];
    const other = canLook
      ? write.v1.customers.upsert({ ...contact("++"), phone: number })
      : write.v2.contacts.upsert({ ...v2, identifiers });
    const client = canLook ? audience : new AudienceClient({ ...mock.clientOptions, baseUrl: undefined });
    const options = { snapshot, organization: "acme" };

    const { results } = await collectRun(client.bulk([other], (each) => each, options));

    expect(results.map(endOf)).toEqual([canLook ? "superseded:service" : "superseded:snapshot"]);
    expect(mock.resubscriptions).toEqual([]);
    expect(peopleOf(mock)).toBe("ada:+-");
  },
);

it("The error of a superseded row names the opt-outs that were not sent", async () => {
  const world = createFixture();
  const options = await firstNight(world, [contact("++")]);
  world.mock.unsubscribe(ada.email);

  const { results } = await night(world, [contact("+-s", "ada2")], { ...options, key: () => ada.email });

  const message =
    "The contact has refused, at an address that the row leaves: the row was not sent, or not sent again. Nor was its opt-out of phone and is_suppressed: send that by a call of its own.";
  expect(results).toMatchObject([{ status: "superseded", error: { message } }]);
});

it("Without the v1 family nobody can be looked up: whom the snapshot shows as refused, is superseded by it", async () => {
  const world = createFixture();
  await firstNight(world, named("Ada", 4));
  for (const { email } of rows(2)) world.mock.unsubscribe(email);
  await world.audience.v1.customers.upsert({ ...row(3), is_suppressed: true });
  const snapshot = await snapshotOf(world.audience, "acme");
  const audience = new AudienceClient({ ...world.mock.clientOptions, baseUrl: undefined });
  // Of the last one it shows nothing.
  const contacts = ["subscribed", "unsubscribed", "subscribed", "subscribed", "subscribed"].map(
    (word, index) => write.v2.contacts.upsert(v2Contact(row(index).email, word)),
  );
  const optOut = write.v2.contacts.upsert(v2Contact(row(0).email, "unsubscribed"));

  const { results } = await collectRun(
    audience.bulk([...contacts, [optOut, contacts[0]!]], (each) => each, { snapshot, organization: "acme" }),
  );

  const sorted = results.toSorted((a, b) => a.index - b.index);
  const by = "superseded:snapshot";
  expect(sorted.map(endOf)).toEqual([by, "succeeded", "succeeded", by, "succeeded", by]);
  expect(String(sorted[0]?.error)).toContain("The snapshot shows that the contact has refused: ");
  expect(world.mock.resubscriptions).toEqual([]);
});

describe("A row whose look fails is failed and not sent, and looked up on the next night", () => {
  const message = expect.stringContaining("could not be looked up");
  const gateway = (body: string, type: string) =>
    new Response(body, { status: 404, headers: { "content-type": type } });
  it.each<[string, object, MockServiceOptions["faults"] | (() => Response)]>([
    ["with 500s", { code: "server" }, [{ kind: "500-before", operation: get, times: 2 }]],
    ["with a timeout", { code: "timeout" }, [{ kind: "hang", operation: get, times: 2 }]],
    [
      "with a broken body",
      { code: "unexpected_response" },
      [{ kind: "wrong-json", operation: get, times: 1 }],
    ],
    ["with a 404 of a gateway", { code: "not_found" }, () => gateway("<h1>Not Found</h1>", "text/html")],
    ["with a 404 that says nothing", { code: "not_found" }, () => gateway("null", "application/json")],
  ])("%s", async (_, cause, failure) => {
    const world = createFixture();
    const options = await firstNight(world);
    const before = [...options.checkpoint.entries].filter(([name]) => name.startsWith("row"));
    const isGateway = typeof failure === "function";
    for (const fault of isGateway ? [] : failure!) world.mock.addFault(fault);
    const fetch: typeof world.mock.fetch = isGateway
      ? async (url, init) =>
          (init?.method ?? "GET") === "GET" ? failure() : await world.mock.fetch(url, init)
      : world.mock.fetch;
    const audience = world.audience.withOptions({ maxRetries: 1, timeoutMs: 50, fetch });
    const stopWhen = vi.fn(() => false);

    const { error, operations, results } = await night({ ...world, audience }, named("A."), {
      ...options,
      stopWhen,
    });

    expect(error).toBeUndefined();
    expect(results).toMatchObject([
      {
        status: "failed",
        error: { code: "connection", outcome: "not-sent", reason: "other", message, cause },
      },
    ]);
    expect(stopWhen.mock.calls).toMatchObject([[cause]]);
    expect(operations).not.toContain(post);
    expect([...options.checkpoint.entries].filter(([name]) => name.startsWith("row"))).toEqual(before);
    world.mock.unsubscribe(row(0).email);
    expect((await night(world, named("A."), options)).ends).toEqual(["succeeded email:service"]);
  });

  const overAnHour = { status: 429, headers: { "retry-after": "3601" } };
  it.each<[string, ResponseInit, object, Pick<Options, "stopWhen">]>([
    ["a 401, which every other row would meet", { status: 401 }, { code: "authentication" }, {}],
    ["a wait of over an hour", overAnHour, { retryAfterMs: 3_601_000 }, { stopWhen: () => false }],
  ])("with %s, which ends the run", async (_, response, expected, more) => {
    const world = createFixture();
    const options = { ...(await firstNight(world, named("Ada", 3))), concurrency: 1, ...more };
    const fetch = async (url: string, init: RequestInit) =>
      init.method === "GET" ? Response.json({}, response) : await world.mock.fetch(url, init);
    const audience = world.audience.withOptions({ fetch });

    const { error, operations, results } = await night({ ...world, audience }, named("A.", 3), options);

    expect(error).toMatchObject(expected);
    expect(results).toMatchObject([{ status: "failed", error: { outcome: "not-sent", cause: error } }]);
    expect(operations).toEqual([]);
  });

  it.each([
    ["as the run is aborted", "aborted", (stop: AbortController) => stop.abort()],
    ["as the client is closed", "closed", (_: AbortController, audience: AudienceClient) => audience.close()],
  ])("%s", async (_, code, end) => {
    const world = createFixture();
    const options = await firstNight(world);
    world.mock.addFault({ kind: "hang", operation: get, times: 1 });
    const stop = new AbortController();
    const { audience } = createFixture({}, world.mock.clientOptions);
    const run = night({ ...world, audience }, named("A."), { ...options, signal: stop.signal });
    await until(() => world.mock.requests.some(({ operation }) => operation === get));

    await end(stop, audience);

    expect(await run).toMatchObject({ results: [], error: { code, outcome: "not-sent" } });
    expect((await night(world, named("A."), options)).operations).toEqual([get, post]);
  });
});

describe("What the service shows", () => {
  it.each([
    [{ is_suppressed: "true" }, "succeeded"],
    [{ is_suppressed: 1 }, "succeeded"],
    [{ email_opt_in: "Unsubscribed " }, "succeeded email:service"],
    // Without an address it counts for those of the row.
    [{ email: null, email_opt_in: "UNSUBSCRIBED" }, "succeeded email:service"],
    [{ email: null, is_suppressed: true }, "succeeded"],
  ])("is a refusal as %j, too", async (shown, end) => {
    const world = createFixture();
    const options = await firstNight(world);
    const audience = world.audience.withOptions({ fetch: showing(world, shown) });

    expect((await night({ ...world, audience }, named("A."), options)).ends).toEqual([end]);
    expect(world.mock.requests.at(-1)?.body).toMatchObject(
      "is_suppressed" in shown ? { is_suppressed: true } : { email_opt_in: "UNSUBSCRIBED" },
    );
  });

  it.each([
    ["does not have the channel", null],
    ["is a word that is not documented", "PAUSED"],
  ])("is not judged where it %s, which the run says once", async (_, shown) => {
    const world = withLines();
    const contacts = ["1", "2"].map((digit) => ({
      ...contact("++"),
      email: `${digit}@example.com`,
      phone: `+1555020${digit}`,
    }));
    const options = await firstNight(world, contacts);
    world.mock.unsubscribe("+15550201");
    world.lines.length = 0;
    const audience = world.audience.withOptions({
      fetch: showing(world, { email_opt_in: shown, is_suppressed: null }),
    });

    const { ends } = await night(
      { ...world, audience },
      contacts.map((each) => ({ ...each, city: "Rome" })),
      options,
    );

    // It hides no refusal of another channel. Of a channel that no row names nothing is said.
    expect(ends.toSorted()).toEqual(["succeeded", "succeeded phone:service"]);
    expect(world.lines).toEqual([expect.stringMatching(/shows no consent of email that is documented/)]);
  });
});

const create = (body: V1Contact) =>
  write.v1.request({ method: "POST", path: "/api/v1/customer/create", body: { ...body } });
it.each<[string, (body: V1Contact) => Write, string]>([
  [
    "is sent with it",
    (each) => write.v1.customers.upsert({ ...each, is_suppressed: false }),
    "succeeded email:service is_suppressed:service",
  ],
  ["that cannot say it is superseded", create, "superseded:snapshot"],
])("Of a refusal that the snapshot alone shows a row %s", async (_, toWrite, end) => {
  const world = createFixture();
  await firstNight(world, [{ ...row(0), is_suppressed: true }]);
  world.mock.unsubscribe(row(0).email);
  const snapshot = await snapshotOf(world.audience);
  const nothing = { email_opt_in: null, phone_opt_in: null, is_suppressed: null };
  const audience = world.audience.withOptions({ fetch: showing(world, nothing) });

  const { results } = await collectRun(audience.bulk<V1Contact, Write>(named("A."), toWrite, { snapshot }));

  expect(results.map(endOf)).toEqual([end]);
  expect(results[0]?.service).toBeUndefined();
  expect(world.mock.resubscriptions).toEqual([]);
});

const unknownPeople = (count: number): unknown =>
  expect.stringMatching(`rows that subscribed somebody of whom nothing was known, .*: ${count}$`);

describe("A run says once how many rows subscribed people of whom nothing was known", () => {
  it.each<[string, readonly V1Contact[], number]>([
    ["one, by one of two channels", [contact("+0")], 1],
    [
      "several, and not those who were opted out, or not subscribed",
      [...rows(2), contact("-"), contact("0", "bob")],
      2,
    ],
    ["one whose refusal of another channel is kept", [contact("-"), contact("++")], 1],
    [
      "none",
      [contact("-"), contact("+"), contact("0.x", "bob"), { email: "cy@example.com", first_name: "Cy" }],
      0,
    ],
  ])("%s", async (_, contacts, count) => {
    const world = withLines();

    await night(world, contacts);

    expect(world.lines).toEqual(count === 0 ? [] : [unknownPeople(count)]);
  });

  it("not those whom a snapshot or an earlier night knows", async () => {
    const world = withLines();
    const options = await firstNight(world, [row(0)]);
    await world.audience.v1.customers.upsert(row(1));
    const snapshot = await snapshotOf(world.audience);
    world.lines.length = 0;

    await night(world, named("A.", 3), { ...options, snapshot });

    expect(world.lines).toEqual([unknownPeople(1)]);
  });
});

it("The same key with another contact than before names the one that it leaves as it is, which the run says once", async () => {
  const world = withLines();
  const options = { ...(await firstNight(world, named("Ada", 2))), key: ({ city }: V1Contact) => city! };
  const first = rows(2).map((each, index) => ({ ...each, city: `City ${index}` }));
  await night(world, first, options).then(({ ends }) => expect(ends).toEqual(["succeeded", "succeeded"]));
  const ids = world.mock.organization("mock-organization").contacts.map(({ id }) => id);
  world.lines.length = 0;

  const { results } = await night(
    world,
    first.map((each, index) => ({ ...each, email: `new-${index}@example.com` })),
    options,
  );

  expect(new Set(results.map(({ formerId }) => formerId))).toEqual(new Set(ids));
  expect(world.lines.filter((line) => line.includes("formerId"))).toHaveLength(1);
  // Nothing was known of those whom the rows subscribed.
  expect(world.lines).toContainEqual(unknownPeople(2));
  expect(world.mock.organization("mock-organization").contacts).toHaveLength(4);
});

describe("A look that is over a minute old when its row may leave", () => {
  const minuteMs = 60_000;
  beforeEach(useFakeTime);
  afterEach(() => void vi.useRealTimers());

  /** A night of one changed row, of which `limit` requests leave in two minutes. */
  async function slowNight(limit: number, between: (world: World) => void = () => {}) {
    const world = createFixture();
    const options = await firstNight(world);
    const rateLimiter = new RateLimiter({ windows: [{ limit, intervalMs: 2 * minuteMs }], reserve: 0 });
    const { audience } = createFixture({}, { ...world.mock.clientOptions, rateLimiter });
    for (let others = 1; others < limit; others++) await audience.v1.contactGroups.get("mock-list");
    const run = night({ ...world, audience }, named("A."), options);
    await passUntil(() => rateLimiter.usage().queued === 1);
    between(world);
    return await passUntilSettled(run);
  }

  const left = ({ mock }: World) => mock.unsubscribe(row(0).email);
  const message = expect.stringMatching(/^The look at the service was too old, three times: .* 60 s old\./);
  const late = { status: "failed", error: { code: "timeout", outcome: "not-sent", message } };
  it.each<[string, number, ((world: World) => void) | undefined, object, operations: string[]]>([
    ["is made again", 2, undefined, { status: "succeeded" }, [get, get, post]],
    [
      "sees who has left meanwhile",
      2,
      left,
      { status: "succeeded", kept: { email: "service" } },
      [get, get, post],
    ],
    ["ends the row if three are", 1, undefined, late, [get, get, get]],
  ])("%s", async (_, limit, between, result, operations) => {
    expect(await slowNight(limit, between)).toMatchObject({ results: [result], operations });
  });

  it("makes its row go alone, so that the looks of all rows do not take the permits of their writes", async () => {
    const world = createFixture();
    const options = await firstNight(world, named("Ada", 12));
    const rateLimiter = new RateLimiter({ windows: [{ limit: 10, intervalMs: minuteMs }] });
    const { audience } = createFixture({}, { ...world.mock.clientOptions, rateLimiter });

    const { ends } = await passUntilSettled(night({ ...world, audience }, named("A.", 12), options));

    expect(ends).toEqual(ends.map(() => "succeeded"));
    expect(ends).toHaveLength(12);
  });
});

it("It says so also where a later write of the row fails", async () => {
  const world = withLines();
  const byCity = ({ city }: V1Contact) => city!;
  const options = { key: byCity, checkpoint: new MemoryCheckpoint(), checkConsent: false };
  const toWrites = (each: V1Contact) => [
    write.v1.customers.upsert(each),
    write.v1.events.send({ eventName: "moved", contact: { email: each.email! } }),
  ];
  const tonight = async (email: string) =>
    await collectRun(world.audience.bulk([{ ...row(0), email, city: "Basel" }], toWrites, options));
  await tonight("old@example.com");
  world.mock.addFault({ kind: "redirect", operation: "v1.events.send", times: 1 });

  const { results } = await tonight("new@example.com");

  expect(results.map(({ status }) => status)).toEqual(["failed"]);
  expect(world.lines.filter((line) => line.includes("formerId"))).toHaveLength(1);
});
