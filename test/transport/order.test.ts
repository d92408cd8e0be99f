import { AudienceClient, type ClientOptions, RateLimiter, type V1Contact, write } from "audience-sdk";
import { createMockService, type MockFault, type MockServiceOptions } from "audience-sdk/mock";
import { describe, expect, it, vi } from "vitest";
import { v2Contact as v2 } from "../bulk/fixture.ts";
import { failureOf } from "./failure.ts";
import { contact as on, useFakeTime, within } from "./fixture.ts";

useFakeTime();

const { email } = on;
const off = { email, email_opt_in: "UNSUBSCRIBED" } as const;

/** The digits 9876543210 of each script that the runtime knows. Chinese and Roman numerals are letters. */
const systemsOfDigits = Intl.supportedValuesOf("numberingSystem")
  .map((numberingSystem) => [
    numberingSystem,
    new Intl.NumberFormat("en", { numberingSystem, useGrouping: false }).format(9_876_543_210),
  ])
  .filter(([, digits = ""]) => /^\p{Nd}{10}$/u.test(digits));

type Write = (client: AudienceClient) => PromiseLike<unknown>;

/** A log of requests and responses, in order: `"> 1"`, `"< 1"`. */
function logged(options: MockServiceOptions = {}, clientOptions: ClientOptions = {}) {
  const mock = createMockService({ latencyMs: 100, ...options });
  const log: string[] = [];
  let count = 0;
  const fetch = async (url: string, init: RequestInit) => {
    const number = ++count;
    log.push(`> ${number}`);
    try {
      return await mock.fetch(url, init);
    } finally {
      log.push(`< ${number}`);
    }
  };
  const audience = new AudienceClient({ ...mock.clientOptions, fetch, ...clientOptions });
  return {
    mock,
    log,
    audience,
    optIn: () => mock.organization("mock-organization").contacts[0]?.email_opt_in,
  };
}

const number = "+1 555 0100";
const byPhone = { phone: number, phone_opt_in: "SUBSCRIBED" } as const;
const countess = { email: "countess@example.com", email_opt_in: "SUBSCRIBED" } as const;

const named = { contact: { email, phone: number, contactUUID: "c-1" } };
const custom =
  (request: object): Write =>
  ({ v1 }) =>
    v1.request({ method: "POST", path: "/api/v1/new", ...request });

/** How the writes of these contacts end, which are called in one turn. */
const upserts = ({ v1 }: AudienceClient, ...contacts: (typeof on | Partial<V1Contact>)[]) =>
  Promise.all(contacts.map((each) => v1.customers.upsert(each as typeof on)));

describe("Writes to the same contact leave in call order, each after the one before has ended", () => {
  it("retries included: a retried SUBSCRIBED never overtakes the UNSUBSCRIBED called after it", async () => {
    const { audience, log, optIn } = logged({ faults: [{ kind: "500-before", times: 3 }] });

    await within(20_000, upserts(audience, on, off));

    expect(log).toEqual(["> 1", "< 1", "> 2", "< 2", "> 3", "< 3", "> 4", "< 4", "> 5", "< 5"]);
    expect(optIn()).toBe("UNSUBSCRIBED");
  });

  it("and the wait is included in the time in the queue, like that for the rate limit", async () => {
    const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 5_000 }] });
    const { audience } = logged({}, { rateLimiter });
    await vi.advanceTimersByTimeAsync(1_000);
    const calls = [on, off].map((contact) => audience.v1.customers.upsert(contact).withResponse());
    const [first, second] = await within(20_000, Promise.all(calls));

    expect(first?.queuedMs).toBe(0);
    // 100 ms behind the other write, and one widened window after its response.
    expect(second?.queuedMs).toBeGreaterThanOrEqual(5_100);
    expect(second?.queuedMs).toBeLessThan(5_200);
  });

  it("over every write and both families, by e-mail, phone, or contactUUID", async () => {
    const { audience, mock } = logged({ latencyMs: [10, 200] });
    const { v1 } = audience;

    const calls = [
      v1.customers.upsert(on),
      audience.v2.contacts.upsert(v2(email, "unsubscribed")),
      v1.contactGroups.addContact("mock-list", on),
      v1.events.send({ eventName: "e", contact: { email } }),
      v1.customers.upsert({ ...off, ...byPhone }),
      v1.customers.upsert({ phone: "15550100", phone_opt_in: "UNSUBSCRIBED" }),
      v1.customers.upsert({ phone: "+1 (555) 0100", phone_opt_in: "SUBSCRIBED" }),
    ];
    await within(20_000, Promise.all(calls));

    expect(mock.requests.map(({ operation }) => operation)).toEqual([
      "v1.customers.upsert",
      "v2.contacts.upsert",
      "v1.contactGroups.addContact",
      "v1.events.send",
      "v1.customers.upsert",
      "v1.customers.upsert",
      "v1.customers.upsert",
    ]);
    expect(mock.requests.slice(4).map(({ body }) => body)).toMatchObject([
      { phone_opt_in: "SUBSCRIBED" },
      { phone_opt_in: "UNSUBSCRIBED" },
      { phone_opt_in: "SUBSCRIBED" },
    ]);
  });

  it.each<[string, Partial<MockFault>, Partial<V1Contact>[], RegExp]>([
    [
      "once one write has named two: a retried SUBSCRIBED overtakes no opt-out by phone",
      { after: 1, times: 2 },
      [
        { ...on, ...byPhone },
        on,
        { phone: number, phone_opt_in: "UNSUBSCRIBED", email_opt_in: "UNSUBSCRIBED" },
        on,
      ],
      /^1 2 2 2 3 4$/,
    ],
    [
      "where a write joins two that were apart",
      { times: 2 },
      [on, byPhone, { ...on, ...byPhone }, off, byPhone],
      /^1 2 (1 2|2 1) 3 4 5$/,
    ],
    [
      "where only a joined write named it",
      { after: 2, times: 2 },
      [on, { ...countess, ...byPhone }, { ...on, ...byPhone }, countess],
      /^1 2 3 3 3 4$/,
    ],
  ])("by any key of a contact, %s", async (_, times, contacts, order) => {
    const { audience, mock } = logged({ faults: [{ kind: "500-before", ...times }] });

    const numbered = contacts.map((each, at) => ({ ...each, first_name: String(at + 1) }));
    await within(20_000, upserts(audience, ...numbered));

    const names = mock.requests.map(({ body }) => (body as { first_name: string }).first_name);
    expect(names.join(" ")).toMatch(order);
  });

  const event = (contactUUID: string, phone: string) => (client: AudienceClient) =>
    client.v1.events.send({ eventName: "e", contact: { contactUUID, phone } });
  const addressed = (address: string) => (client: AudienceClient) =>
    client.v1.customers.upsert({ ...on, email: address });
  const numbered = ({ v2: { contacts } }: AudienceClient) => {
    const ada = v2(email, "subscribed");
    const phone = { type: "phone", id: 15_550_100, channels: { phone: { status: "subscribed" } } } as const;
    return contacts.upsert({ ...ada, identifiers: [{ ...ada.identifiers[0]!, ...phone }] });
  };

  const path = "/api/v1/contact-groups/mock-list/contacts";
  it.each<[string, Write, Write]>([
    ["the address of a custom request", custom(named), custom({ contact: { email: "Ada@example.com" } })],
    ["its phone", custom(named), custom({ contact: { phone: "+15550100" } })],
    ["its id", custom(named), custom({ contact: { contactUUID: "c-1" } })],
    [
      "that of a custom request of v2",
      custom(named),
      (client) => client.v2.request({ method: "DELETE", path: "/v2/new", contact: { email } }),
    ],
    ["that of a call", addressed(email), custom(named)],
    ["that in the body of one that adds to a list", custom(named), custom({ path, body: on })],
    ["that of a value", (client) => client.send(write.v1.customers.upsert(on)), addressed(email)],
    [
      "that of a defined event",
      ({ v1 }) => v1.events.define({ signed_up: null }).send("signed_up", { contact: { email } }),
      addressed(email),
    ],
    ["that of another view", addressed(email), (client) => addressed(email)(client.withOptions({}))],
    ["an address in another case", addressed(email), addressed("ADA@Example.COM")],
    [
      "an address of either family",
      addressed("Ada@example.com"),
      (client) => client.v2.contacts.upsert(v2("ada@EXAMPLE.com", "subscribed")),
    ],
    ["an address, composed or decomposed", addressed("zo\u00eb@a.example"), addressed("zoe\u0308@a.example")],
    ["an address in full-width letters", addressed(email), addressed("\uff21\uff44\uff41@example.com")],
    [
      "a domain in Unicode or punycode",
      addressed("ada@M\u00fcnchen.example"),
      addressed("ada@xn--mnchen-3ya.example"),
    ],
    ["a domain that no URL can hold", addressed("ada@\u00fc^\u00df"), addressed("Ada@\u00dc^\u00df")],
    ["an id in white space", event("c-1", "1"), event(" c-1 ", "2")],
    [
      "an id at the root of an event",
      event("c-1", "1"),
      ({ v1 }) => v1.events.send({ eventName: "e", contactUUID: "c-1" }),
    ],
    ["a phone without a digit", event("c-1", "Call me"), event("c-2", "\uff23ALL me ")],
    ["a phone as a number of v2", event("c-1", "+1 555 0100"), numbered],
    ...systemsOfDigits.map(([system, digits = ""]): [string, Write, Write] => [
      `a phone in the digits ${system} and in those of ASCII`,
      event("1", digits),
      event("2", "+9 (876) 543-210"),
    ]),
  ])("%s is one contact", async (_, one, other) => {
    const { audience, log } = logged();

    await within(1_000, Promise.allSettled([one(audience), other(audience)]));

    expect(log).toEqual(["> 1", "< 1", "> 2", "< 2"]);
  });

  it("even if a write failed, was invalid, or was aborted", async () => {
    const { audience, log, optIn } = logged({ faults: [{ kind: "500-before", times: 1 }] });
    const stop = new AbortController();

    const failed = failureOf(audience.v1.customers.upsert(on, { maxRetries: 0 }));
    const aborted = failureOf(audience.v1.customers.upsert(off, { signal: stop.signal }));
    const invalid = failureOf(audience.v1.customers.upsert({ email, email_opt_in: "YES" as "SUBSCRIBED" }));
    const last = audience.v1.customers.upsert(off);
    stop.abort();
    await vi.advanceTimersByTimeAsync(1_000);

    expect((await Promise.all([failed, aborted, invalid])).map(({ code }) => code)).toEqual([
      "server",
      "aborted",
      "validation",
    ]);
    await last;
    expect(log).toEqual(["> 1", "< 1", "> 2", "< 2"]);
    expect(optIn()).toBe("UNSUBSCRIBED");
  });

  it("also one that is called after the end of the first, and before the end of the last", async () => {
    const { audience, log, optIn } = logged();

    const early = [audience.v1.customers.upsert(off), audience.v1.customers.upsert(on)];
    await vi.advanceTimersByTimeAsync(150);
    await within(1_000, Promise.all([...early, audience.v1.customers.upsert(off)]));

    expect(log).toEqual(["> 1", "< 1", "> 2", "< 2", "> 3", "< 3"]);
    expect(optIn()).toBe("UNSUBSCRIBED");
  });

  it("also one that is called while the first, a row of bulk, is about to leave", async () => {
    let direct: Promise<unknown> | undefined;
    const onRequest = () => void (direct ??= audience.v1.customers.upsert(off));
    const { audience, log, optIn } = logged({}, { hooks: { onRequest } });

    const run = audience.bulk([on], (contact) => write.v1.customers.upsert(contact));
    await within(1_000, (async () => (await run, await direct))());

    expect(log).toEqual(["> 1", "< 1", "> 2", "< 2"]);
    expect(optIn()).toBe("UNSUBSCRIBED");
  });

  it("and one is aborted while it begins to wait", async () => {
    const stop = new AbortController();
    const debug = (line: string) => void (line.includes("waits for an earlier write") && stop.abort());
    const { audience, log } = logged({}, { logger: { debug }, logLevel: "debug" });

    const first = audience.v1.customers.upsert(on);
    const second = audience.v1.customers.upsert(off, { signal: stop.signal });

    expect(await within(1_000, failureOf(second))).toMatchObject({ code: "aborted", outcome: "not-sent" });
    await within(1_000, first);
    expect(log).toEqual(["> 1", "< 1"]);
  });

  it("also in the queue of the rate limit, whatever their priorities", async () => {
    const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 1_000 }] });
    const { audience } = logged({}, { rateLimiter });

    const [, second, third] = await within(
      20_000,
      Promise.all([
        audience.v1.customers.upsert(countess),
        audience.v1.customers.upsert(on, { priority: 9 }),
        audience.v1.customers.upsert(off, { priority: 0 }),
      ]),
    );

    expect([second, third]).toMatchObject([
      { attributes: { email_opt_in: "SUBSCRIBED" } },
      { attributes: { email_opt_in: "UNSUBSCRIBED" } },
    ]);
  });
});

describe("A write that waits for an earlier one to its contact keeps its place in the queue of the rate limit", () => {
  const others = (audience: AudienceClient, count: number) =>
    Array.from({ length: count }, () => audience.v1.contactGroups.get("mock-list"));

  it("before the calls that came after it", async () => {
    const rateLimiter = new RateLimiter({ windows: [{ limit: 2, intervalMs: 1_000 }] });
    const { audience, mock } = logged({}, { rateLimiter });

    const calls = [...others(audience, 3), upserts(audience, on, off), ...others(audience, 4)];
    await within<unknown>(20_000, Promise.all<unknown>(calls));

    const sent = mock.requests.map(({ body }) => (body as typeof on | undefined)?.email_opt_in ?? "other");
    expect(sent.slice(0, 5)).toEqual(["other", "other", "other", "SUBSCRIBED", "UNSUBSCRIBED"]);
    expect(sent).toHaveLength(9);
  });

  it("and counts there, so that a flood of writes to one contact is bounded by `maxQueued`", async () => {
    const rateLimiter = new RateLimiter({ windows: [{ limit: 2, intervalMs: 1_000 }], maxQueued: 3 });
    const { audience, mock } = logged({}, { rateLimiter });

    const calls = Array.from({ length: 1_000 }, () => audience.v1.customers.upsert(off));
    const ends = await within(
      20_000,
      Promise.allSettled([...calls, audience.v1.contactGroups.get("mock-list", { priority: 0 })]),
    );

    const refused = ends.filter(({ status }) => status === "rejected");
    expect(refused).toHaveLength(996);
    expect(refused[995]).toMatchObject({ reason: { code: "rate_limit_wait", outcome: "not-sent" } });
    expect(mock.requests).toHaveLength(5);
  });

  it("unless a permit is there for each", async () => {
    const { audience, mock } = logged({}, { rateLimiter: new RateLimiter({ maxQueued: 0 }) });

    await within(20_000, Promise.all([on, off, on, off].map((each) => audience.v1.customers.upsert(each))));

    expect(mock.requests).toHaveLength(4);
  });

  it("and is not refused because of them", async () => {
    const rateLimiter = new RateLimiter({ windows: [{ limit: 1, intervalMs: 1_000 }] });
    const { audience, optIn } = logged({}, { rateLimiter });
    const bounded = audience.withOptions({ rateLimiter: { maxQueued: 4, maxWaitMs: 3_500 } });

    const calls = [upserts(bounded, on, off), ...others(audience, 8)];
    await within<unknown>(20_000, Promise.all<unknown>(calls));

    expect(optIn()).toBe("UNSUBSCRIBED");
  });
});

describe("The order of writes does not delay", () => {
  it("other contacts, and reads", async () => {
    const { audience, log } = logged({ faults: [{ kind: "hang", times: 1 }] });

    const stuck = audience.v1.customers.upsert(on, { timeoutMs: 5_000 });
    await within(
      200,
      Promise.all([
        audience.v1.customers.upsert(countess),
        audience.v1.customers.list().then(({ items }) => items),
        failureOf(audience.v1.customers.get(email)),
      ]),
    );

    expect(log).toEqual(["> 1", "> 2", "> 3", "> 4", "< 2", "< 3", "< 4"]);
    await vi.advanceTimersByTimeAsync(20_000);
    await stuck;
  });

  const event = (contact: object) => (client: AudienceClient) =>
    client.v1.events.send({ eventName: "e", contact: { contactUUID: JSON.stringify(contact), ...contact } });
  const mail = (address: string, phone?: string) => event({ email: address, phone });

  it.each<[string, Write, Write]>([
    ["another domain, after a part like that of a URL", mail("a/b@c.example"), mail("a/b@d.example")],
    ["another person of a Unicode domain", mail("ada@m\u00fcller.example"), mail("bob@m\u00fcller.example")],
    ["a letter that capitals lose", mail("stra\u00dfe@a.example"), mail("strasse@a.example")],
    ["another phone", event({ phone: "+15550100" }), event({ phone: "+15550101" })],
    ["another phone, without a digit", event({ phone: "call me" }), event({ phone: "call him" })],
    ["another address beside an empty phone", mail("ada@a.example", ""), mail("bob@a.example", "")],
    ["another address beside a blank phone", mail("ada@a.example", " "), mail("bob@a.example", " ")],
    ["another contact of a custom request", custom(named), custom({ contact: { email: "eve@example.com" } })],
    ["a custom read", custom(named), custom({ ...named, method: "GET" })],
    ["what the body of an unknown path names", custom(named), custom({ body: named.contact })],
    ["what a path names", custom(named), custom({ path: "/api/v1/customer/c-1" })],
  ])("%s", async (_, one, other) => {
    const { audience, log } = logged();

    await within(1_000, Promise.allSettled([one(audience), other(audience)]));

    expect(log).toEqual(["> 1", "> 2", "< 1", "< 2"]);
  });

  it("other clients", async () => {
    const { audience, log, mock } = logged({ faults: [{ kind: "hang", times: 1 }] });
    const other = new AudienceClient(mock.clientOptions);

    const stuck = audience.v1.customers.upsert(on, { timeoutMs: 5_000 });
    await vi.advanceTimersByTimeAsync(150);
    const upserted = other.v1.customers.upsert(off);
    await vi.advanceTimersByTimeAsync(200);

    expect((await upserted).attributes?.email_opt_in).toBe("UNSUBSCRIBED");
    expect(log).toEqual(["> 1"]);
    await vi.advanceTimersByTimeAsync(20_000);
    await stuck;
  });
});
