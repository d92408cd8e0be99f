import type { MockOrganizationSeed, MockVariants } from "audience-sdk/mock";
import { describe, expect, it } from "vitest";
import { acme, emailIdentifier, globex, v2Contact } from "../document/service.ts";
import { inProcess } from "./entry-points.ts";

const CREATE = "/api/v1/customer/create";
const ada = "ada@example.com";
/** A double opt-in that is asked for. */
const asked = { path: CREATE, body: { email: ada, email_opt_in: "SUBSCRIBED", double_opt_in: true } };
const v2 = (status: string) => ({
  path: "/v2/contacts",
  body: v2Contact({ identifiers: [emailIdentifier(ada, status)] }),
});

async function open({
  contacts = [],
  others = [],
  variants = {},
}: {
  contacts?: MockOrganizationSeed["contacts"];
  others?: MockOrganizationSeed[];
  variants?: Partial<MockVariants>;
} = {}) {
  let now = 100_000;
  const organizations = [{ ...acme, contacts }, ...others];
  const { call, mock } = await inProcess.open({ organizations, variants, clock: () => (now += 1_000) });
  const state = () => mock.organization("acme");
  const history = () =>
    state().consentHistory.map(({ channel, from, to, by }) => `${by}: ${channel} ${from ?? "new"} → ${to}`);
  return { call, mock, state, history };
}

describe("A person unsubscribes at the service", () => {
  it.each([
    ["an address", ada, undefined, "email"],
    ["a number", "+15550100", undefined, "phone"],
    ["an id", "a1", undefined, "email"],
    ["an address, for the phone", ada, "phone", "phone"],
  ] as const)(
    "named by %s: the channel is UNSUBSCRIBED, without a request",
    async (_, person, channel, changed) => {
      const subscribed = { email_opt_in: "SUBSCRIBED", phone_opt_in: "SUBSCRIBED" } as const;
      const { mock, state } = await open({
        contacts: [{ id: "a1", email: ada, phone: "+15550100", ...subscribed }],
      });
      const [before] = state().contacts;

      mock.unsubscribe(person, channel === undefined ? {} : { channel });

      const updated = expect.not.stringMatching(`^${before?.updated}$`) as unknown;
      expect(state().contacts).toEqual([{ ...before, [`${changed}_opt_in`]: "UNSUBSCRIBED", updated }]);
      expect(mock.requests).toEqual([]);
    },
  );

  it("in the named organization, by its id or a key, if two know the person", async () => {
    const contacts = [{ email: ada, email_opt_in: "SUBSCRIBED" as const }];
    const { mock, state } = await open({ contacts, others: [{ ...globex, contacts }] });

    mock.unsubscribe(ada, { organization: "globex-mock-key" });

    expect(state().contacts).toMatchObject([{ email_opt_in: "SUBSCRIBED" }]);
    expect(mock.organization("globex").contacts).toMatchObject([{ email_opt_in: "UNSUBSCRIBED" }]);
  });

  it.each([
    ["a person that no organization knows", "bob@example.com", {}, 'no contact of "acme", "globex" is'],
    ["one whom the named organization does not know", ada, { organization: "globex" }, 'of "globex" is'],
    ["one whom two organizations know", "both@example.com", {}, 'known to "acme", "globex": name the org'],
    [
      "a channel that the person does not have",
      ada,
      { channel: "phone" },
      `"${ada}" has no phone: set channel to "email"`,
    ],
    ["a channel that does not exist", ada, { channel: "sms" }, "options.channel must be one of email, phone"],
  ] as const)("throws for %s", async (_name, person, options, message) => {
    const both = { email: "both@example.com" };
    const { mock, history } = await open({
      contacts: [{ email: ada }, both],
      others: [{ ...globex, contacts: [both] }],
    });
    const before = history();

    // Safe: one of them is wrong on purpose.
    expect(() => mock.unsubscribe(person, options as { channel: "email" })).toThrow(message);
    expect(history()).toEqual(before);
  });
});

describe("A person answers the mail of a double opt-in", () => {
  it.each([
    ["recorded", "SUBSCRIBED"],
    ["pending", "NON_SUBSCRIBED"],
  ] as const)("with doubleOptIn %s the contact was %s, and is SUBSCRIBED then", async (doubleOptIn, was) => {
    const { call, mock, state } = await open({ variants: { doubleOptIn } });
    await call(CREATE, asked);
    expect(state().contacts).toMatchObject([{ email_opt_in: was }]);

    mock.confirm(ada);

    expect(state().contacts).toMatchObject([{ email_opt_in: "SUBSCRIBED" }]);
  });

  it("throws for a person that got no such mail, or is not known", async () => {
    const { mock } = await open({
      contacts: [{ email: ada }, { phone: "+15550100", double_opt_in: true }],
    });

    expect(() => mock.confirm(ada)).toThrow(`"${ada}" got no mail of a double opt-in`);
    expect(() => mock.confirm("+15550100")).toThrow("got no mail of a double opt-in");
    expect(() => mock.confirm("bob@example.com")).toThrow('no contact of "acme" is "bob@example.com"');
    // Safe: it is wrong on purpose.
    expect(() => mock.confirm(ada, { channel: "email" } as object)).toThrow(
      "options.channel is not a recognized field",
    );
  });

  it("throws for a person who was written as UNSUBSCRIBED, or who left since", async () => {
    const { call, mock, history } = await open({
      contacts: [{ email: "eve@example.com", email_opt_in: "UNSUBSCRIBED", double_opt_in: true }],
    });
    await call(CREATE, asked);
    mock.unsubscribe(ada);
    const before = history();

    for (const person of [ada, "eve@example.com"])
      expect(() => mock.confirm(person)).toThrow(
        `"${person}" has no mail of a double opt-in to answer: the e-mail is UNSUBSCRIBED`,
      );
    expect(history()).toEqual(before);
    await call(CREATE, asked);
    mock.confirm(ada);
  });
});

describe("consentHistory", () => {
  it("holds every change of a consent, in order: of seeds, requests of both families, and people", async () => {
    const { call, mock, history } = await open({
      contacts: [{ email: ada, email_opt_in: "SUBSCRIBED" }],
      variants: { doubleOptIn: "pending" },
    });
    mock.unsubscribe(ada);
    await call("/api/v1/contact-groups/news/contacts", { body: { email: ada } });
    await call(CREATE, { body: { email: ada, phone: "+15550100", phone_opt_in: "SUBSCRIBED" } });
    await call(CREATE, { body: { email: ada, is_suppressed: true } });
    await call(CREATE, asked);
    mock.confirm(ada);
    await call("/v2/contacts", v2("unsubscribed"));

    expect(history()).toEqual([
      "seed: email new → SUBSCRIBED",
      "person: email SUBSCRIBED → UNSUBSCRIBED",
      "v1.contactGroups.addContact: email UNSUBSCRIBED → SUBSCRIBED",
      "v1.customers.upsert: phone NON_SUBSCRIBED → SUBSCRIBED",
      "v1.customers.upsert: suppressed false → true",
      "v1.customers.upsert: email SUBSCRIBED → NON_SUBSCRIBED",
      "person: email NON_SUBSCRIBED → SUBSCRIBED",
      "v2.contacts.upsert: email SUBSCRIBED → UNSUBSCRIBED",
    ]);
  });

  it("does not grow by a write that changes no consent, and ends with reset()", async () => {
    const { call, mock, history } = await open();
    await call("/api/v1/events", { body: { eventName: "order placed", contact: { email: ada } } });
    await call(CREATE, { body: { email: ada, first_name: "Ada" } });

    expect(history()).toEqual(["v1.events.send: email new → NON_SUBSCRIBED"]);
    mock.reset();
    expect(history()).toEqual([]);
  });
});

const email = ada;
const word = (email_opt_in: string) => ({ path: CREATE, body: { email, email_opt_in } });
const suppress = (is_suppressed: boolean) => ({ path: CREATE, body: { email, is_suppressed } });
const add = { path: "/api/v1/contact-groups/news/contacts", body: { email } };
const leaves = "leaves";
const asks = "asks again";
const confirms = "confirms";

type Step = { path: string; body: object } | typeof leaves | typeof asks | typeof confirms;

describe("resubscriptions", () => {
  it.each<[string, Step[], string[]]>([
    ["a call that raises what a person refused", [leaves, word("SUBSCRIBED")], ["UNSUBSCRIBED → SUBSCRIBED"]],
    ["an add without a word", [leaves, add], ["UNSUBSCRIBED → SUBSCRIBED"]],
    ["a call of v2", [leaves, v2("subscribed")], ["UNSUBSCRIBED → SUBSCRIBED"]],
    ["a status that hides it", [leaves, v2("cleaned")], ["UNSUBSCRIBED → CLEANED"]],
    [
      "a refusal that is hidden, and then raised",
      [leaves, word("NON_SUBSCRIBED"), word("SUBSCRIBED")],
      ["UNSUBSCRIBED → NON_SUBSCRIBED", "NON_SUBSCRIBED → SUBSCRIBED"],
    ],
    [
      "each time that it happens",
      [leaves, word("SUBSCRIBED"), word("NON_SUBSCRIBED"), word("SUBSCRIBED"), leaves, add],
      ["UNSUBSCRIBED → SUBSCRIBED", "NON_SUBSCRIBED → SUBSCRIBED", "UNSUBSCRIBED → SUBSCRIBED"],
    ],
    [
      "a refusal that a call has written",
      [word("UNSUBSCRIBED"), word("SUBSCRIBED")],
      ["UNSUBSCRIBED → SUBSCRIBED"],
    ],
    ["a suppression that is lifted", [suppress(true), suppress(false)], ["true → false"]],
    ["a double opt-in that is only asked for", [leaves, asked], ["UNSUBSCRIBED → NON_SUBSCRIBED"]],
    [
      "who asks again and leaves again, though nothing had changed between",
      [leaves, asks, leaves, word("SUBSCRIBED")],
      ["UNSUBSCRIBED → SUBSCRIBED"],
    ],
    ["not who asks again", [leaves, asks, word("NON_SUBSCRIBED"), word("SUBSCRIBED")], []],
    ["not a suppression of one who asks again", [suppress(true), asks, suppress(false)], []],
    [
      "not who confirms",
      [
        leaves,
        asks,
        asked,
        leaves,
        asks,
        word("NON_SUBSCRIBED"),
        confirms,
        word("NON_SUBSCRIBED"),
        word("SUBSCRIBED"),
      ],
      [],
    ],
    ["not a refusal that is restated", [leaves, word("UNSUBSCRIBED"), suppress(true), suppress(true)], []],
    ["not what nobody refused", [word("NON_SUBSCRIBED"), word("SUBSCRIBED")], []],
  ])("hold %s", async (_name, steps, expected) => {
    const variants = { doubleOptIn: "pending" } as const;
    const { call, mock, state } = await open({ contacts: [{ email, email_opt_in: "SUBSCRIBED" }], variants });

    for (const step of steps) {
      if (step === leaves) mock.unsubscribe(ada);
      else if (step === asks) mock.asksAgain(ada);
      else if (step === confirms) mock.confirm(ada);
      else expect((await call(step.path, { body: step.body })).status).toBeLessThan(300);
    }

    const { resubscriptions } = mock;
    expect(resubscriptions.map(({ from, to }) => `${from} → ${to}`)).toEqual(expected);
    const history = state().consentHistory.map((entry) => JSON.stringify(entry));
    expect(resubscriptions.filter((entry) => !history.includes(JSON.stringify(entry)))).toEqual([]);
  });

  it("hold a refusal of the seed, and end with reset()", async () => {
    const { call, mock } = await open({
      contacts: [{ email, email_opt_in: "UNSUBSCRIBED", is_suppressed: true }],
    });
    await call(CREATE, { body: { email, email_opt_in: "SUBSCRIBED", is_suppressed: false } });
    expect(mock.resubscriptions.map(({ channel }) => channel)).toEqual(["email", "suppressed"]);

    mock.reset();
    expect(mock.resubscriptions).toEqual([]);
    mock.asksAgain(ada, { channel: "email" });
    await call(CREATE, { body: { email, email_opt_in: "SUBSCRIBED", is_suppressed: false } });
    expect(mock.resubscriptions.map(({ channel }) => channel)).toEqual(["suppressed"]);
  });

  it("are those of all organizations in order of time, and a refusal holds in its own alone", async () => {
    const contacts = [{ id: "a1", email, email_opt_in: "SUBSCRIBED" as const }];
    const { call, mock } = await open({ contacts, others: [{ ...globex, contacts }] });
    const [first, second] = [
      { headers: { "x-api-key": "acme-mock-key" } },
      { headers: { "x-api-key": "globex-mock-key" } },
    ];
    mock.unsubscribe(ada, { organization: "globex" });
    await call(CREATE, { ...first, body: word("NON_SUBSCRIBED").body });
    await call(CREATE, { ...first, body: word("SUBSCRIBED").body });
    expect(mock.resubscriptions).toEqual([]);

    await call(CREATE, { ...second, body: word("NON_SUBSCRIBED").body });
    mock.unsubscribe(ada, { organization: "acme" });
    await call(CREATE, { ...first, body: word("SUBSCRIBED").body });
    await call(CREATE, { ...second, body: word("SUBSCRIBED").body });
    expect(mock.resubscriptions.map(({ from, to }) => `${from} → ${to}`)).toEqual([
      "UNSUBSCRIBED → NON_SUBSCRIBED",
      "UNSUBSCRIBED → SUBSCRIBED",
      "NON_SUBSCRIBED → SUBSCRIBED",
    ]);
  });
});
