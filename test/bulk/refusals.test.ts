// "A refusal stands", as a table. Words by channels by what is known: `withRefusals` itself, as through the public door it would
// take minutes. Who knows it, and what the service gets: through the public door, below.
import { type V1Contact, type V2Contact, type Write, write } from "audience-sdk";
import { describe, expect, it } from "vitest";
import { type KnownBy, withRefusals } from "../../src/bulk/refusals.ts";
import { rowWrite } from "../../src/prepare-write.ts";
import { createFixture, v2Contact as addressed } from "./fixture.ts";
import { addresses, contact, endOf, endsOf, peopleOf, signsOf, snapshotOf } from "./people.ts";

const { v1, v2 } = write;
const listId = "mock-list";

/** `known`: `email:run is_suppressed:service`. */
function knownBy(known: string): Map<string, { by: KnownBy }> {
  const words = known.split(" ").filter(Boolean);
  return new Map(
    words.map((each) => each.split(":") as [string, KnownBy]).map(([channel, by]) => [channel, { by }]),
  );
}

/** What is sent, and what is kept; `unsaid` if it cannot be said. */
function restated(given: Write, known: string, signs: (sent: Write) => string): string {
  const result = withRefusals(rowWrite(given), () => knownBy(known));
  if (result.unsaid.size > 0) return "unsaid";
  const kept = Object.entries(result.kept).map(([channel, by]) => ` ${channel}:${by}`);
  return signs(result.write) + kept.toSorted().join("");
}

const signsOfV1 = (sent: Write) => ("contact" in sent ? signsOf(sent.contact as V1Contact) : "");

describe("A v1 contact whose refusals are known is sent with them in place of its words, channel by channel", () => {
  // The word of a row; what is sent where the channel is refused, and whether that is kept.
  const ofChannel: Record<string, [sent: string, isKept: boolean]> = {
    "+": ["-", true],
    "0": ["-", true],
    "?": ["-", true],
    "-": ["-", false],
    ".": [".", false],
  };
  // A suppression is restated in every write: an omitted one has a default.
  const ofSuppression: Record<string, [sent: string, isKept: boolean]> = {
    "": ["s", false],
    x: ["s", true],
    s: ["s", false],
  };
  const by: Record<string, KnownBy> = { email: "run", phone: "process", is_suppressed: "service" };

  it.each([
    "",
    "email",
    "phone",
    "is_suppressed",
    "email phone",
    "email is_suppressed",
    "phone is_suppressed",
    "email phone is_suppressed",
  ])("with %s refused", (refused) => {
    const channels = refused.split(" ").filter(Boolean);
    const known = channels.map((channel) => `${channel}:${by[channel]}`).join(" ");
    const [expected, actual]: Record<string, string>[] = [{}, {}];
    for (const email of "+0?-.")
      for (const phone of "+0?-.")
        for (const suppressed of ["", "x", "s"]) {
          const row = email + phone + suppressed;
          if (row.startsWith("..")) continue;
          const [mail, sms, flag] = [
            channels.includes("email") ? ofChannel[email]! : [email, false],
            channels.includes("phone") ? ofChannel[phone]! : [phone, false],
            channels.includes("is_suppressed") ? ofSuppression[suppressed]! : [suppressed, false],
          ];
          const kept = Object.entries({ email: mail[1], is_suppressed: flag[1], phone: sms[1] });
          const keptBy = kept.flatMap(([channel, isKept]) => (isKept ? [` ${channel}:${by[channel]}`] : []));
          expected![row] = `${mail[0]}${sms[0]}${flag[0]}${keptBy.join("")}`;
          actual![row] = restated(v1.customers.upsert(contact(row)), known, signsOfV1);
          const added = v1.contactGroups.addContact(listId, contact(row) as never);
          expect(restated(added, known, signsOfV1)).toBe(actual![row]);
        }
    expect(actual).toEqual(expected);
  });
});

/** `E+-` is an e-mail identifier that is subscribed by e-mail and unsubscribed by phone, `P.?` a phone without a word. */
const statuses: Record<string, string> = {
  "+": "subscribed",
  "-": "unsubscribed",
  p: "pending",
  u: "Unsubscribed",
  t: "unsubscribed ",
};

function v2Contact(text: string, more: Partial<V2Contact> = {}): V2Contact {
  const identifiers = text.split(" ").map((identifier) => {
    const [kind, email = ".", phone = ".", chat = "."] = identifier;
    const given = Object.entries({ email, phone, chat }).filter(([, sign]) => statuses[sign] !== undefined);
    const channels = Object.fromEntries(
      given.map(([channel, sign]) => [channel, { status: statuses[sign]! }]),
    );
    const consent = { createdAt: "2026-01-01T00:00:00Z", ip: "192.0.2.1", source: "import" };
    const id = kind === "E" ? addresses["ada"]!.email : addresses["ada"]!.phone;
    return { type: kind === "E" ? ("email" as const) : ("phone" as const), id, channels, consent };
  });
  return { firstName: "Ada", listIds: [], identifiers, ...more };
}

const signsOfV2 = (sent: Write) =>
  (sent as { contact: V2Contact }).contact.identifiers
    .map(({ type, channels }) => {
      const sign = (channel: string) => {
        const status = (channels[channel] as { status?: string } | undefined)?.status;
        return Object.keys(statuses).find((each) => statuses[each] === status) ?? ".";
      };
      return (
        (type === "email" ? "E" : "P") + ["email", "phone", "chat"].map(sign).join("").replace(/\.+$/, "")
      );
    })
    .join(" ");

it.each([
  // known | the row's words | what is sent, and what is kept
  ["email:run", "E+", "E- email:run"],
  ["email:run", "Ep", "E- email:run"],
  ["email:run", "E-", "E-"],
  ["email:run", "Eu", "Eu"],
  ["email:run", "Et", "Et"],
  ["email:run", "E P.+", "E- P.+ email:run"],
  ["email:run", "E+ P.+", "E- P.+ email:run"],
  ["email:run", "P.+", "P.+"],
  ["email:run", "P++", "P-+ email:run"],
  ["email:run", "E+ E-", "E- E- email:run"],
  ["email:run", "E- E-", "E- E-"],
  ["email:run", "E++-", "E-+- email:run"],
  ["phone:process", "E+", "E+"],
  ["phone:process", "E+ P", "E+ P.- phone:process"],
  ["phone:process", "E+- P", "E+- P.- phone:process"],
  ["phone:process", "E++ P.p", "E+- P.- phone:process"],
  ["phone:process", "E+ P.-", "E+ P.-"],
  ["email:service phone:run", "E+ P.+", "E- P.- email:service phone:run"],
  ["email:service phone:run", "E+ P.-", "E- P.- email:service"],
  ["chat:process", "E+.+", "E+.- chat:process"],
  ["chat:process", "E+", "E+"],
  ["is_suppressed:service", "E+", "unsaid"],
  ["is_suppressed:service", "E+ P.-", "unsaid"],
  ["is_suppressed:service", "E- P.-", "E- P.-"],
  ["is_suppressed:service", "E- P", "E- P"],
  ["is_suppressed:service email:run", "E-", "E-"],
  ["is_suppressed:service phone:run", "E- P", "E- P.- phone:run"],
  ["is_suppressed:service email:run", "E- P.+", "unsaid"],
  ["", "E+ P.p", "E+ P.p"],
])("Of a v2 contact, with %s known, %s is sent as %s", (known, row, sent) => {
  expect(restated(v2.contacts.upsert(v2Contact(row)), known, signsOfV2)).toBe(sent);
});

const create = (signs: string) => ({ path: "/api/v1/customer/create", body: contact(signs) });
const join = (signs: string) => ({ path: `/api/v1/contact-groups/${listId}/contacts`, body: contact(signs) });
const naming = { path: "/api/v1/new", contact: addresses["ada"]! };

it.each([
  ["in the body of a documented path", create("++"), "email:run", "unsaid"],
  ["that says the same", create("-+"), "email:run", "sent"],
  ["of a channel that it does not name", create("+"), "phone:run", "sent"],
  ["of a contact that it only names", naming, "phone:run", "unsaid"],
  ["of a contact that it only names, by e-mail", naming, "email:run", "unsaid"],
  ["of a contact that it does not name", { path: "/api/v1/new" }, "phone:run", "sent"],
  ["of a suppressed contact", naming, "is_suppressed:run", "unsaid"],
  ["of a suppressed contact, beside refusals alone", create("--"), "is_suppressed:run", "sent"],
  ["of one, beside refusals and an address without a word", create("-?"), "is_suppressed:run", "sent"],
  ["of one that it adds to a list, beside the same", join("-?"), "is_suppressed:run", "sent"],
])("A custom request can say no refusal %s", (_, request, known, expected) => {
  expect(restated(v1.request({ method: "POST", ...request }), known, () => "sent")).toBe(expected);
});

it("An event says nothing of consent, so it is sent as it is", () => {
  const event = v1.events.send({ eventName: "order_placed", contact: { email: addresses["ada"]!.email } });

  expect(withRefusals(rowWrite(event), () => knownBy("email:run phone:run is_suppressed:run"))).toMatchObject(
    {
      write: event,
      kept: {},
    },
  );
});

describe("What asks the person by mail goes with the consent to e-mail, and with a suppression", () => {
  it.each([
    ["email:run", "double_opt_in", v1.customers.upsert({ ...contact("++"), double_opt_in: true })],
    ["is_suppressed:run", "double_opt_in", v1.customers.upsert({ ...contact("++"), double_opt_in: true })],
    ["email:run", "triggerWelcomeEmail", v2.contacts.upsert(v2Contact("E+", { triggerWelcomeEmail: true }))],
  ])("%s: without %s", (known, field, given) => {
    expect(withRefusals(rowWrite(given), () => knownBy(known))).not.toHaveProperty([
      "write",
      "contact",
      field,
    ]);
  });

  // Without it she would be subscribed by e-mail at once.
  it.each([
    ["double_opt_in", v1.customers.upsert({ ...contact("++"), double_opt_in: true })],
    ["triggerWelcomeEmail", v2.contacts.upsert(v2Contact("E+ P.+", { triggerWelcomeEmail: true }))],
  ])("and stays where the e-mail is not refused: %s", (field, given) => {
    const sent = withRefusals(rowWrite(given), () => knownBy("phone:run"));

    expect(sent).toHaveProperty(["write", "contact", field], true);
  });
});

type World = ReturnType<typeof worldOf>;

/** Ada, subscribed by both channels, and another process. */
function worldOf() {
  const apiKeys = ["mock-key-of-job", "mock-key-of-tool"];
  const organization = {
    id: "mock-organization",
    apiKeys,
    appId: "app",
    lists: [{ id: listId, name: "List" }],
  };
  const world = createFixture({
    organizations: [
      {
        ...organization,
        contacts: [{ ...addresses["ada"]!, email_opt_in: "SUBSCRIBED", phone_opt_in: "SUBSCRIBED" }],
      },
    ],
  });
  return { ...world, tool: world.audience.withOptions({ apiKey: "mock-key-of-tool" }) };
}

/** Sends the write as a row, and knows of the refusals by an earlier row, another call or a look. */
async function sentKnowing({ audience, tool }: World, by: KnownBy, refused: V1Contact, row: Write) {
  if (by === "service") await tool.v1.customers.upsert(refused);
  async function* source() {
    if (by === "process") await audience.v1.customers.upsert(refused);
    if (by === "run") yield v1.customers.upsert(refused);
    yield row;
  }
  const options = by === "service" ? { snapshot: await snapshotOf(audience) } : {};
  return (await endsOf(audience.bulk(source(), (each) => each, options))).at(-1);
}

const writes: Record<string, (text: string) => Write> = {
  upsert: (signs) => v1.customers.upsert(contact(signs)),
  add: (signs) => v1.contactGroups.addContact(listId, contact(signs) as never),
  // An omitted opt-in subscribes a contact that exists.
  decided: (signs) =>
    v1.contactGroups.addContact(listId, contact(signs) as never, { consent: "service-decides" }),
  v2: (text) => v2.contacts.upsert(v2Contact(text)),
  custom: (signs) => v1.request({ method: "POST", path: "/api/v1/customer/create", body: contact(signs) }),
};

describe.each(["run", "process", "service"] as const)("A refusal that is known by the %s stands:", (by) => {
  it.each([
    // what is refused | the row | the people after it | its end
    ["-", "upsert ++", "ada:-+", "succeeded email"],
    ["-", "upsert 0+", "ada:-+", "succeeded email"],
    ["-", "upsert ?0", "ada:-0", "succeeded email"],
    ["-", "upsert +-", "ada:--", "succeeded email"],
    ["-", "upsert --", "ada:--", "succeeded"],
    ["--", "upsert ++", "ada:--", "succeeded email phone"],
    [".-", "upsert .+", "ada:+-", "succeeded phone"],
    [".-", "upsert 0", "ada:0-", "succeeded"],
    ["?.s", "upsert +0", "ada:+0s", "succeeded"],
    ["?.s", "upsert +0x", "ada:+0s", "succeeded is_suppressed"],
    ["-.s", "upsert +0x", "ada:-0s", "succeeded email is_suppressed"],
    ["-", "add ++", "ada:-+", "succeeded email"],
    ["-", "decided ?", "ada:-+", "succeeded email"],
    ["-", "decided ?-", "ada:--", "succeeded email"],
    ["-", "v2 E+", "ada:-+", "succeeded email"],
    ["--", "v2 E+ P.+", "ada:--", "succeeded email phone"],
    ["-.s", "v2 E+", "ada:-+s", "superseded"],
    ["-.s", "v2 E-", "ada:-+s", "succeeded"],
    ["-", "custom +", "ada:-+", "superseded"],
    ["-", "custom -", "ada:-+", "succeeded"],
    [".-", "custom +", "ada:+-", "succeeded"],
  ])("%s, then %s", async (refused, row, people, end) => {
    const world = worldOf();
    const [way, ...text] = row.split(" ");

    const ended = await sentKnowing(world, by, contact(refused), writes[way!]!(text.join(" ")));

    const withBy = end.replaceAll(/(superseded| \w+)/g, `$1:${by}`);
    expect([ended, peopleOf(world.mock)]).toEqual([withBy, people]);
    expect(world.mock.resubscriptions).toEqual([]);
  });
});

it("A kept row goes through but for the refusal: its other fields, its list and that list's automation, once", async () => {
  const automations = [{ name: "welcome", on: { listId } }];
  const lists = [{ id: listId, name: "List" }];
  const world = createFixture({
    organizations: [{ id: "mock-organization", apiKeys: ["mock-key"], appId: "app", lists, automations }],
  });
  await world.audience.v1.customers.upsert(contact("--"));
  const snapshot = await snapshotOf(world.audience);
  const fields = { ...contact("+?"), first_name: "Ada", city: "Rome", custom_properties: { vip: true } };
  const toWrite = () => [v1.contactGroups.addContact(listId, fields as never), v1.customers.upsert(fields)];

  const summary = await world.audience.bulk([fields], toWrite, { snapshot });

  expect(summary).toMatchObject({ total: 1, succeeded: 1, kept: 1 });
  const bodies = world.mock.requests.slice(-2).map(({ body }) => body);
  const sent = { ...fields, email_opt_in: "UNSUBSCRIBED", phone_opt_in: "UNSUBSCRIBED" };
  expect(bodies).toEqual([sent, sent]);
  const { automationRuns, memberships } = world.mock.organization("mock-organization");
  expect([memberships.length, automationRuns.length]).toEqual([1, 1]);
});

it("A row whose later write cannot say a refusal is superseded before its first one leaves", async () => {
  const world = worldOf();
  const row = [v1.customers.upsert(contact("+-")), writes["custom"]!("+")];
  async function* source() {
    await world.audience.v1.customers.upsert(contact("-.s"));
    yield row;
  }

  const run = world.audience.bulk(source(), (each) => each);
  const results = [];
  for await (const result of run) results.push(result);

  expect(results.map(endOf)).toEqual(["superseded:process"]);
  const message =
    "The contact has refused email and is_suppressed, which the write cannot say: the row was not sent, or not sent again. Nor was its opt-out of phone: send that by a call of its own.";
  expect(results[0]?.error).toHaveProperty("message", message);
  expect(world.mock.requests).toHaveLength(1);
  expect(await run).toMatchObject({ superseded: 1, kept: 0 });
});

describe("Of a v2 contact with two addresses a word counts for its own address alone", () => {
  const moved = (old: string, now: string) => {
    const [first, second] = [addressed("old@example.com", old), addressed("new@example.com", now)];
    return v2.contacts.upsert({ ...first, identifiers: [...first.identifiers, ...second.identifiers] });
  };
  const upsert = (email: string, email_opt_in: "SUBSCRIBED" | "UNSUBSCRIBED") =>
    v1.customers.upsert({ email, email_opt_in });

  it("so a row that refuses one of them goes first, and later rows may not lift that one", async () => {
    const { audience, mock } = createFixture();
    const rows = [upsert("old@example.com", "SUBSCRIBED"), moved("unsubscribed", "subscribed")];
    const more = [upsert("old@example.com", "SUBSCRIBED"), upsert("new@example.com", "SUBSCRIBED")];

    const ends = await endsOf(audience.bulk([...rows, ...more], (each) => each, { concurrency: 1 }));

    expect(ends).toEqual(["succeeded email:run", "succeeded", "succeeded email:run", "succeeded"]);
    expect(mock.requests[0]?.operation).toBe("v2.contacts.upsert");
    const { refusals } = await audience.bulk.check([...rows, ...more], (each) => each);
    expect(refusals).toBe(1);
  });

  it("also of a call: it refuses the one, and the other may be subscribed", async () => {
    const { audience } = createFixture();
    async function* source() {
      await audience.send(moved("unsubscribed", "subscribed"));
      yield upsert("new@example.com", "SUBSCRIBED");
      yield upsert("old@example.com", "SUBSCRIBED");
    }

    const ends = await endsOf(audience.bulk(source(), (each) => each));

    expect(ends).toEqual(["succeeded", "succeeded email:process"]);
  });
});

it("A custom request to a documented path of v2 says what its body says", async () => {
  const world = worldOf();
  const body = v2Contact("E-");
  const rows = [
    v1.customers.upsert(contact("+")),
    v2.request({ method: "POST", path: "/v2/contacts", body }),
  ];

  const ends = await endsOf(world.audience.bulk(rows, (each) => each, { concurrency: 1 }));

  expect(ends).toEqual(["succeeded email:run", "succeeded"]);
  expect(peopleOf(world.mock)).toBe("ada:-+");
});

it("A suppression that a snapshot shows is restated in a row that says nothing but refusals, without a look", async () => {
  const world = worldOf();
  await world.tool.v1.customers.upsert(contact("+.s"));
  const snapshot = await snapshotOf(world.audience);
  const before = world.mock.requests.length;

  const summary = await world.audience.bulk([contact("-")], (each) => v1.customers.upsert(each), {
    snapshot,
  });

  expect(summary).toMatchObject({ succeeded: 1, kept: 0 });
  const sent = { ...contact("-"), is_suppressed: true };
  expect(world.mock.requests.slice(before).map(({ body }) => body)).toEqual([sent]);
});
